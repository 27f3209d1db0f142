#include "analysis/ompp_ideal.h"

#include "analysis/ompp_analysis.h"
#include "analysis/ompp_chunks.h"
#include "analysis/ompp_ideal_clocks.h"
#include "analysis/ompp_meets.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"

#include <stdlib.h>
#include <string.h>

const ompp_ideal_row_t ompp_ideal_rows[OMPP_IDEAL_NUM] = {
#define OMPP_IDEAL(id, name, text, assumes) [OMPP_IDEAL_##id] = {name, text, assumes},
#include "analysis/ompp_ideal.def"
#undef OMPP_IDEAL
};

/* ns of the run: what teams wait, of that what all of their threads do, and what the runtime takes. */
typedef struct {
    double waits, least, runtime;
} team_sum_t;

/* ---- Teams ------------------------------------------------------------------------------------------------------- */

/* Threads that were in the team of a fork. */
static unsigned members_of(const ompp_profile_t *p, uint32_t fork)
{
    unsigned n = 0;

    for (uint32_t b = 0; b < p->nodes[fork].nblocks; b++) {
        const ompp_block_t *block = &p->nodes[fork].blocks[b];
        n += ompp_block_is_phases(block) && ompp_analysis_value(p, fork, block->location, OMPP_COLUMN_EXEC_T) > 0;
    }
    return n;
}

static double own_of(const ompp_block_t *block, unsigned slot)
{
    return (double)ompp_less(block->values[ompp_value_index(slot, OMPP_SLOT_TIME)],
                             block->values[ompp_value_index(slot, OMPP_SLOT_CHILD)] +
                                 block->values[ompp_value_index(slot, OMPP_SLOT_TASK)]);
}

/* What the threads of a team lose in a node, per thread: all do it at the same time. */
static void add_node(const ompp_profile_t *p, uint32_t node, unsigned members, team_sum_t *sum)
{
    const unsigned construct = p->regions[p->nodes[node].region].construct;
    double waits = 0, runtime = 0, least = 1e300;
    unsigned n = 0;

    for (uint32_t b = 0; b < p->nodes[node].nblocks; b++) {
        const ompp_block_t *block = &p->nodes[node].blocks[b];
        double wait = 0;
        if (!ompp_block_is_phases(block)) continue;
        for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++) {
            const unsigned lost = ompp_efficiency_lost_in(construct, s);
            if (lost == OMPP_LOST_IMBALANCE || lost == OMPP_LOST_LIMPAR) wait += own_of(block, s);
            if (lost == OMPP_LOST_MANAGEMENT) runtime += own_of(block, s);
        }
        waits += wait;
        if (wait < least) least = wait;
        n++;
    }
    sum->waits += waits / members;
    sum->least += n >= members ? least : 0;
    sum->runtime += runtime / members;
}

static bool is_simple(const ompp_profile_t *p, const ompp_paths_t *paths)
{
    bool teams = false;

    if (p->nranks != 1 || p->nrest) return false;
    for (uint32_t l = 0; l < p->nlocations; l++)
        if (p->locations[l].kind == OMPP_THREAD_OTHER || p->locations[l].kind == OMPP_THREAD_NESTED) return false;
    for (uint32_t n = 1; n < p->nnodes; n++) {
        if (paths->fork[n] == n && paths->fork[p->nodes[n].parent]) return false;
        teams |= paths->fork[n] == n;
    }
    return teams;
}

/* What handing out iterations takes; the threads do it at the same time. */
static int add_chunks(const ompp_profile_t *p, const ompp_paths_t *paths, team_sum_t *sum)
{
    ompp_chunk_sum_t *chunks;
    size_t n;
    const int rc = ompp_analysis_chunks(p, paths, &chunks, &n);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const uint32_t fork = paths->fork[*ompp_paths_begin(paths, chunks[i].region)];
        const unsigned members = fork ? members_of(p, fork) : 0;
        if (members) sum->runtime += (double)chunks[i].handing_ns / members;
    }
    if (rc == 0) free(chunks);
    return rc;
}

static int find_teams(const ompp_profile_t *p, const ompp_paths_t *paths, double duration, ompp_gain_range_t *gains)
{
    team_sum_t sum = {0};

    if (!is_simple(p, paths)) return 0;
    for (uint32_t n = 1; n < p->nnodes; n++) {
        const unsigned members = paths->fork[n] ? members_of(p, paths->fork[n]) : 0;
        if (members) add_node(p, n, members, &sum);
    }
    const int rc = add_chunks(p, paths, &sum);
    gains[OMPP_IDEAL_TEAMS] = (ompp_gain_range_t){true, true, (sum.waits - sum.least) / duration, sum.waits / duration};
    gains[OMPP_IDEAL_RUNTIME] =
        (ompp_gain_range_t){true, true, sum.runtime / duration, (sum.runtime + sum.least) / duration};
    return rc;
}

/* ---- Regions that are too small ---------------------------------------------------------------------------------- */

static int by_loss(const void *a, const void *b)
{
    const ompp_tiny_t *x = a, *y = b;
    const double left = x->cost * x->share, right = y->cost * y->share;

    if (left != right) return left > right ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

static void find_tiny(const ompp_profile_t *p, const ompp_paths_t *paths, double duration, ompp_tiny_t *tiny, size_t *n)
{
    for (uint32_t r = 0; r < p->nregions; r++) {
        team_sum_t sum = {0};
        double all = 0;
        if (!ompp_construct_forks(p->regions[r].construct)) continue;
        for (const uint32_t *node = ompp_paths_begin(paths, r); node < ompp_paths_end(paths, r); node++) {
            const unsigned members = members_of(p, *node);
            double exec = 0;
            if (members < 2) continue;
            add_node(p, *node, members, &sum);
            for (uint32_t b = 0; b < p->nodes[*node].nblocks; b++)
                if (ompp_block_is_phases(&p->nodes[*node].blocks[b]))
                    exec +=
                        (double)ompp_analysis_value(p, *node, p->nodes[*node].blocks[b].location, OMPP_COLUMN_EXEC_T);
            all += exec / members;
        }
        if (all > 0 && sum.runtime + sum.least >= OMPP_IDEAL_TINY * all)
            tiny[(*n)++] = (ompp_tiny_t){r, (sum.runtime + sum.least) / all, all / duration / (double)p->nranks};
    }
    if (*n) qsort(tiny, *n, sizeof *tiny, by_loss);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* A call that all ranks make equally often, outside of teams. */
static bool all_meet(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t node)
{
    uint64_t visits = 0;
    uint32_t n = 0;

    if (paths->fork[node] || paths->own[node]) return false;
    for (uint32_t b = 0; b < p->nodes[node].nblocks; b++) {
        const ompp_block_t *block = &p->nodes[node].blocks[b];
        if (!ompp_block_is_phases(block)) continue;
        if (n && block->values[0] != visits) return false;
        visits = block->values[0];
        n++;
    }
    return n == p->nranks;
}

static void find_ranks(const ompp_profile_t *p, const ompp_paths_t *paths, double duration, ompp_gain_range_t *gain)
{
    double saved = 0;

    if (p->nranks < 2 || p->nrest || p->nranks_kept != p->nranks) return;
    for (uint32_t r = 0; r < p->nregions; r++) {
        ompp_meet_sum_t meet;
        if (p->regions[r].construct != OMPP_CONSTRUCT_MPI || !ompp_analysis_meets(p, paths, r, &meet)) continue;
        for (const uint32_t *n = ompp_paths_begin(paths, r); n < ompp_paths_end(paths, r); n++) {
            if (!all_meet(p, paths, *n)) continue;
            gain->known = true;
            for (uint32_t b = 0; b < p->nodes[*n].nblocks; b++)
                if (ompp_block_is_phases(&p->nodes[*n].blocks[b]))
                    saved += meet.waiting * own_of(&p->nodes[*n].blocks[b], 0) / p->nranks;
        }
    }
    gain->low = gain->high = saved / duration;
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static void take_clock(const ompp_profile_t *p, ompp_whatif_ideal_t ideal, double more, ompp_gain_range_t *gain)
{
    ompp_ideal_gain_t found;

    if (!ompp_analysis_ideal_clock(p, ideal, &found)) return;
    *gain = (ompp_gain_range_t){true, gain->applies, found.low + more, found.high + more};
}

/* Clocks know who waits for whom then, too; what handing out iterations takes the profile knows. */
static int find_clocks(const ompp_profile_t *p, const ompp_paths_t *paths, double duration, ompp_gain_range_t *gains)
{
    team_sum_t chunks = {0};
    const int rc = add_chunks(p, paths, &chunks);

    take_clock(p, OMPP_WHATIF_NO_RUNTIME, chunks.runtime / duration / (double)p->nranks, &gains[OMPP_IDEAL_RUNTIME]);
    if (p->whatif.ideal.flags & OMPP_WHATIF_F_LOST) return rc; /* who would wait for whom is not known of all */
    take_clock(p, OMPP_WHATIF_NO_LOCKS, 0, &gains[OMPP_IDEAL_LOCKS]);
    if (p->mpi) take_clock(p, OMPP_WHATIF_NO_NETWORK, 0, &gains[OMPP_IDEAL_NETWORK]);
    return rc;
}

int ompp_analysis_ideal(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_gain_range_t *gains,
                        ompp_tiny_t **tiny, size_t *ntiny)
{
    const double duration = (double)ompp_analysis_duration(p);

    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++)
        gains[i] = (ompp_gain_range_t){.applies = p->mpi || (i != OMPP_IDEAL_RANKS && i != OMPP_IDEAL_NETWORK)};
    *ntiny = 0;
    *tiny = calloc(p->nregions + 1, sizeof **tiny);
    if (!*tiny) return -OMPP_E_NOMEM;
    if (duration <= 0) return 0;
    find_tiny(p, paths, duration, *tiny, ntiny);
    find_ranks(p, paths, duration, &gains[OMPP_IDEAL_RANKS]);
    const int rc = find_teams(p, paths, duration, gains);
    return rc ? rc : find_clocks(p, paths, duration, gains);
}
