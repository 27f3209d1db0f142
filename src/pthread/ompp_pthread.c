/**
 * \file
 * Whether, and when, the program's POSIX threads are followed: with OMPP_CAUSAL, from the first pthread_create() on.
 * Before it there is nobody to wait for; without OMPP_CAUSAL nothing is touched.
 */
#include "pthread/ompp_pthread_priv.h"

#include "base/ompp_env.h"

#include <stdbool.h>
#include <string.h>

static bool wanted(void)
{
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        if (ompp_env_rows[i].offset != offsetof(ompp_env_t, causal)) continue;
        const char *value = ompp_env_text(&ompp_env_rows[i]);
        return *value && strcmp(value, "off") != 0;
    }
    return false;
}

void ompp_pthread_follow(void)
{
    ompp_intercept(ompp_pthread_functions, ompp_npthread_functions);
    ompp_intercept(ompp_futex_functions, ompp_nfutex_functions);
    ompp_c11_follow();
    ompp_intercept(ompp_libgomp_functions, ompp_nlibgomp_functions);
}

/* All at once, so that a thread that runs on finds lock and unlock replaced together. */
__attribute__((constructor)) static void at_load(void)
{
    if (wanted()) ompp_pthread_follow();
}
