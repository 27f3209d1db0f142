/*
 * One lock less. What the run gains without all of them is known; what the others may take then bounds it without one.
 */
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_ideal.h"
#include "analysis/ompp_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 0.001 /* of the thread time that threads wait for a lock, to be named */

/* Places with one lock: critical sections of one name, which the source alone may know. ns of all threads */
typedef struct {
    uint32_t region;
    double most, waited, held, left; /* left: of held, while it is left */
} held_t;

static bool is_same_lock(const ompp_profile_t *p, uint32_t a, uint32_t b)
{
    const ompp_region_t *x = &p->regions[a], *y = &p->regions[b];

    if (x->construct != OMPP_CONSTRUCT_CRITICAL || y->construct != OMPP_CONSTRUCT_CRITICAL) return false;
    if (x->lock && y->lock) return x->lock == y->lock;
    return strcmp(ompp_profile_text(p, x->name), ompp_profile_text(p, y->name)) == 0;
}

static void add_node(const ompp_profile_t *p, const ompp_node_t *node, held_t *lock)
{
    const ompp_construct_row_t *row = &ompp_constructs[p->regions[node->region].construct];

    for (uint32_t b = 0; b < node->nblocks; b++) {
        if (!ompp_block_is_phases(&node->blocks[b])) continue;
        for (unsigned s = 0; s < row->nphases; s++) {
            const double ns = (double)node->blocks[b].values[ompp_value_index(s, OMPP_SLOT_TIME)];
            *(row->phases[s] == OMPP_PHASE_ENTER ? &lock->waited : &lock->held) += ns;
            if (row->phases[s] == OMPP_PHASE_EXIT) lock->left += ns;
        }
    }
}

static int by_waiting(const void *a, const void *b)
{
    const held_t *x = a, *y = b;

    if (x->waited != y->waited) return x->waited > y->waited ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

/* All locks, those that threads wait for longest first. \return how many. */
static size_t gather(const ompp_profile_t *p, held_t *locks)
{
    held_t *of = calloc(p->nregions + 1, sizeof *of);
    size_t n = 0;

    for (uint32_t i = 1; of && i < p->nnodes; i++) add_node(p, &p->nodes[i], &of[p->nodes[i].region]);
    for (uint32_t r = 0; of && r < p->nregions; r++) {
        const unsigned construct = p->regions[r].construct;
        size_t at = construct == OMPP_CONSTRUCT_LOCK ? n : 0;
        if (construct != OMPP_CONSTRUCT_CRITICAL && construct != OMPP_CONSTRUCT_LOCK) continue;
        while (at < n && !is_same_lock(p, locks[at].region, r)) at++;
        if (at == n) locks[n++] = (held_t){.region = r};
        if (of[r].waited > locks[at].most) locks[at].region = r, locks[at].most = of[r].waited;
        locks[at].waited += of[r].waited;
        locks[at].held += of[r].held;
        locks[at].left += of[r].left;
    }
    free(of);
    qsort(locks, n, sizeof *locks, by_waiting);
    return n;
}

/*
 * A thread that comes to another lock waits until the others have been in it once, at most; and it is held as long as
 * before, by one thread at a time. No more is gained than threads have waited for the lock, one after the other.
 */
/* No one lock: what gathers many, or threads were inside at the same time. */
static bool is_many(const ompp_profile_t *p, const held_t *lock)
{
    return strstr(ompp_profile_text(p, p->regions[lock->region].name), "[*]") ||
           lock->held > (double)ompp_analysis_duration(p);
}

static ompp_gain_range_t gain_of(const ompp_profile_t *p, const ompp_gain_range_t *all, const held_t *locks, size_t n,
                                 size_t which)
{
    const double duration = (double)ompp_analysis_duration(p), threads = p->nslots;
    ompp_gain_range_t gain = *all;
    double others = 0, longest = 0;

    for (size_t i = 0; i < n; i++) {
        if (i == which) continue;
        others += locks[i].held;
        if (!is_many(p, &locks[i])) longest = fmax(longest, locks[i].held);
    }
    gain.high = fmin(gain.high, fmin(1 - longest / duration, (locks[which].waited + locks[which].left) / duration));
    gain.high = fmax(gain.high, 0);
    gain.low = fmin(fmax(gain.low - others * (threads - 1) / threads / duration, 0), gain.high);
    return gain;
}

size_t ompp_analysis_ideal_locks(const ompp_profile_t *p, const ompp_gain_range_t *all, ompp_lock_gain_t *gains)
{
    const double worth = LEAST * (double)ompp_analysis_duration(p) * (double)p->nslots;
    held_t *locks = calloc(p->nregions + 1, sizeof *locks);
    size_t n, found = 0;

    if (!locks) return 0;
    n = gather(p, locks);
    for (size_t i = 0; i < n && found < OMPP_IDEAL_NLOCKS && locks[i].waited >= worth; i++)
        if (p->nranks == 1 && all->known && !is_many(p, &locks[i]))
            gains[found++] = (ompp_lock_gain_t){locks[i].region, locks[i].waited, gain_of(p, all, locks, n, i)};
    free(locks);
    return found;
}
