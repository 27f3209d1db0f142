/**
 * \file
 * Functions of OpenMP libraries by which threads come for the next iterations of a loop: neither OPARI2 nor OMPT tells
 * what that takes. Programs that are measured as they are, on libgomp, have them followed in src/gomp. Called by the
 * program; results are those of the real ones.
 */
#define _GNU_SOURCE
#include "pthread/ompp_pthread_priv.h"

#include "runtime/ompp_event.h"

/* ---- libgomp: the thread has done with a chunk, and asks for the next one ---------------------------------------- */

#define CHUNK(name, type)                                                                                          \
    static bool (*real_##name)(type *, type *);                                                                    \
    static bool name(type *first, type *last)                                                                      \
    {                                                                                                              \
        if (ompp_libgomp_is_reported((void *)real_##name)) return real_##name(first, last);                        \
        const ompp_time_t begin = ompp_event_chunk_begin();                                                        \
        const bool more = real_##name(first, last);                                                                \
        ompp_event_chunk(begin, more, 1);                                                                          \
        if (__builtin_expect(ompp_sync_follower() != NULL, 0))                                                     \
            (more ? ompp_sync_resume : ompp_sync_publish)(OMPP_SYNC_CHUNK, (uint64_t)(uintptr_t)ompp_event_team(), \
                                                          ompp_event_now());                                       \
        return more;                                                                                               \
    }

CHUNK(loop_dynamic_next, long)
CHUNK(loop_guided_next, long)
CHUNK(loop_maybe_nonmonotonic_runtime_next, long)
CHUNK(loop_nonmonotonic_dynamic_next, long)
CHUNK(loop_nonmonotonic_guided_next, long)
CHUNK(loop_nonmonotonic_runtime_next, long)
CHUNK(loop_runtime_next, long)
CHUNK(loop_ull_dynamic_next, unsigned long long)
CHUNK(loop_ull_guided_next, unsigned long long)
CHUNK(loop_ull_maybe_nonmonotonic_runtime_next, unsigned long long)
CHUNK(loop_ull_nonmonotonic_dynamic_next, unsigned long long)
CHUNK(loop_ull_nonmonotonic_guided_next, unsigned long long)
CHUNK(loop_ull_nonmonotonic_runtime_next, unsigned long long)
CHUNK(loop_ull_runtime_next, unsigned long long)

/* ---- LLVM's: also for the first chunk; OMPT tells who waits for whom --------------------------------------------- */

#define DISPATCH(name, type, step)                                                                       \
    static int32_t (*real_##name)(void *, int32_t, int32_t *, type *, type *, step *);                   \
    static int32_t name(void *place, int32_t thread, int32_t *last, type *low, type *high, step *stride) \
    {                                                                                                    \
        const ompp_time_t begin = ompp_event_chunk_begin();                                              \
        const int32_t more = real_##name(place, thread, last, low, high, stride);                        \
        ompp_event_chunk(begin, more != 0, more != 0);                                                   \
        return more;                                                                                     \
    }

DISPATCH(dispatch_next_4, int32_t, int32_t)
DISPATCH(dispatch_next_4u, uint32_t, int32_t)
DISPATCH(dispatch_next_8, int64_t, int64_t)
DISPATCH(dispatch_next_8u, uint64_t, int64_t)

/* ---- The table --------------------------------------------------------------------------------------------------- */

#define ROW(prefix, name)                                 \
    {                                                     \
        prefix #name, (void *)name, (void **)&real_##name \
    }

const ompp_intercept_t ompp_loop_functions[] = {
    ROW("GOMP_", loop_dynamic_next),
    ROW("GOMP_", loop_guided_next),
    ROW("GOMP_", loop_maybe_nonmonotonic_runtime_next),
    ROW("GOMP_", loop_nonmonotonic_dynamic_next),
    ROW("GOMP_", loop_nonmonotonic_guided_next),
    ROW("GOMP_", loop_nonmonotonic_runtime_next),
    ROW("GOMP_", loop_runtime_next),
    ROW("GOMP_", loop_ull_dynamic_next),
    ROW("GOMP_", loop_ull_guided_next),
    ROW("GOMP_", loop_ull_maybe_nonmonotonic_runtime_next),
    ROW("GOMP_", loop_ull_nonmonotonic_dynamic_next),
    ROW("GOMP_", loop_ull_nonmonotonic_guided_next),
    ROW("GOMP_", loop_ull_nonmonotonic_runtime_next),
    ROW("GOMP_", loop_ull_runtime_next),
    ROW("__kmpc_", dispatch_next_4),
    ROW("__kmpc_", dispatch_next_4u),
    ROW("__kmpc_", dispatch_next_8),
    ROW("__kmpc_", dispatch_next_8u),
    /* End of functions; ascending */
};
const size_t ompp_nloop_functions = sizeof ompp_loop_functions / sizeof ompp_loop_functions[0];
