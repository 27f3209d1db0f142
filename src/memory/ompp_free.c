/*
 * Memory that the program gives back: what was registered in it belongs to no structure any more, for the allocator puts other data
 * there. kinst-ompp links with --wrap, so that calls in the user's objects come here first; the allocator is whatever the program
 * has. Nothing is looked at twice: a block without a structure costs a look at the map's entries for its pages.
 *
 * The bytes are forgotten before they are given back: later another thread could have got and registered them already.
 */
#define _GNU_SOURCE
#include "memory/ompp_count_priv.h"
#include "memory/ompp_free_priv.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#define OMPP_EXPORT __attribute__((visibility("default")))
#define PAGE (1ul << OMPP_MAP_PAGE_BITS)
#define GRAIN ((uintptr_t)OMPP_MAP_BYTES)
#define MAX_PIECES 32 /* of structures that move with a block; one more tells that there are more */
#define LARGE (64ul << 20) /* bytes: the register is sooner asked than the map walked */
#define SYSTEM_PAGE (1ul << OMPP_MAP_TOUCH_BITS)

static bool sizes_known; /* malloc_usable_size() is about the blocks of the allocator that the program has */

void ompp_free_start(void)
{
    Dl_info of_free, of_size;
    void *release = dlsym(RTLD_DEFAULT, "free"), *size = dlsym(RTLD_DEFAULT, "malloc_usable_size");

    sizes_known = release && size && dladdr(release, &of_free) && dladdr(size, &of_size) && of_free.dli_fbase == of_size.dli_fbase;
}

/* ---- Is there a structure? ------------------------------------------------------------------------------------------ */

static bool in_grain(uint32_t entry, uintptr_t grain)
{
    for (uintptr_t at = grain; at < grain + GRAIN; at++)
        if (ompp_map_in_edge(entry, at)) return true;
    return false;
}

/* Within one page. May say yes when a structure only shares a grain with the bytes. */
static bool in_page(uintptr_t begin, uintptr_t end)
{
    uint32_t entry = __atomic_load_n(ompp_map_entry(begin), __ATOMIC_ACQUIRE) & OMPP_MAP_LOW;

    if (!(entry & OMPP_MAP_PAGE_LEADS)) return entry != 0;
    for (uintptr_t grain = begin & ~(GRAIN - 1); grain < end; grain += GRAIN)
        if (in_grain(entry, grain)) return true;
    return false;
}

static bool holds_structure(uintptr_t begin, uintptr_t end)
{
    if (ompp_map_mask == 0 || ompp_counter_no_objects()) return false;
    if (end - begin >= LARGE) return ompp_data_overlaps((const void *)begin, end - begin);
    for (uintptr_t next; begin < end; begin = next) {
        next = (begin & ~(PAGE - 1)) + PAGE;
        if (in_page(begin, next < end ? next : end)) return true;
    }
    return false;
}

static void given_back(const void *address, size_t size)
{
    if (holds_structure((uintptr_t)address, (uintptr_t)address + size)) ompp_data_forget(address, size, NULL, 0);
}

/* An allocator that does not tell its sizes: what begins with the block is given back with it. */
static void block_given_back(void *block)
{
    if (!block || ompp_map_mask == 0 || ompp_counter_no_objects()) return;
    if (sizes_known)
        given_back(block, malloc_usable_size(block));
    else if (ompp_map_object((uintptr_t)block))
        ompp_data_release(block);
}

/* ---- C -------------------------------------------------------------------------------------------------------------- */

OMPP_EXPORT void __wrap_free(void *block);
OMPP_EXPORT void __wrap_free(void *block)
{
    block_given_back(block);
    free(block);
}

/* Structures move with their bytes; when there is no new block, the old one is still there. */
static void moved(void *old, void *block, size_t old_size, size_t size, const ompp_data_piece_t *pieces, size_t n)
{
    if (block || size == 0)
        ompp_data_restore(block, block ? size : 0, pieces, n);
    else
        ompp_data_restore(old, old_size, pieces, n);
}

static size_t that_move(size_t n)
{
    if (n <= MAX_PIECES) return n;
    ompp_event_coverage(OMPP_COVERAGE_DROPPED, "data structures in a block that realloc has moved",
                        "it had more than 32: the others are lost");
    return MAX_PIECES;
}

static size_t take_along(void *block, size_t *size, ompp_data_piece_t pieces[MAX_PIECES + 1])
{
    *size = block && sizes_known ? malloc_usable_size(block) : 0;
    if (block && !sizes_known) block_given_back(block);
    if (!holds_structure((uintptr_t)block, (uintptr_t)block + *size)) return 0;
    return that_move(ompp_data_forget(block, *size, pieces, MAX_PIECES + 1));
}

OMPP_EXPORT void *__wrap_realloc(void *old, size_t size);
OMPP_EXPORT void *__wrap_realloc(void *old, size_t size)
{
    ompp_data_piece_t pieces[MAX_PIECES + 1];
    size_t old_size, n = take_along(old, &old_size, pieces);
    void *block = realloc(old, size);

    if (n) moved(old, block, old_size, size, pieces, n);
    return block;
}

OMPP_EXPORT void *__wrap_reallocarray(void *old, size_t count, size_t size);
OMPP_EXPORT void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    ompp_data_piece_t pieces[MAX_PIECES + 1];
    size_t old_size, n = take_along(old, &old_size, pieces);
    void *block = reallocarray(old, count, size);

    if (n) moved(old, block, old_size, count * size, pieces, n);
    return block;
}

/* ---- Mappings ------------------------------------------------------------------------------------------------------- */

static void disown_each(uint32_t *entry, const uint32_t *end)
{
    for (; entry < end; entry++)
        if (__atomic_load_n(entry, __ATOMIC_RELAXED) >> OMPP_MAP_OWNER_SHIFT) __atomic_fetch_and(entry, OMPP_MAP_LOW, __ATOMIC_RELAXED);
}

/*
 * The pages are gone: the next thread that touches one is the first. No structure is there any more, so whole pages of the map are
 * given back: a program may reserve and release more addresses than could be walked over.
 */
static void disown(uintptr_t begin, uintptr_t end)
{
    if (ompp_map_mask == 0) return;
    uint32_t *from = ompp_map_entry(begin), *to = from + (end - begin) / PAGE;
    uintptr_t first = ((uintptr_t)from + SYSTEM_PAGE - 1) & ~(SYSTEM_PAGE - 1), last = (uintptr_t)to & ~(SYSTEM_PAGE - 1);
    int saved = errno;

    if (first >= last || madvise((void *)first, last - first, MADV_DONTNEED) != 0) first = last = (uintptr_t)to;
    disown_each(from, (uint32_t *)first);
    disown_each((uint32_t *)last, to);
    errno = saved;
}

OMPP_EXPORT int __wrap_munmap(void *address, size_t size);
OMPP_EXPORT int __wrap_munmap(void *address, size_t size)
{
    ompp_data_piece_t pieces[MAX_PIECES];
    uintptr_t begin = (uintptr_t)address, end = (begin + size + SYSTEM_PAGE - 1) & ~(SYSTEM_PAGE - 1);
    bool sound = begin % SYSTEM_PAGE == 0 && begin < end && end <= OMPP_MAP_PAGES << OMPP_MAP_PAGE_BITS; /* else the system refuses it */
    size_t n = sound && holds_structure(begin, end) ? ompp_data_forget(address, end - begin, pieces, MAX_PIECES) : 0;

    if (sound) disown(begin, end);
    int result = munmap(address, size);
    if (result != 0 && n) ompp_data_restore(address, end - begin, pieces, n);
    return result;
}

/* ---- C++ ------------------------------------------------------------------------------------------------------------ */

/* The program's own operators, or those of its C++ library: a program without C++ has none, and calls none. */
#define DELETE(name, parameters, arguments)                                                                            \
    extern __attribute__((weak)) void name parameters;                                                                 \
    OMPP_EXPORT void __wrap_##name parameters;                                                                         \
    OMPP_EXPORT void __wrap_##name parameters                                                                          \
    {                                                                                                                  \
        block_given_back(block);                                                                                       \
        name arguments;                                                                                                \
    }

DELETE(_ZdlPv, (void *block), (block))
DELETE(_ZdaPv, (void *block), (block))
DELETE(_ZdlPvm, (void *block, size_t size), (block, size))
DELETE(_ZdaPvm, (void *block, size_t size), (block, size))
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t align), (block, align))
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t align), (block, align))
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t align), (block, size, align))
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t align), (block, size, align))

/* ---- Libraries ------------------------------------------------------------------------------------------------------ */

OMPP_EXPORT int __wrap_dlclose(void *library);
OMPP_EXPORT int __wrap_dlclose(void *library)
{
    int result = dlclose(library);

    ompp_data_resolve(); /* variables that OMPP_DATA names may be gone with it */
    return result;
}
