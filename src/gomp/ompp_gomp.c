/*
 * GOMP interposition, what happens once: finding libgomp's functions, and whether they are to be measured.
 */
#define _GNU_SOURCE
#include "gomp/ompp_gomp_priv.h"

#include "model/ompp_profile.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned ompp_gomp_mode;

bool ompp_gomp_ask_slow(void)
{
    int saved = errno;
    bool on = !dlsym(RTLD_DEFAULT, "ompp_opari_linked") && ompp_event_claim_openmp("GOMP, libgomp");
    unsigned before = 0;

    if (__atomic_compare_exchange_n(&ompp_gomp_mode, &before, on ? OMPP_GOMP_ON : OMPP_GOMP_OFF, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED) && on)
        ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, "GOMP",
                            "loops with static schedule (their barriers count as BARRIER), master, atomic, flush, simd, distribute, "
                            "scope; single without copyprivate lasts until the thread's next barrier");
    errno = saved;
    return ompp_gomp_mode == OMPP_GOMP_ON;
}

/* Before OMPT asks: with two OpenMP libraries in the process, the launcher has decided for this one. */
__attribute__((constructor)) static void at_load(void)
{
    ompp_gomp_on();
}

static void *find(void *where, const char *name, const char *version)
{
    return version ? dlvsym(where, name, version) : dlsym(where, name);
}

/* A library that was opened by a name is not in the search order: it is asked by its own name. */
void *ompp_gomp_find_slow(const char *name, const char *version)
{
    static const char why[] = ": needed by the program, and found in no library\n";
    int saved = errno;
    void *found = find(RTLD_NEXT, name, version);

    if (!found) {
        void *library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (library) found = find(library, name, version);
    }
    if (!found) {
        if (write(2, name, strlen(name)) > 0 && write(2, why, sizeof why - 1) > 0) _exit(127);
        _exit(127);
    }
    errno = saved;
    return found;
}
