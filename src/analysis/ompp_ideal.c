#include "analysis/ompp_ideal.h"

#include "analysis/ompp_analysis.h"
#include "analysis/ompp_chunks.h"
#include "analysis/ompp_ideal_clocks.h"
#include "analysis/ompp_meets.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_values.h"
#include "analysis/ompp_whatif_priv.h"
#include "base/ompp_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const ompp_ideal_row_t ompp_ideal_rows[OMPP_IDEAL_NUM] = {
#define OMPP_IDEAL(id, name, text, assumes) [OMPP_IDEAL_##id] = {name, text, assumes},
#include "analysis/ompp_ideal.def"
#undef OMPP_IDEAL
};

/* ns of the run, per thread. least: of waits, what all threads of a team do. again: a barrier that OPARI2 adds. unsure:
 * what handing out iterations may take more than a clock can tell. */
typedef struct {
    double waits, least, runtime, locks, again, unsure;
} team_sum_t;

/* ---- What measuring took ----------------------------------------------------------------------------------------- */

#define OWN_FACTOR 2 /* where threads wait for each other's events, they cost more than events by themselves */
#define OWN_MOST 0.9

/* own: part of the time that the gain is of. It may lie in what is saved, in the rest, or in both of them. */
static void leave_out(ompp_gain_range_t *gain, double own)
{
    const double most = fmin(own, OWN_MOST), before = gain->high - gain->low;

    if (!gain->known) return;
    gain->low = fmax((gain->low - most) / (1 - most), 0);
    gain->high = fmin(gain->high / (1 - most), 1);
    if (gain->high - gain->low - before <= OMPP_IDEAL_WIDE) return;
    gain->known = false;
    gain->why = OMPP_IDEAL_OWN_COST;
}

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

static bool is_lock(unsigned construct)
{
    return construct == OMPP_CONSTRUCT_CRITICAL || construct == OMPP_CONSTRUCT_LOCK;
}

/* What a thread loses in a node. */
static void add_block(unsigned construct, const ompp_block_t *block, team_sum_t *sum)
{
    for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++) {
        const unsigned lost = ompp_efficiency_lost_in(construct, s);
        const double ns = own_of(block, s);
        if (lost == OMPP_LOST_IMBALANCE || lost == OMPP_LOST_LIMPAR || construct == OMPP_CONSTRUCT_BARRIER)
            sum->waits += ns;
        else if (is_lock(construct) && ompp_constructs[construct].phases[s] != OMPP_PHASE_BODY) sum->locks += ns;
        else if (lost == OMPP_LOST_MANAGEMENT) sum->runtime += ns;
    }
}

/* What the threads of a team lose in a node, per thread: all do it at the same time. */
static void add_node(const ompp_profile_t *p, uint32_t node, unsigned members, team_sum_t *sum)
{
    team_sum_t all = {0};
    double least = 1e300;
    unsigned n = 0;

    for (uint32_t b = 0; b < p->nodes[node].nblocks; b++) {
        team_sum_t one = {0};
        if (!ompp_block_is_phases(&p->nodes[node].blocks[b])) continue;
        add_block(p->regions[p->nodes[node].region].construct, &p->nodes[node].blocks[b], &one);
        all.waits += one.waits;
        all.runtime += one.runtime;
        all.locks += one.locks;
        least = fmin(least, one.waits);
        sum->again += ompp_own_barrier_ns(p, node, &p->nodes[node].blocks[b]) / members;
        n++;
    }
    if (n < members) least = 0;
    sum->waits += all.waits / members;
    sum->least += least;
    sum->runtime += all.runtime / members;
    sum->locks += all.locks / members;
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
        if (!members) continue;
        const double clock = ompp_own_cost(p, 0, OMPP_COST_CLOCK, false);
        sum->runtime += (double)chunks[i].handing_ns / members;
        sum->unsure += clock * (double)chunks[i].asks / members;
    }
    if (rc == 0) free(chunks);
    return rc;
}

/* The least that a thread of a team waits for locks. next_lock: from a node that forks to the nodes of its team's
 * locks; by_location: scratch, [nlocations]. */
static double least_locked(const ompp_profile_t *p, const uint32_t *next_lock, uint32_t fork, double *by_location)
{
    double least = 1e300;

    memset(by_location, 0, p->nlocations * sizeof *by_location);
    for (uint32_t n = next_lock[fork]; n; n = next_lock[n]) {
        const unsigned construct = p->regions[p->nodes[n].region].construct;
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) {
            team_sum_t one = {0};
            if (!ompp_block_is_phases(&p->nodes[n].blocks[b])) continue;
            add_block(construct, &p->nodes[n].blocks[b], &one);
            by_location[p->nodes[n].blocks[b].location] += one.locks;
        }
    }
    for (uint32_t b = 0; b < p->nodes[fork].nblocks; b++)
        if (ompp_block_is_phases(&p->nodes[fork].blocks[b]))
            least = fmin(least, by_location[p->nodes[fork].blocks[b].location]);
    return least < 1e300 ? least : 0;
}

/*
 * A team that is balanced waits for locks as long as before: threads that wait at a barrier for one that a lock held up
 * go on doing so. Without locks, what threads wait at barriers for these is gone, too.
 */
static void add_team(team_sum_t *all, const team_sum_t *team, unsigned members)
{
    all->waits += team->waits;
    all->least += team->least;
    all->runtime += team->runtime;
    all->again += team->again;
    all->locks += team->locks + fmin(team->waits, team->locks * (members - 1));
}

/* again: gets the part of the run that barriers of OPARI2's own take. */
static int find_teams(const ompp_profile_t *p, const ompp_paths_t *paths, double duration, ompp_gain_range_t *gains,
                      double *again)
{
    team_sum_t *teams = calloc(p->nnodes, sizeof *teams), sum = {0};
    double *by_location = calloc(p->nlocations + 1, sizeof *by_location), balanced = 0, locks = 0;
    uint32_t *next_lock = calloc(p->nnodes, sizeof *next_lock);
    const bool simple = is_simple(p, paths);
    int rc = teams && by_location && next_lock ? 0 : -OMPP_E_NOMEM;

    for (uint32_t n = 1; rc == 0 && simple && n < p->nnodes; n++) {
        const uint32_t fork = paths->fork[n];
        const unsigned members = fork ? members_of(p, fork) : 0;
        if (members) add_node(p, n, members, &teams[fork]);
        if (!members || !is_lock(p->regions[p->nodes[n].region].construct)) continue;
        next_lock[n] = next_lock[fork];
        next_lock[fork] = n;
    }
    for (uint32_t n = 1; rc == 0 && simple && n < p->nnodes; n++) {
        if (paths->fork[n] != n) continue;
        const unsigned members = members_of(p, n);
        if (!members) continue;
        add_team(&sum, &teams[n], members);
        balanced += fmax(teams[n].waits - teams[n].least - teams[n].locks * (members - 1), 0);
        if (teams[n].locks > 0) locks += least_locked(p, next_lock, n, by_location);
    }
    free(next_lock);
    free(by_location);
    free(teams);
    if (rc || !simple) return rc;
    rc = add_chunks(p, paths, &sum);
    gains[OMPP_IDEAL_TEAMS] = (ompp_gain_range_t){true, true, balanced / duration, sum.waits / duration, 0};
    gains[OMPP_IDEAL_RUNTIME] =
        (ompp_gain_range_t){true, true, sum.runtime / duration, (sum.runtime + sum.least) / duration, 0};
    gains[OMPP_IDEAL_LOCKS] = (ompp_gain_range_t){true, true, locks / duration, sum.locks / duration, 0};
    *again = sum.again / duration;
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
        double all = 0, own = 0, others = 0; /* others: threads besides one, weighted by time */
        if (!ompp_construct_forks(p->regions[r].construct)) continue;
        for (const uint32_t *node = ompp_paths_begin(paths, r); node < ompp_paths_end(paths, r); node++) {
            const unsigned members = members_of(p, *node);
            double exec = 0;
            if (members < 2) continue;
            add_node(p, *node, members, &sum);
            for (uint32_t b = 0; b < p->nodes[*node].nblocks; b++) {
                const ompp_block_t *block = &p->nodes[*node].blocks[b];
                if (!ompp_block_is_phases(block)) continue;
                exec += (double)ompp_analysis_value(p, *node, block->location, OMPP_COLUMN_EXEC_T);
                own += ompp_own_events_ns(p, *node, block) / members;
            }
            all += exec / members;
            others += exec / members * (members - 1);
        }
        const double run = duration * (double)p->nranks, ours = own + sum.again,
                     most = fmin(OWN_FACTOR * own + sum.again, OWN_MOST * run);
        const double cost = sum.runtime + sum.least - ours,
                     work = fmax(all - sum.runtime - sum.waits, 0) * others / all;
        const double high = fmin((all - ours) / (run - ours), 1);
        const double low = (sum.runtime + sum.least - most - work) / (run - most);
        if (all > ours && cost >= OMPP_IDEAL_TINY * (all - ours))
            tiny[(*n)++] = (ompp_tiny_t){r, cost / (all - ours), all / run, fmin(fmax(low, 0), high), high};
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

static bool take_clock(const ompp_profile_t *p, ompp_whatif_ideal_t ideal, double more, double own,
                       ompp_gain_range_t *gain)
{
    ompp_ideal_gain_t found;
    ompp_gain_range_t by_clock = {true, gain->applies, 0, 0, 0};

    if (!ompp_analysis_ideal_clock(p, ideal, &found)) return false;
    by_clock.low = fmax(found.low + more, 0);
    by_clock.high = fmax(found.high + more, 0);
    leave_out(&by_clock, own);
    if (by_clock.known || !gain->known) *gain = by_clock;
    return by_clock.known;
}

#define STAMPED 0.6 /* clock vectors go with messages: these take up to 1.7 times as long, large ones 1.4 */
#define ENOUGH 0.1  /* of what comes after the start of MPI, with clocks: less says nothing */

/* Part of the run in which MPI starts and ends, of the rank where that is shortest: it is not the network's. */
static double start_of_mpi(const ompp_profile_t *p, double duration)
{
    double *by_rank = calloc(p->nranks + 1, sizeof *by_rank), least = 1e300;

    for (uint32_t n = 1; by_rank && n < p->nnodes; n++) {
        const char *name = ompp_profile_text(p, p->regions[p->nodes[n].region].name);
        const bool ends = strcmp(name, "MPI_Finalize") == 0;
        if (!ends && !ompp_analysis_starts_mpi(p, p->nodes[n].region)) continue;
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[n].blocks[b];
            const uint32_t rank = p->locations[block->location].rank;
            if (ompp_block_is_phases(block) && rank < p->nranks) by_rank[rank] += own_of(block, 0);
        }
    }
    for (uint32_t r = 0; by_rank && r < p->nranks; r++) least = fmin(least, by_rank[r]);
    free(by_rank);
    return least < 1e300 ? least / duration : 0;
}

static void find_network(const ompp_profile_t *p, double duration, double own, ompp_gain_range_t *gain)
{
    const double start = start_of_mpi(p, duration), followed = (double)p->whatif.ideal.followed_ns / duration;

    if (followed - start < ENOUGH * (1 - start)) return;
    if (take_clock(p, OMPP_WHATIF_NO_NETWORK, -start, own, gain)) gain->low *= STAMPED;
}

/* What barriers take themselves is what clocks say that the runtime takes, beside what the profile knows of that: the
 * rest of what all threads of a team wait is one after the other being late. */
static void narrow_teams(const ompp_gain_range_t *profile, const ompp_gain_range_t *clock, ompp_gain_range_t *teams)
{
    const double least = profile->high - profile->low, low = fmin(fmax(clock->low - profile->low, 0), least),
                 high = fmin(fmax(clock->high - profile->low, 0), least);

    teams->low += least - high;
    teams->high = fmax(teams->high - low, teams->low);
}

/* Clocks know who waits for whom then, too; what handing out iterations takes the profile knows. again: part of the run
 * that barriers of OPARI2's own take. */
static int find_clocks(const ompp_profile_t *p, const ompp_paths_t *paths, double duration, double again,
                       ompp_gain_range_t *gains)
{
    const ompp_measuring_t m = ompp_whatif_measuring(p);
    const ompp_gain_range_t by_profile = gains[OMPP_IDEAL_RUNTIME];
    const double own = OWN_FACTOR * m.alone + again, followed = OWN_FACTOR * m.followed + again;
    const bool lost = p->whatif.ideal.flags & OMPP_WHATIF_F_LOST; /* who would wait for whom is not known of all */
    team_sum_t chunks = {0};
    const int rc = add_chunks(p, paths, &chunks);

    const double part = 1 / duration / (double)p->nranks, unsure = chunks.unsure * part;
    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++) leave_out(&gains[i], own + (i == OMPP_IDEAL_RUNTIME ? unsure : 0));
    if (take_clock(p, OMPP_WHATIF_NO_RUNTIME, chunks.runtime * part, followed + unsure, &gains[OMPP_IDEAL_RUNTIME]) &&
        by_profile.known && gains[OMPP_IDEAL_TEAMS].known)
        narrow_teams(&by_profile, &gains[OMPP_IDEAL_RUNTIME], &gains[OMPP_IDEAL_TEAMS]);
    if (lost) return rc;
    take_clock(p, OMPP_WHATIF_NO_LOCKS, 0, followed, &gains[OMPP_IDEAL_LOCKS]);
    if (p->mpi) find_network(p, duration, followed, &gains[OMPP_IDEAL_NETWORK]);
    return rc;
}

#define WORTH 0.0005 /* of the run: POSIX threads have locks that are no regions */

static bool has_locks(const ompp_profile_t *p)
{
    for (uint32_t r = 0; r < p->nregions; r++)
        if (is_lock(p->regions[r].construct)) return true;
    return false;
}

/* Whether there is anything to be ideal. */
static bool applies(const ompp_profile_t *p, unsigned scenario)
{
    if (scenario == OMPP_IDEAL_RANKS || scenario == OMPP_IDEAL_NETWORK) return p->mpi && p->nranks > 1;
    return scenario != OMPP_IDEAL_TEAMS || ompp_analysis_max_threads(p) > 1;
}

int ompp_analysis_ideal(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_gain_range_t *gains,
                        ompp_tiny_t **tiny, size_t *ntiny)
{
    const double duration = (double)ompp_analysis_duration(p);
    double again = 0;

    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++) gains[i] = (ompp_gain_range_t){.applies = applies(p, i)};
    *ntiny = 0;
    *tiny = calloc(p->nregions + 1, sizeof **tiny);
    if (!*tiny) return -OMPP_E_NOMEM;
    if (duration <= 0) return 0;
    find_tiny(p, paths, duration, *tiny, ntiny);
    find_ranks(p, paths, duration, &gains[OMPP_IDEAL_RANKS]);
    int rc = find_teams(p, paths, duration, gains, &again);
    if (rc == 0) rc = find_clocks(p, paths, duration, again, gains);
    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++)
        if (gains[i].known && gains[i].low < OMPP_IDEAL_LEAST && gains[i].high - gains[i].low > OMPP_IDEAL_MOST_WIDE)
            gains[i].known = false, gains[i].why = OMPP_IDEAL_VAGUE;
    gains[OMPP_IDEAL_LOCKS].applies = has_locks(p) || gains[OMPP_IDEAL_LOCKS].high >= WORTH;
    return rc;
}
