/*
 * Memory that the program gives back: what was registered in it belongs to no structure any more, for the allocator
 * puts other data there. kinst-ompp links with --wrap, so that calls in the user's objects come here first; the
 * allocator is whatever the program has. Nothing is looked at twice: a block without a structure costs a look at the
 * map's entries for its pages.
 *
 * The bytes are forgotten before they are given back: later another thread could have got and registered them already.
 */
#define _GNU_SOURCE
#include "hooks/ompp_count_priv.h"

#include "base/ompp_dl.h"
#include "hooks/ompp_free_priv.h"
#include "hooks/ompp_whose.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

#define OMPP_EXPORT __attribute__((visibility("default")))
#define PAGE (1ul << OMPP_MAP_PAGE_BITS)
#define GRAIN ((uintptr_t)OMPP_MAP_BYTES)
#define LARGE (64ul << 20) /* bytes: the register is sooner asked than the map walked */

static bool sizes_known; /* malloc_usable_size() is about the blocks of the allocator that the program has */

void ompp_free_start(void)
{
    Dl_info of_free, of_size;
    void *release = ompp_dl_symbol(RTLD_DEFAULT, "free"), *size = ompp_dl_symbol(RTLD_DEFAULT, "malloc_usable_size");

    sizes_known = release && size && dladdr(release, &of_free) && dladdr(size, &of_size) &&
                  of_free.dli_fbase == of_size.dli_fbase;
}

/* ---- Is there a structure? --------------------------------------------------------------------------------------- */

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

bool ompp_free_holds_structure(uintptr_t begin, uintptr_t end)
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
    if (ompp_free_holds_structure((uintptr_t)address, (uintptr_t)address + size))
        ompp_data_forget(address, size, NULL, 0);
}

/* An allocator that does not tell its sizes: what begins with the block is given back with it. */
static void block_given_back(void *block)
{
    if (!block || ompp_map_mask == 0 || ompp_counter_no_objects()) return;
    if (sizes_known) {
        const size_t size = malloc_usable_size(block);
        if (!ompp_whose_all || ompp_data_has_ranges()) given_back(block, size);
        if (ompp_whose_all) ompp_heap_gone(block, size);
    } else if (ompp_map_object((uintptr_t)block)) ompp_data_release(block);
}

/* ---- C ----------------------------------------------------------------------------------------------------------- */

OMPP_EXPORT void __wrap_free(void *block);
OMPP_EXPORT void __wrap_free(void *block)
{
    block_given_back(block);
    free(block);
}

size_t ompp_free_that_move(size_t n)
{
    if (n <= OMPP_FREE_PIECES) return n;
    ompp_event_coverage(OMPP_COVERAGE_DROPPED, "data structures in a block that realloc or mremap has moved",
                        "it had more than 32: the others are lost");
    return OMPP_FREE_PIECES;
}

/* Structures move with their bytes; when there is no new block, the old one is still there. */
__attribute__((noinline)) static void moved(uintptr_t old, void *block, size_t old_size, size_t size,
                                            const ompp_data_piece_t *pieces, size_t n)
{
    if (block || size == 0) ompp_data_restore(block, block ? size : 0, pieces, n);
    else ompp_data_restore((void *)old, old_size, pieces, n);
}

static size_t take_along(void *block, size_t *size, ompp_data_piece_t pieces[OMPP_FREE_PIECES + 1])
{
    *size = block && sizes_known ? malloc_usable_size(block) : 0;
    if (ompp_whose_all && !ompp_data_has_ranges()) return 0;
    if (block && !sizes_known) block_given_back(block);
    if (!ompp_free_holds_structure((uintptr_t)block, (uintptr_t)block + *size)) return 0;
    return ompp_free_that_move(ompp_data_forget(block, *size, pieces, OMPP_FREE_PIECES + 1));
}

/* Of data that is told apart unasked: a block that is moved is one of the call that moves it, and what it was when that
 * fails. \return the structure that it was. */
static uint32_t leaves(const void *old, size_t size)
{
    if (!ompp_whose_all || !old) return 0;
    const uint32_t object = ompp_map_object((uintptr_t)old);
    ompp_heap_gone(old, size);
    return object;
}

__attribute__((noinline)) static void arrives(const void *block, size_t size, uintptr_t old, size_t old_size,
                                              uint32_t object, const void *code)
{
    if (!ompp_whose_all) return;
    if (block) ompp_heap_got(block, size, code, NULL);
    else if (size) ompp_heap_again((const void *)old, old_size, object);
}

OMPP_EXPORT void *__wrap_realloc(void *old, size_t size);
OMPP_EXPORT void *__wrap_realloc(void *old, size_t size)
{
    ompp_data_piece_t pieces[OMPP_FREE_PIECES + 1];
    size_t old_size, n = take_along(old, &old_size, pieces);
    const uintptr_t there = (uintptr_t)old;
    const uint32_t object = leaves(old, old_size);
    void *block = realloc(old, size);

    arrives(block, size, there, old_size, object, __builtin_return_address(0));
    if (n) moved(there, block, old_size, size, pieces, n);
    if (ompp_data_has_sites()) ompp_data_allocated(block, size, __builtin_return_address(0), n > 0);
    return block;
}

OMPP_EXPORT void *__wrap_reallocarray(void *old, size_t count, size_t size);
OMPP_EXPORT void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    ompp_data_piece_t pieces[OMPP_FREE_PIECES + 1];
    size_t old_size, n = take_along(old, &old_size, pieces);
    const uintptr_t there = (uintptr_t)old;
    const uint32_t object = leaves(old, old_size);
    void *block = reallocarray(old, count, size);

    arrives(block, count * size, there, old_size, object, __builtin_return_address(0));
    if (n) moved(there, block, old_size, count * size, pieces, n);
    if (ompp_data_has_sites()) ompp_data_allocated(block, count * size, __builtin_return_address(0), n > 0);
    return block;
}

/* ---- C++ --------------------------------------------------------------------------------------------------------- */

/* The program's own operators, or those of its C++ library; without it blocks are malloc's (ompp_alloc.c). */
#define DELETE(name, parameters, arguments)            \
    extern __attribute__((weak)) void name parameters; \
    OMPP_EXPORT void __wrap_##name parameters;         \
    OMPP_EXPORT void __wrap_##name parameters          \
    {                                                  \
        block_given_back(block);                       \
        if (name) name arguments;                      \
        else free(block);                              \
    }

DELETE(_ZdlPv, (void *block), (block))
DELETE(_ZdaPv, (void *block), (block))
DELETE(_ZdlPvm, (void *block, size_t size), (block, size))
DELETE(_ZdaPvm, (void *block, size_t size), (block, size))
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t align), (block, align))
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t align), (block, align))
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t align), (block, size, align))
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t align), (block, size, align))

/* ---- Libraries --------------------------------------------------------------------------------------------------- */

OMPP_EXPORT int __wrap_dlclose(void *library);
OMPP_EXPORT int __wrap_dlclose(void *library)
{
    int result = dlclose(library);

    ompp_whose_refresh();
    ompp_data_resolve(); /* variables that OMPP_DATA names may be gone with it */
    return result;
}
