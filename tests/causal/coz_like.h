/*
 * For machines without Coz: macros that find and use the profiler's counters as those of coz.h do, through the function that the
 * profiler exports.
 */
#ifndef COZ_LIKE_H
#define COZ_LIKE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stddef.h>

typedef struct {
    size_t count, backoff;
} coz_like_counter_t;

/* type: 1 throughput, 2 begin, 3 end */
static inline coz_like_counter_t *coz_like_counter(int type, const char *name)
{
    coz_like_counter_t *(*get)(int, const char *) = (coz_like_counter_t * (*)(int, const char *)) dlsym(RTLD_DEFAULT, "_coz_get_counter");

    return get ? get(type, name) : NULL;
}

#define COZ_LIKE(type, name)                                                                                           \
    do {                                                                                                               \
        static coz_like_counter_t *counter;                                                                            \
        static int asked;                                                                                              \
        if (!asked) counter = coz_like_counter(type, name);                                                            \
        asked = 1;                                                                                                     \
        if (counter) __atomic_add_fetch(&counter->count, 1, __ATOMIC_RELAXED);                                         \
    } while (0)

#define COZ_PROGRESS_NAMED(name) COZ_LIKE(1, name)
#define COZ_PROGRESS COZ_LIKE(1, __FILE__)
#define COZ_BEGIN(name) COZ_LIKE(2, name)
#define COZ_END(name) COZ_LIKE(3, name)

#endif
