/*
 * Memory that the program gets: a block may be named by the line that allocates it (OMPP_DATA=solve.c:42). kinst-ompp
 * links with --wrap, so that calls in the user's objects come here first; the allocator is whatever the program has.
 * realloc and mmap: ompp_free.c, ompp_mappings.c.
 */
#define _GNU_SOURCE
#include "hooks/ompp_whose.h"

#include <malloc.h>
#include <stdlib.h>

#define OMPP_EXPORT __attribute__((visibility("default")))
#define CODE __builtin_return_address(0) /* the caller's, so taken in each function */

static void *got(void *block, size_t size, const void *code, void *const *word)
{
    if (__builtin_expect(ompp_data_has_sites(), 0)) ompp_data_allocated(block, size, code, false);
    if (__builtin_expect(ompp_whose_all, 0)) ompp_heap_got(block, size, code, word);
    return block;
}

#define GET(name, parameters, arguments, bytes) \
    OMPP_EXPORT void *__wrap_##name parameters; \
    OMPP_EXPORT void *__wrap_##name parameters { return got(name arguments, bytes, CODE, NULL); }

GET(malloc, (size_t size), (size), size)
GET(calloc, (size_t count, size_t size), (count, size), count *size)
GET(aligned_alloc, (size_t align, size_t size), (align, size), size)
GET(memalign, (size_t align, size_t size), (align, size), size)

OMPP_EXPORT int __wrap_posix_memalign(void **block, size_t align, size_t size);
OMPP_EXPORT int __wrap_posix_memalign(void **block, size_t align, size_t size)
{
    int result = posix_memalign(block, align, size);

    if (result == 0) got(*block, size, CODE, block);
    return result;
}

/*
 * C++'s new and new[]: the program's own operators, or those of its C++ library. A program that needs that for nothing
 * else is linked without it (--as-needed), since it calls these functions: they do what the library would. Nobody can
 * catch what it throws then.
 */
static void *or_abort(void *block)
{
    if (!block) abort();
    return block;
}

static void *plain(size_t size) { return malloc(size ? size : 1); }

static void *aligned(size_t size, size_t align) { return aligned_alloc(align, (size + align - 1) & ~(align - 1)); }

#define NEW(name, parameters, arguments, otherwise)     \
    extern __attribute__((weak)) void *name parameters; \
    OMPP_EXPORT void *__wrap_##name parameters;         \
    OMPP_EXPORT void *__wrap_##name parameters { return got(name ? name arguments : otherwise, size, CODE, NULL); }

NEW(_Znwm, (size_t size), (size), or_abort(plain(size)))
NEW(_Znam, (size_t size), (size), or_abort(plain(size)))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t align), (size, align), or_abort(aligned(size, align)))
NEW(_ZnamSt11align_val_t, (size_t size, size_t align), (size, align), or_abort(aligned(size, align)))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *word), (size, word), plain(size))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *word), (size, word), plain(size))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, const void *word), (size, align, word),
    aligned(size, align))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, const void *word), (size, align, word),
    aligned(size, align))
