#include "analysis/ompp_efficiency.h"

#include "analysis/ompp_analysis.h"
#include "analysis/ompp_ideal_clocks.h"
#include "analysis/ompp_meets.h"
#include "analysis/ompp_node.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"
#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_t;

/* ---- One part of the run ----------------------------------------------------------------------------------------- */

/* A rank; or a thread, of a region that threads enter by themselves. */
typedef struct {
    uint32_t rank;
    bool is_single;               /* its rank has one thread */
    uint64_t nthreads, length_ns; /* of the part that is looked at */
    uint64_t useful_ns, lost_ns;  /* of its threads, as measured */
    uint64_t held_ns, idle_ns;    /* held: others would have nothing to do so long; idle: they have nothing to do */
    uint64_t mpi_ns;              /* lost between ranks */
    uint64_t most_ns, sum_ns;     /* scratch, of a team */
} unit_t;

typedef struct {
    uint64_t ns, rank_ns, most_ns; /* rank_ns: of the rank that is being looked at; most_ns: of the one with the most */
    uint32_t rank, most;
} cell_t;

typedef struct {
    const ompp_profile_t *p;
    const ompp_paths_t *paths;
    uint32_t region, *order, *begin,
        *end;    /* order: [nnodes] depth first; [nnodes] place of a node there, and of what is
                                              behind the last one below it */
    bool inside; /* units are threads */
    size_t nunits;
    unit_t *units;
    uint32_t *unit;              /* [nlocations]; OMPP_NONE = in none */
    uint64_t *useful, *top;      /* [nlocations] top: in outermost regions */
    double *measuring;           /* [nlocations] of useful, in ns; NULL = it is not asked */
    unsigned (*lost)[16];        /* [OMPP_CONSTRUCT_NUM] of the slots */
    double *waiting;             /* [nregions] part of an MPI call's time; -1 = not known, -2 = not yet asked */
    bool tells;                  /* second pass: what is lost goes to cells */
    cell_t cells[OMPP_LOST_NUM]; /* of the node that is being looked at */
    ompp_efficiency_t *e;
    ompp_loss_t *losses;
    size_t nlosses, alosses;
    bool wants_losses, failed;
} part_t;

static void add_loss(part_t *part, ompp_loss_t loss)
{
    if (!part->wants_losses || !loss.lost_ns) return;
    ompp_loss_t *next = ompp_vector_push(&part->losses, &part->nlosses, &part->alosses, sizeof *next);
    if (next) *next = loss;
    else part->failed = true;
}

static void end_rank(cell_t *cell)
{
    if (cell->rank_ns > cell->most_ns) cell->most_ns = cell->rank_ns, cell->most = cell->rank;
    cell->rank_ns = 0;
}

static void add_cell(part_t *part, unsigned lost, unit_t *unit, uint64_t ns)
{
    cell_t *cell = &part->cells[lost];

    if (cell->rank != unit->rank) end_rank(cell);
    cell->rank = unit->rank;
    cell->ns += ns;
    cell->rank_ns += ns;
    part->e->lost_ns[lost] += ns;
    if (ompp_lost_rows[lost].level == OMPP_LEVEL_MPI) unit->mpi_ns += ns;
}

/* Part of a call's time; -1 = not known. */
static double waiting_of(const part_t *part, uint32_t region)
{
    ompp_meet_sum_t meet;
    ompp_pair_sum_t pair;

    if (ompp_analysis_meets(part->p, part->paths, region, &meet)) return meet.waiting;
    return ompp_analysis_pairs(part->p, part->paths, region, &pair) ? pair.part[0] + pair.part[1] : -1;
}

/* What is lost in MPI divides as all calls at that place do, where it is known. */
static void add_mpi(part_t *part, uint32_t region, unit_t *unit, uint64_t ns)
{
    if (part->waiting[region] < -1) part->waiting[region] = waiting_of(part, region);
    if (part->waiting[region] < 0) {
        add_cell(part, ompp_analysis_starts_mpi(part->p, region) ? OMPP_LOST_MPI_START : OMPP_LOST_MPI, unit, ns);
        return;
    }
    const uint64_t wait = (uint64_t)(part->waiting[region] * (double)ns);
    add_cell(part, OMPP_LOST_MPI_WAIT, unit, wait < ns ? wait : ns);
    add_cell(part, OMPP_LOST_MPI_TRANSFER, unit, wait < ns ? ns - wait : 0);
}

static void tell(part_t *part, unsigned lost, uint32_t region, unit_t *unit, uint64_t ns)
{
    if (lost == OMPP_LOST_MPI && region != OMPP_NONE) add_mpi(part, region, unit, ns);
    else add_cell(part, lost, unit, ns);
}

static void lose(part_t *part, unsigned lost, uint32_t region, unit_t *unit, uint64_t ns)
{
    if (part->tells) tell(part, lost, region, unit, ns);
    else unit->lost_ns += ns;
}

/* Other threads of the unit have nothing to do: not longer in all than they have nothing to do. */
static void hold(part_t *part, unsigned lost, uint32_t region, unit_t *unit, uint64_t ns)
{
    if (!part->tells) unit->held_ns += ns;
    else if (unit->held_ns <= unit->idle_ns) tell(part, lost, region, unit, ns);
    else tell(part, lost, region, unit, (uint64_t)((wide_t)ns * unit->idle_ns / unit->held_ns));
}

static void end_node(part_t *part, uint32_t node)
{
    for (unsigned lost = 0; part->tells && lost < OMPP_LOST_NUM; lost++) {
        cell_t *cell = &part->cells[lost];
        end_rank(cell);
        add_loss(part, (ompp_loss_t){lost, node ? part->p->nodes[node].region : OMPP_NONE, node ? node : OMPP_NONE,
                                     cell->most, cell->ns, cell->most_ns});
        *cell = (cell_t){0};
    }
}

static unit_t *unit_of(const part_t *part, uint32_t location)
{
    return part->unit[location] == OMPP_NONE ? NULL : &part->units[part->unit[location]];
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

/* A thread without others waits for nobody: what its constructs take is their cost. */
static bool waits_for_nobody(const unit_t *unit, unsigned lost)
{
    return unit->is_single && (lost == OMPP_LOST_IMBALANCE || lost == OMPP_LOST_LIMPAR || lost == OMPP_LOST_SYNCH);
}

static void add_block(part_t *part, uint32_t node, const ompp_block_t *block, unit_t *unit, bool alone)
{
    const uint32_t region = part->p->nodes[node].region;
    const unsigned construct = part->p->regions[region].construct;

    for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++) {
        const uint64_t time = block->values[ompp_value_index(s, OMPP_SLOT_TIME)],
                       own = ompp_less(time, block->values[ompp_value_index(s, OMPP_SLOT_CHILD)] +
                                                 block->values[ompp_value_index(s, OMPP_SLOT_TASK)]);
        unsigned lost =
            part->p->regions[region].flags & OMPP_REGION_F_LOOP ? OMPP_LOST_IMBALANCE : part->lost[construct][s];
        if (waits_for_nobody(unit, lost)) lost = OMPP_LOST_MANAGEMENT;
        if (!part->tells && part->paths->top[node] == node) part->top[block->location] += time;
        if (lost < OMPP_LOST_NUM) lose(part, lost, region, unit, own);
        else if (!part->tells) {
            part->useful[block->location] += own;
            unit->useful_ns += own;
        }
        if (alone)
            hold(part, lost == OMPP_LOST_MPI ? lost : OMPP_LOST_SERIAL, region, unit, (unit->nthreads - 1) * own);
    }
    if (part->measuring && !part->tells)
        part->measuring[block->location] += ompp_efficiency_measuring_ns(part->p, node, block, part->lost[construct]);
}

static uint64_t exec_of(const part_t *part, uint32_t node, const ompp_block_t *block)
{
    return ompp_analysis_value(part->p, node, block->location, OMPP_COLUMN_EXEC_T);
}

/* Threads that are in no team while others of their rank are. */
static void add_team(part_t *part, uint32_t n)
{
    const ompp_node_t *node = &part->p->nodes[n];

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t b = 0; b < node->nblocks; b++) {
            const ompp_block_t *block = &node->blocks[b];
            unit_t *unit = unit_of(part, block->location);
            if (!ompp_block_is_phases(block) || !unit) continue;
            if (pass == 0) {
                const uint64_t exec = exec_of(part, n, block);
                unit->sum_ns += exec;
                if (exec > unit->most_ns) unit->most_ns = exec;
            } else if (unit->most_ns) {
                hold(part, OMPP_LOST_UNUSED, node->region, unit,
                     ompp_less(unit->most_ns * unit->nthreads, unit->sum_ns));
                unit->sum_ns = unit->most_ns = 0;
            }
        }
}

static void add_node(part_t *part, uint32_t n)
{
    const ompp_profile_t *p = part->p;
    const ompp_node_t *node = &p->nodes[n];
    const bool alone = !part->inside && part->paths->fork[n] == 0 && !part->paths->own[n];

    if (ompp_construct_is_path(p->regions[node->region].construct)) return;
    for (uint32_t b = 0; b < node->nblocks; b++) {
        unit_t *unit = unit_of(part, node->blocks[b].location);
        if (ompp_block_is_phases(&node->blocks[b]) && unit) add_block(part, n, &node->blocks[b], unit, alone);
    }
    if (part->paths->fork[n] == n && part->paths->fork[node->parent] == 0 && !part->inside) add_team(part, n);
    end_node(part, n);
}

/* What a thread does outside of all regions: its own time less theirs. Workers have nothing to do there. */
static void add_outside(part_t *part)
{
    const ompp_profile_t *p = part->p;

    for (uint32_t l = 0; l < p->nlocations; l++) {
        unit_t *unit = unit_of(part, l);
        const ompp_location_t *location = &p->locations[l];
        uint64_t all = 0;
        if (!unit || part->region != OMPP_NONE) continue;
        if (location->kind == OMPP_THREAD_INITIAL) all = unit->length_ns;
        if (location->kind == OMPP_THREAD_OTHER) all = ompp_less(location->end_ns, location->begin_ns);
        const uint64_t outside = ompp_less(all, part->top[l]);
        if (!part->tells) {
            part->useful[l] += outside;
            unit->useful_ns += outside;
        }
        if (location->kind == OMPP_THREAD_INITIAL)
            hold(part, OMPP_LOST_SERIAL, OMPP_NONE, unit, (unit->nthreads - 1) * outside);
    }
    end_node(part, 0);
}

/* ---- Which threads, how long ------------------------------------------------------------------------------------- */

/* A node of the region that no other one of it is above. */
static bool is_outermost(const part_t *part, uint32_t node)
{
    for (uint32_t n = part->p->nodes[node].parent; n != 0; n = part->p->nodes[n].parent)
        if (part->p->nodes[n].region == part->region) return false;
    return true;
}

static void take_ranks(part_t *part)
{
    const ompp_profile_t *p = part->p;

    part->nunits = p->nranks_kept;
    for (size_t r = 0; r < p->nranks_kept; r++)
        part->units[r] = (unit_t){.rank = p->ranks[r].rank, .length_ns = p->ranks[r].duration_ns};
    for (uint32_t l = 0; l < p->nlocations; l++) {
        const size_t r = ompp_analysis_rank_index(p, p->locations[l].rank);
        part->unit[l] = r < p->nranks_kept ? (uint32_t)r : OMPP_NONE;
        if (r < p->nranks_kept) part->units[r].nthreads++;
    }
    for (size_t r = 0; r < p->nranks_kept; r++) part->units[r].is_single = part->units[r].nthreads <= 1;
}

/* Of a user region: the ranks, or the threads, that run it. \return false: it is run in both ways. */
static bool take_region(part_t *part)
{
    const ompp_profile_t *p = part->p;
    bool in_team = false, out_of_it = false;

    take_ranks(part);
    for (const uint32_t *n = ompp_paths_begin(part->paths, part->region); n < ompp_paths_end(part->paths, part->region);
         n++)
        *(part->paths->fork[*n] || part->paths->own[*n] ? &in_team : &out_of_it) = true;
    part->inside = in_team;
    if (part->inside) {
        part->nunits = p->nlocations;
        for (uint32_t l = 0; l < p->nlocations; l++) {
            part->unit[l] = p->locations[l].rank == OMPP_NONE ? OMPP_NONE : l;
            const size_t r = ompp_analysis_rank_index(p, p->locations[l].rank);
            part->units[l] = (unit_t){.rank = p->locations[l].rank,
                                      .is_single = r < p->nranks_kept && p->ranks[r].nthreads <= 1,
                                      .nthreads = 1};
        }
    }
    for (size_t u = 0; u < part->nunits; u++) part->units[u].length_ns = 0;
    for (const uint32_t *n = ompp_paths_begin(part->paths, part->region); n < ompp_paths_end(part->paths, part->region);
         n++) {
        const uint32_t nblocks = is_outermost(part, *n) ? p->nodes[*n].nblocks : 0;
        for (uint32_t b = 0; b < nblocks; b++) {
            const ompp_block_t *block = &p->nodes[*n].blocks[b];
            unit_t *unit = unit_of(part, block->location);
            if (ompp_block_is_phases(block) && unit) unit->length_ns += exec_of(part, *n, block);
        }
    }
    for (size_t u = 0; u < part->nunits; u++)
        if (!part->units[u].length_ns) part->units[u].nthreads = 0;
    return !in_team || !out_of_it;
}

static void add_nodes(part_t *part)
{
    const ompp_profile_t *p = part->p;

    if (part->region == OMPP_NONE) {
        for (uint32_t n = 1; n < p->nnodes; n++) add_node(part, n);
        return;
    }
    for (const uint32_t *n = ompp_paths_begin(part->paths, part->region); n < ompp_paths_end(part->paths, part->region);
         n++) {
        const uint32_t end = is_outermost(part, *n) ? part->end[*n] : 0;
        for (uint32_t i = part->begin[*n]; i < end; i++) add_node(part, part->order[i]);
    }
}

/* ---- Efficiencies ------------------------------------------------------------------------------------------------ */

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

static ompp_pop_t pop(double mean, double most, double length)
{
    if (most > length) most = length;
    return (ompp_pop_t){
        .parallel = ratio(mean, length), .balance = ratio(mean, most), .communication = ratio(most, length)};
}

/* Between what the thread or rank with the most work does, which is to be done in any case, and all of the time. */
static double possible(const ompp_pop_t *pop, double transfer)
{
    return transfer < pop->communication ? pop->communication : transfer > 1 ? 1 : transfer;
}

static bool divide_communication(const ompp_profile_t *p, ompp_whatif_ideal_t ideal, ompp_pop_t *pop, bool *is_estimate)
{
    ompp_ideal_gain_t gain;

    if (!ompp_analysis_ideal_clock(p, ideal, &gain)) return false;
    pop->transfer = possible(pop, 1 - gain.gain);
    pop->serialisation = ratio(pop->communication, pop->transfer);
    if (gain.is_known) pop->low = possible(pop, 1 - gain.high), pop->high = possible(pop, 1 - gain.low);
    *is_estimate = gain.is_estimate;
    return true;
}

static void divide_all(const ompp_profile_t *p, ompp_efficiency_t *e)
{
    ompp_pop_t *all = &e->all, *mpi = &e->mpi, *openmp = &e->openmp;

    if (!divide_communication(p, OMPP_WHATIF_NO_COST, all, &e->is_estimate) ||
        !divide_communication(p, OMPP_WHATIF_NO_NETWORK, mpi, &e->is_estimate))
        return;
    openmp->serialisation = ratio(all->serialisation, mpi->serialisation);
    openmp->transfer = ratio(all->transfer, mpi->transfer);
    if (all->high > 0 && mpi->low > 0) openmp->low = all->low / mpi->high, openmp->high = all->high / mpi->low;
}

/* Threads of the unit that are done before others; and what nobody knows. */
static void add_rest(part_t *part, uint64_t length_ns)
{
    uint64_t known = 0, idle = 0;

    for (size_t u = 0; u < part->nunits; u++) {
        unit_t *unit = &part->units[u];
        const uint64_t ended = unit->nthreads * ompp_less(length_ns, unit->length_ns);
        if (unit->nthreads) hold(part, part->inside ? OMPP_LOST_IMBALANCE : OMPP_LOST_ENDED, OMPP_NONE, unit, ended);
        end_node(part, 0);
        if (part->tells) idle += unit->idle_ns + unit->lost_ns;
    }
    for (unsigned lost = 0; lost < OMPP_LOST_NUM; lost++) known += part->e->lost_ns[lost];
    if (!part->tells || idle == known) return;
    part->e->lost_ns[OMPP_LOST_REST] += idle - known;
    add_loss(part, (ompp_loss_t){OMPP_LOST_REST, OMPP_NONE, OMPP_NONE, OMPP_NONE, idle - known, 0});
}

/* Told where it is not so little that the parts of the run would not show it. */
static void take_measuring(part_t *part)
{
    ompp_efficiency_t *e = part->e;
    uint64_t sum = 0;

    for (uint32_t l = 0; l < part->p->nlocations; l++)
        sum += part->measuring[l] < (double)part->useful[l] ? (uint64_t)part->measuring[l] : part->useful[l];
    if (sum >= e->thread_ns / 1000) e->measuring_ns = sum < e->useful_ns ? sum : e->useful_ns;
    part->measuring = NULL;
}

/* \return whether there is anything. */
static bool measure(part_t *part)
{
    ompp_efficiency_t *e = part->e;
    uint64_t length = 0, most = 0;
    double most_outside = 0;
    uint32_t last = OMPP_NONE;

    memset(part->useful, 0, part->p->nlocations * sizeof *part->useful);
    memset(part->top, 0, part->p->nlocations * sizeof *part->top);
    for (size_t u = 0; u < part->nunits; u++)
        if (part->units[u].length_ns > length) length = part->units[u].length_ns;
    for (int pass = 0; pass < 2; pass++) {
        part->tells = pass;
        add_nodes(part);
        add_outside(part);
        add_rest(part, length);
        /* Clocks of ranks differ a little: the whole is what its parts are. */
        for (size_t u = 0; u < part->nunits && pass == 0; u++)
            part->units[u].idle_ns =
                ompp_less(length * part->units[u].nthreads, part->units[u].useful_ns + part->units[u].lost_ns);
    }
    for (size_t u = 0; u < part->nunits; u++) {
        const unit_t *unit = &part->units[u];
        e->nthreads += unit->nthreads;
        e->nranks += unit->nthreads && unit->rank != last;
        if (unit->nthreads) last = unit->rank;
        e->useful_ns += unit->useful_ns;
        e->thread_ns += unit->useful_ns + unit->lost_ns + unit->idle_ns;
    }
    for (uint32_t l = 0; l < part->p->nlocations; l++)
        if (part->useful[l] > most) most = part->useful[l];
    if (part->measuring) take_measuring(part);
    if (!e->thread_ns || !most) return false;
    const double n = (double)e->nthreads, all = (double)e->thread_ns / n;
    for (size_t u = 0; u < part->nunits; u++) {
        const unit_t *unit = &part->units[u];
        const uint64_t outside = unit->useful_ns + unit->lost_ns + unit->idle_ns - unit->mpi_ns;
        if (unit->nthreads && (double)outside / (double)unit->nthreads > most_outside)
            most_outside = (double)outside / (double)unit->nthreads;
    }
    const uint64_t mpi = ompp_efficiency_lost(e, OMPP_LEVEL_MPI);
    if (part->inside) most_outside = all; /* threads, not ranks, are compared */
    e->all = pop((double)e->useful_ns / n, (double)most, all);
    e->mpi = pop((double)(e->thread_ns - mpi) / n, most_outside, all);
    e->openmp = (ompp_pop_t){.parallel = ratio(e->all.parallel, e->mpi.parallel),
                             .balance = ratio(e->all.balance, e->mpi.balance),
                             .communication = ratio(e->all.communication, e->mpi.communication)};
    if (part->region == OMPP_NONE) divide_all(part->p, e);
    return true;
}

uint64_t ompp_efficiency_lost(const ompp_efficiency_t *e, ompp_level_t level)
{
    uint64_t sum = 0;

    for (unsigned lost = 0; lost < OMPP_LOST_NUM; lost++)
        if (ompp_lost_rows[lost].level == level) sum += e->lost_ns[lost];
    return sum;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static bool prepare(part_t *part)
{
    const ompp_profile_t *p = part->p;
    const size_t nunits = p->nlocations > p->nranks_kept ? p->nlocations : p->nranks_kept;
    uint32_t *first = calloc(2 * p->nnodes, sizeof *first), *next = first + p->nnodes, node = 0, i = 0;

    part->order = calloc(3 * p->nnodes, sizeof *part->order);
    part->begin = part->order + p->nnodes;
    part->end = part->begin + p->nnodes;
    part->units = calloc(nunits + 1, sizeof *part->units);
    part->unit = calloc(p->nlocations + 1, sizeof *part->unit);
    part->useful = calloc(2 * (p->nlocations + 1), sizeof *part->useful);
    part->top = part->useful + p->nlocations + 1;
    part->lost = calloc(OMPP_CONSTRUCT_NUM, sizeof *part->lost);
    part->waiting = calloc(p->nregions + 1, sizeof *part->waiting);
    const bool memory =
        first && part->order && part->units && part->unit && part->useful && part->lost && part->waiting;
    for (unsigned c = 0; memory && c < OMPP_CONSTRUCT_NUM; c++)
        for (unsigned s = 0; s < ompp_constructs[c].nphases; s++) part->lost[c][s] = ompp_efficiency_lost_in(c, s);
    for (size_t r = 0; memory && r < p->nregions; r++) part->waiting[r] = -2;
    for (size_t n = p->nnodes; memory && n-- > 1;) {
        next[n] = first[p->nodes[n].parent];
        first[p->nodes[n].parent] = (uint32_t)n;
    }
    while (memory) {
        part->begin[node] = i;
        part->order[i++] = node;
        if (first[node]) {
            node = first[node];
            continue;
        }
        for (part->end[node] = i; node && !next[node]; part->end[node] = i) node = p->nodes[node].parent;
        if (!node) break;
        node = next[node];
    }
    free(first);
    return memory;
}

static void release(part_t *part)
{
    free(part->order);
    free(part->units);
    free(part->unit);
    free(part->useful);
    free(part->lost);
    free(part->waiting);
}

static int by_loss(const void *a, const void *b)
{
    const ompp_loss_t *x = a, *y = b;

    if (x->lost_ns != y->lost_ns) return x->lost_ns > y->lost_ns ? -1 : 1;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->lost != y->lost) return x->lost < y->lost ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_time(const void *a, const void *b)
{
    const ompp_efficiency_t *x = a, *y = b;

    if (x->thread_ns != y->thread_ns) return x->thread_ns > y->thread_ns ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

/* Nodes that are walked through for a region: its own, and what is below them. */
static size_t walk_of(const part_t *part, uint32_t region)
{
    size_t sum = 0;

    for (const uint32_t *n = ompp_paths_begin(part->paths, region); n < ompp_paths_end(part->paths, region); n++)
        sum += part->end[*n] - part->begin[*n];
    return sum;
}

/* User regions by the time that is in them, in place of their efficiency. \return how many. */
static size_t find_regions(const part_t *part, ompp_efficiency_t *all)
{
    const ompp_profile_t *p = part->p;
    size_t n = 0;

    for (uint32_t r = 0; r < p->nregions; r++) {
        uint64_t sum = 0;
        if (p->regions[r].construct != OMPP_CONSTRUCT_USER_REGION) continue;
        for (const uint32_t *node = ompp_paths_begin(part->paths, r); node < ompp_paths_end(part->paths, r); node++)
            for (uint32_t b = 0; b < p->nodes[*node].nblocks; b++)
                if (ompp_block_is_phases(&p->nodes[*node].blocks[b]))
                    sum += exec_of(part, *node, &p->nodes[*node].blocks[b]);
        if (sum) all[n++] = (ompp_efficiency_t){.region = r, .thread_ns = sum};
    }
    if (n) qsort(all, n, sizeof *all, by_time);
    return n < OMPP_EFFICIENCY_REGIONS ? n : OMPP_EFFICIENCY_REGIONS;
}

int ompp_analysis_efficiency(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_efficiency_t **all, size_t *n,
                             ompp_loss_t **losses, size_t *nlosses)
{
    part_t part = {.p = p, .paths = paths, .region = OMPP_NONE, .wants_losses = losses != NULL};
    ompp_efficiency_t *found = calloc(p->nregions + 1, sizeof *found);
    double *measuring = calloc(p->nlocations + 1, sizeof *measuring);
    size_t nfound = 0, walked = 0;

    *all = NULL;
    *n = 0;
    if (losses) *losses = NULL, *nlosses = 0;
    if (prepare(&part) && found && measuring) {
        part.e = &found[0];
        found[0].region = OMPP_NONE;
        take_ranks(&part);
        if ((double)ompp_own_told_permille(p) >= 1000 * OMPP_OWN_PART) part.measuring = measuring;
        if (measure(&part)) nfound = 1 + find_regions(&part, found + 1), *n = 1;
        part.wants_losses = false;
        for (size_t i = 1; i < nfound; i++) {
            walked += walk_of(&part, found[i].region);
            if (walked > OMPP_EFFICIENCY_WALKS * p->nnodes) break;
            part.e = &found[*n];
            part.region = found[i].region;
            *part.e = (ompp_efficiency_t){.region = part.region};
            if (take_region(&part) && measure(&part)) (*n)++;
        }
        if (*n > 2) qsort(found + 1, *n - 1, sizeof *found, by_time);
    } else {
        part.failed = true;
    }
    release(&part);
    free(measuring);
    if (part.failed || !*n) {
        free(part.losses);
        free(found);
        *n = 0;
        return part.failed ? -OMPP_E_NOMEM : 0;
    }
    *all = found;
    if (losses) {
        if (part.nlosses) qsort(part.losses, part.nlosses, sizeof *part.losses, by_loss);
        *losses = part.losses;
        *nlosses = part.nlosses;
    }
    return 0;
}
