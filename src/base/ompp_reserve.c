/*
 * With mlockall(MCL_FUTURE) the system backs whatever a program maps, as a whole, and refuses what exceeds the limit of
 * locked memory. A mapping that was there before grows and moves as it is, not locked: a page of such a one is the seed
 * of each reservation.
 */
#define _GNU_SOURCE
#include "base/ompp_reserve.h"
#include "base/ompp_pages.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#define SEED 4096ul
#define SEEDS 4096u /* 16 MiB of addresses; reservations behind the last one are ordinary mappings */

static char *seeds;
static uint32_t nseeds;
static ompp_reserved_t ranges[SEEDS + 1]; /* begin 0: free; the first: the seeds */

/* In the first free row; without one, the range is not known. */
static void note(const void *at, size_t size)
{
    for (unsigned i = 0; i <= SEEDS; i++) {
        uintptr_t nothing = 0;
        if (!__atomic_compare_exchange_n(&ranges[i].begin, &nothing, (uintptr_t)at, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&ranges[i].end, (uintptr_t)at + size, __ATOMIC_RELEASE);
        return;
    }
}

static void forget(const void *at)
{
    for (unsigned i = 0; i <= SEEDS; i++) {
        if (__atomic_load_n(&ranges[i].begin, __ATOMIC_RELAXED) != (uintptr_t)at) continue;
        __atomic_store_n(&ranges[i].end, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&ranges[i].begin, 0, __ATOMIC_RELEASE);
        return;
    }
}

static void open_seeds(void)
{
    void *at = ompp_mmap(NULL, SEEDS * SEED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED) return;
    note(at, SEEDS * SEED);
    seeds = at;
}

static void *grow_seed(size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint32_t i;

    pthread_once(&once, open_seeds);
    i = __atomic_fetch_add(&nseeds, 1, __ATOMIC_RELAXED);
    return seeds && i < SEEDS ? ompp_mremap(seeds + i * SEED, SEED, size, MREMAP_MAYMOVE, NULL) : MAP_FAILED;
}

void *ompp_reserve(size_t size)
{
    const int saved = errno;
    void *at = grow_seed(size);

    if (at == MAP_FAILED) at = ompp_mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    munlock(at, size); /* before it may be written, which would back it */
    if (mprotect(at, size, PROT_READ | PROT_WRITE) != 0) {
        ompp_munmap(at, size);
        return NULL;
    }
    ompp_madvise(at, size, MADV_NOHUGEPAGE);
    ompp_madvise(at, size, MADV_DONTDUMP);
    note(at, size);
    errno = saved;
    return at;
}

void ompp_unreserve(void *at, size_t size)
{
    forget(at);
    ompp_munmap(at, size);
}

bool ompp_reserve_get(unsigned i, ompp_reserved_t *range)
{
    if (i > SEEDS) return false;
    range->end = __atomic_load_n(&ranges[i].end, __ATOMIC_ACQUIRE);
    range->begin = range->end ? ranges[i].begin : 0;
    if (seeds && range->begin == (uintptr_t)seeds) { /* those that have grown lie elsewhere */
        const uint32_t grown = __atomic_load_n(&nseeds, __ATOMIC_RELAXED);
        range->begin += (grown < SEEDS ? grown : SEEDS) * SEED;
    }
    return true;
}
