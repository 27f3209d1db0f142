/*
 * Libraries that the program unloads: another one may be loaded at their addresses. Stands in front of dlclose() to
 * learn of it.
 */
#define _GNU_SOURCE
#include "function/ompp_function_priv.h"

#include "base/ompp_dl.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static void forget(uintptr_t low, uintptr_t high)
{
    for (uint32_t i = 0; i < OMPP_FUNCTIONS_NUM; i++) {
        const void *code = __atomic_load_n(&ompp_functions[i].code, __ATOMIC_ACQUIRE);
        if ((uintptr_t)code >= low && (uintptr_t)code < high)
            __atomic_store_n(&ompp_functions[i].code, OMPP_FUNCTION_GONE, __ATOMIC_RELEASE);
    }
}

__attribute__((visibility("default"), no_instrument_function)) int dlclose(void *handle)
{
    static int (*next)(void *);
    int (*found)(void *) = __atomic_load_n(&next, __ATOMIC_RELAXED), result, saved;

    if (!found) {
        void *symbol = ompp_dl_symbol(RTLD_NEXT, "dlclose"); /* of the C library, which is always there */
        memcpy(&found, &symbol, sizeof found);
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
    result = found(handle);
    saved = errno;
    ompp_region_unloaded(forget);
    errno = saved;
    return result;
}
