/*
 * Pages of the arena at a second address. They are shared with the file, as the arena is; a forked child gets memory of
 * its own.
 */
#define _GNU_SOURCE
#include "runtime/ompp_pending.h"

#include "base/ompp_pages.h"
#include "runtime/ompp_thread.h"

#include <sys/mman.h>

#define BATCH 4u   /* pages that are taken at a time: the arena's records have no such boundaries */
#define SHARE 4u   /* of the arena goes to pages, at the most: one part in so many */
#define MOST 1024u /* pages: each is a mapping, of which a process has some 65,000 */

static ompp_off_t next_page, pages_end; /* of the batch */
static bool refused;                    /* it is no file's memory */
static uint64_t taken;                  /* bytes of batches */

static void *at(ompp_off_t off) { return ompp_process.arena.base + off; }

ompp_a_pending_t *ompp_pending_new(unsigned set)
{
    const ompp_locked_t locked = ompp_lock();
    ompp_off_t off = ompp_arena_take(&ompp_process.arena, sizeof(ompp_a_pending_t));

    if (off) {
        ompp_a_pending_t *p = at(off);
        p->set = set;
        p->next = atomic_load(&ompp_process.header->pending);
        atomic_store_explicit(&ompp_process.header->pending, off, memory_order_release);
    }
    ompp_unlock(locked);
    return off ? at(off) : NULL;
}

static bool has_page(void)
{
    const uint32_t bytes = BATCH * OMPP_PENDING_PAGE;

    if (refused || !ompp_process.header) return false;
    if (next_page < pages_end) return true;
    if (!ompp_process.arena.path[0] || SHARE * (taken + bytes) > ompp_process.arena.reserved ||
        taken >= (uint64_t)MOST * OMPP_PENDING_PAGE)
        return false;
    ompp_off_t off = ompp_arena_take(&ompp_process.arena, bytes + OMPP_PENDING_PAGE);
    if (!off) return false;
    next_page = (off + OMPP_PENDING_PAGE - 1) / OMPP_PENDING_PAGE * OMPP_PENDING_PAGE;
    pages_end = next_page + bytes;
    taken += bytes;
    return true;
}

/* Of memory that is no file's, the system makes no second address. */
static bool map_page(void *where)
{
    refused = ompp_mremap(at(next_page), 0, OMPP_PENDING_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, where) == MAP_FAILED;
    return !refused;
}

bool ompp_pending_page(ompp_a_pending_t *pending, unsigned kind, uint32_t first, uint32_t n, void *where,
                       _Atomic bool *done)
{
    const ompp_locked_t locked = ompp_lock();
    ompp_off_t off = !atomic_load(done) && has_page() ? ompp_arena_take(&ompp_process.arena, sizeof(ompp_a_page_t)) : 0;
    const bool mapped = off && map_page(where);

    if (mapped) {
        *(ompp_a_page_t *)at(off) =
            (ompp_a_page_t){atomic_load(&pending->pages), kind, first, n, next_page, (uint64_t)(uintptr_t)where};
        atomic_store_explicit(&pending->pages, off, memory_order_release);
        next_page += OMPP_PENDING_PAGE;
    }
    atomic_store(done, true); /* now that the page is there, or stays without */
    ompp_unlock(locked);
    return mapped;
}

ompp_off_t ompp_pending_block(const uint64_t *values)
{
    return values ? (ompp_off_t)((const char *)values - offsetof(ompp_a_block_t, values) - ompp_process.arena.base) : 0;
}

void ompp_pending_detach(void)
{
    for (ompp_off_t off = atomic_load(&ompp_process.header->pending); off; off = ((ompp_a_pending_t *)at(off))->next)
        for (ompp_off_t page = atomic_load(&((ompp_a_pending_t *)at(off))->pages); page;
             page = ((ompp_a_page_t *)at(page))->next)
            ompp_mmap((void *)(uintptr_t)((ompp_a_page_t *)at(page))->where, OMPP_PENDING_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
