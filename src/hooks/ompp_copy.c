/*
 * The memcpy family. clang calls functions of its own names; for gcc, kinst-ompp links with --wrap, so that calls in
 * the user's objects come here and calls in other libraries do not.
 *
 * gcc tells of a struct assignment by block hooks and then copies inline or calls memcpy: such a call has been counted
 * already. It is known by the same block, by standing right behind the hooks in the code, and by its size: kinst-ompp
 * --memory has gcc call for more than INLINED bytes and never for less, so a call about a smaller block is always the
 * user's. Of larger ones the first call is the compiler's, which forgets the block; only where gcc compiles for size,
 * and calls never, the user's first one is taken for it.
 */
#define _GNU_SOURCE
#include "hooks/ompp_count_priv.h"

#include <string.h>

#define OMPP_EXPORT __attribute__((visibility("default")))
#define NEAR 256 /* bytes of code between a hook's return and that of the call made of the same statement */
#if defined(__x86_64__)
#define INLINED 8192 /* bytes; -mmemcpy-strategy and -mmemset-strategy in tools/kinst/kinst-ompp-memory.c */
#else
#define INLINED 0
#endif

static bool counted(ompp_counter_t *counter, unsigned kind, const void *address, size_t size, uintptr_t code)
{
    bool same = size > INLINED && counter->block[kind][0] == (uintptr_t)address && counter->block[kind][1] == size &&
                code - counter->block_code[kind] < NEAR;

    counter->block[kind][1] = 0;
    return same;
}

/* \return false: it was counted before. */
static inline bool count(ompp_counter_t *counter, const void *address, size_t size, unsigned kind, ompp_accessor_t by)
{
    if (counted(counter, kind, address, size, by.code)) return false;
    ompp_count_block(counter, (uintptr_t)address, size, kind, by);
    return true;
}

static void count_copy(const void *to, const void *from, size_t size, ompp_accessor_t by)
{
    if (size == 0) return;
    ompp_counter_t *counter = ompp_counter_get();
    struct ompp_feed *feed = counter->feed;
    counter->feed = NULL; /* a cache sees both in turn */
    bool anew = count(counter, from, size, OMPP_LOAD, by);
    anew = count(counter, to, size, OMPP_STORE, by) && anew;
    counter->feed = feed;
    if (feed && anew) ompp_count_tell_copy(counter, (uintptr_t)to, (uintptr_t)from, size, by);
}

static void count_set(const void *to, size_t size, ompp_accessor_t by)
{
    if (size) count(ompp_counter_get(), to, size, OMPP_STORE, by);
}

/* A function under each of its names; in each is taken who calls it. */

#define COPY(name, function)                                         \
    OMPP_EXPORT void *name(void *to, const void *from, size_t size); \
    OMPP_EXPORT void *name(void *to, const void *from, size_t size)  \
    {                                                                \
        count_copy(to, from, size, OMPP_CALLER);                     \
        return function(to, from, size);                             \
    }

#define SET(name)                                            \
    OMPP_EXPORT void *name(void *to, int byte, size_t size); \
    OMPP_EXPORT void *name(void *to, int byte, size_t size)  \
    {                                                        \
        count_set(to, size, OMPP_CALLER);                    \
        return memset(to, byte, size);                       \
    }

COPY(__wrap_memcpy, memcpy)
COPY(__wrap_memmove, memmove)
COPY(__wrap_mempcpy, mempcpy)
COPY(__tsan_memcpy, memcpy)
COPY(__tsan_memmove, memmove)
SET(__wrap_memset)
SET(__tsan_memset)

/* The checking forms of -D_FORTIFY_SOURCE: the C library's own do the checking. */
#define CHECKED(name, function)                                                   \
    extern void *function(void *to, const void *from, size_t size, size_t room);  \
    OMPP_EXPORT void *name(void *to, const void *from, size_t size, size_t room); \
    OMPP_EXPORT void *name(void *to, const void *from, size_t size, size_t room)  \
    {                                                                             \
        count_copy(to, from, size, OMPP_CALLER);                                  \
        return function(to, from, size, room);                                    \
    }

CHECKED(__wrap___memcpy_chk, __memcpy_chk)
CHECKED(__wrap___memmove_chk, __memmove_chk)
CHECKED(__wrap___mempcpy_chk, __mempcpy_chk)

extern void *__memset_chk(void *to, int byte, size_t size, size_t room);
OMPP_EXPORT void *__wrap___memset_chk(void *to, int byte, size_t size, size_t room);
OMPP_EXPORT void *__wrap___memset_chk(void *to, int byte, size_t size, size_t room)
{
    count_set(to, size, OMPP_CALLER);
    return __memset_chk(to, byte, size, room);
}
