/*
 * Mappings that the program gives back, replaces and moves, by munmap, mmap and mremap: structures in them are
 * forgotten, or move with their bytes. kinst-ompp links with --wrap, so that calls in the user's objects come here
 * first. What the system does and says is the caller's, errno too; what it refuses changes nothing.
 */
#define _GNU_SOURCE
#include "hooks/ompp_count_priv.h"
#include "hooks/ompp_free_priv.h"
#include "hooks/ompp_whose.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

#define OMPP_EXPORT __attribute__((visibility("default")))
#define PAGE (1ul << OMPP_MAP_PAGE_BITS)
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4 /* Linux 5.7 */
#endif
#define SYSTEM_PAGE (1ul << OMPP_MAP_TOUCH_BITS)

static void disown_each(uint32_t *entry, const uint32_t *end)
{
    for (; entry < end; entry++)
        if (__atomic_load_n(entry, __ATOMIC_RELAXED) >> OMPP_MAP_OWNER_SHIFT)
            __atomic_fetch_and(entry, OMPP_MAP_LOW, __ATOMIC_RELAXED);
}

/*
 * The pages are gone: the next thread that touches one is the first. No structure is there any more, so whole pages of
 * the map are given back: a program may reserve and release more addresses than could be walked over.
 */
static void disown(uintptr_t begin, uintptr_t end)
{
    if (ompp_map_mask == 0) return;
    uint32_t *from = ompp_map_entry(begin), *to = from + (end - begin) / PAGE;
    uintptr_t first = ((uintptr_t)from + SYSTEM_PAGE - 1) & ~(SYSTEM_PAGE - 1),
              last = (uintptr_t)to & ~(SYSTEM_PAGE - 1);
    int saved = errno;

    if (first >= last || madvise((void *)first, last - first, MADV_DONTNEED) != 0) first = last = (uintptr_t)to;
    disown_each(from, (uint32_t *)first);
    disown_each((uint32_t *)last, to);
    errno = saved;
}

/* Structures that a call takes away, and gives back when the system refuses it. */
typedef struct {
    uintptr_t begin, end;
    size_t n;
    ompp_data_piece_t pieces[OMPP_FREE_PIECES + 1];
} taken_t;

/* \return false: such addresses the system refuses. */
static bool take(taken_t *taken, const void *address, size_t size)
{
    *taken = (taken_t){.begin = (uintptr_t)address,
                       .end = ((uintptr_t)address + size + SYSTEM_PAGE - 1) & ~(SYSTEM_PAGE - 1)};
    if (taken->begin % SYSTEM_PAGE != 0 || taken->begin >= taken->end || taken->end - taken->begin < size ||
        taken->end > OMPP_MAP_PAGES << OMPP_MAP_PAGE_BITS) {
        taken->end = taken->begin;
        return false;
    }
    if (ompp_free_holds_structure(taken->begin, taken->end))
        taken->n = ompp_data_forget(address, taken->end - taken->begin, taken->pieces, OMPP_FREE_PIECES + 1);
    ompp_heap_unmapped(taken->begin, taken->end);
    disown(taken->begin, taken->end);
    return true;
}

static void put(const taken_t *taken, uintptr_t begin, size_t size)
{
    if (taken->n) ompp_data_restore((const void *)begin, size, taken->pieces, ompp_free_that_move(taken->n));
}

static void put_back(const taken_t *taken) { put(taken, taken->begin, taken->end - taken->begin); }

OMPP_EXPORT int __wrap_munmap(void *address, size_t size);
OMPP_EXPORT int __wrap_munmap(void *address, size_t size)
{
    taken_t taken;

    take(&taken, address, size);
    int result = munmap(address, size);
    if (result != 0) put_back(&taken);
    return result;
}

/* Only a fixed place may have been another mapping's. */
#define MMAP(name)                                                                                                  \
    OMPP_EXPORT void *__wrap_##name(void *address, size_t size, int protection, int flags, int file, off_t offset); \
    OMPP_EXPORT void *__wrap_##name(void *address, size_t size, int protection, int flags, int file, off_t offset)  \
    {                                                                                                               \
        taken_t taken = {.n = 0};                                                                                   \
                                                                                                                    \
        if (flags & MAP_FIXED) take(&taken, address, size);                                                         \
        void *result = name(address, size, protection, flags, file, offset);                                        \
        if (result == MAP_FAILED) put_back(&taken);                                                                 \
        else if (ompp_data_has_sites()) ompp_data_allocated(result, size, __builtin_return_address(0), false);      \
        if (result != MAP_FAILED && ompp_whose_all && protection != PROT_NONE && !(flags & MAP_NORESERVE))          \
            ompp_heap_got(result, size, __builtin_return_address(0), NULL);                                         \
        return result;                                                                                              \
    }

MMAP(mmap)
#if defined(__LP64__)
MMAP(mmap64) /* off_t is as wide */
#endif

/* A new size of 0, or one of addresses that the system refuses, moves nothing. An old one of 0 asks for the same pages
 * once more. */
OMPP_EXPORT void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags, ...);
OMPP_EXPORT void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
    taken_t from, to = {.n = 0};
    void *fixed = NULL;
    va_list rest;

    va_start(rest, flags);
    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) fixed = va_arg(rest, void *); /* a place, or a hint */
    va_end(rest);
    const uint32_t object = ompp_whose_all ? ompp_map_object((uintptr_t)old) : 0;
    take(&from, old, old_size);
    if (flags & MREMAP_FIXED) take(&to, fixed, size);
    void *result = mremap(old, old_size, size, flags, fixed);
    if (result == MAP_FAILED) {
        put_back(&from);
        put_back(&to);
    } else {
        ompp_heap_again(result, size, object);
        put(&from, (uintptr_t)result, size);
    }
    return result;
}
