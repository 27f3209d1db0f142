#include "analysis/ompp_own.h"

#include "analysis/ompp_sample_sums.h"
#include "analysis/ompp_thinned.h"
#include "analysis/ompp_values.h"
#include "model/ompp_counted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One block --------------------------------------------------------------------------------------------------- */

/* The rank whose costs count: of those that are not kept, the first one that is. */
static const ompp_rank_t *rank_of(const ompp_profile_t *p, uint32_t location)
{
    const size_t r = ompp_analysis_rank_index(p, p->locations[location].rank);

    if (!p->nranks_kept) return NULL;
    return &p->ranks[r < p->nranks_kept ? r : 0];
}

double ompp_own_cost(const ompp_profile_t *p, uint32_t location, ompp_cost_t kind, bool inside)
{
    const ompp_rank_t *rank = rank_of(p, location);

    if (!rank) return 0;
    return (double)(inside ? rank->inside_ps : rank->cost_ps)[kind] / 1000;
}

/* Of the thread that asked for iterations at a node. */
static double asking_ns(const ompp_profile_t *p, uint32_t node, uint32_t location)
{
    const uint32_t set = ompp_analysis_find_set(p, ompp_chunk_metrics, OMPP_METRIC_CHUNK_NUM);
    const ompp_block_t *block = set ? ompp_profile_find_block(p, node, location, set, 0) : NULL;

    if (!block || block->nvalues != OMPP_METRIC_CHUNK_NUM) return 0;
    return (double)block->values[OMPP_METRIC_CHUNK_ASKS] * ompp_own_cost(p, location, OMPP_COST_CHUNK, false);
}

static ompp_cost_t kind_of(const ompp_region_t *region)
{
    const ompp_construct_row_t *c = &ompp_constructs[region->construct];
    const ompp_cost_t brief = ompp_construct_brief_cost(region->construct, false);

    if (region->flags & OMPP_REGION_F_COUNTED) return OMPP_COST_COUNT;
    if (region->flags & OMPP_REGION_F_FUNCTION) return OMPP_COST_FUNCTION;
    if (brief != OMPP_COST_NUM) return brief;
    if (region->construct == OMPP_CONSTRUCT_MPI) return OMPP_COST_CALL;
    if (c->flags & OMPP_CONSTRUCT_F_TASK) return OMPP_COST_TASK;
    return ompp_construct_forks(region->construct) ? OMPP_COST_TEAM : OMPP_COST_ENTER;
}

/* Executions of a node that are only counted: they have nothing of ours inside. Local calls of MPI are not timed. */
static uint64_t counted_of(const ompp_profile_t *p, uint32_t node, const ompp_block_t *block)
{
    const unsigned construct = p->regions[p->nodes[node].region].construct;

    if (construct == OMPP_CONSTRUCT_MPI)
        return ompp_less(block->values[0], block->values[ompp_value_index(0, OMPP_SLOT_COUNT)]);
    return ompp_construct_brief_cost(construct, true) != OMPP_COST_NUM ? ompp_thinned_untimed(p, node, block->location)
                                                                       : 0;
}

static ompp_cost_t counted_cost(unsigned construct)
{
    return construct == OMPP_CONSTRUCT_MPI ? OMPP_COST_COUNT : ompp_construct_brief_cost(construct, true);
}

/* Times that the region moved on from its first phase. */
static double moves(const ompp_construct_row_t *c, const ompp_block_t *block)
{
    double sum = 0;

    for (unsigned s = 1; s < c->nphases; s++) sum += (double)block->values[ompp_value_index(s, OMPP_SLOT_COUNT)];
    return sum;
}

double ompp_own_events_ns(const ompp_profile_t *p, uint32_t node, const ompp_block_t *block)
{
    const ompp_region_t *region = &p->regions[p->nodes[node].region];
    const ompp_rank_t *rank = rank_of(p, block->location);
    const ompp_cost_t kind = kind_of(region);

    if (!rank || ompp_construct_is_path(region->construct)) return 0;
    const uint64_t counted = counted_of(p, node, block);
    double ps = (double)ompp_less(block->values[0], counted) * rank->cost_ps[kind];
    if (counted) ps += (double)counted * rank->cost_ps[counted_cost(region->construct)];
    if (kind == OMPP_COST_ENTER)
        ps += moves(&ompp_constructs[region->construct], block) * rank->cost_ps[OMPP_COST_PHASE];
    const bool loops = region->construct == OMPP_CONSTRUCT_LOOP || region->construct == OMPP_CONSTRUCT_PARLOOP;
    return ps / 1000 + (loops ? asking_ns(p, node, block->location) : 0);
}

static double events_in_phase(const ompp_profile_t *p, uint32_t node, const ompp_block_t *block, unsigned slot)
{
    const ompp_region_t *region = &p->regions[p->nodes[node].region];
    const ompp_rank_t *rank = rank_of(p, block->location);
    const bool several = ompp_constructs[region->construct].nphases > 1;
    ompp_cost_t kind = kind_of(region);

    if (!rank || ompp_construct_is_path(region->construct)) return 0;
    if (kind == OMPP_COST_ENTER && several) kind = OMPP_COST_PHASE;
    const uint64_t n = several ? block->values[ompp_value_index(slot, OMPP_SLOT_COUNT)] : block->values[0];
    return (double)ompp_less(n, counted_of(p, node, block)) * rank->inside_ps[kind] / 1000;
}

double ompp_own_around_ns(const ompp_profile_t *p, uint32_t node, const ompp_block_t *block)
{
    const unsigned nphases = ompp_constructs[p->regions[p->nodes[node].region].construct].nphases;
    double around = ompp_own_events_ns(p, node, block);

    for (unsigned s = 0; s < nphases; s++) around -= events_in_phase(p, node, block, s);
    return fmax(around, 0);
}

/* Without children and tasks. */
static uint64_t time_alone(const ompp_block_t *block, unsigned slot)
{
    return ompp_less(block->values[ompp_value_index(slot, OMPP_SLOT_TIME)],
                     block->values[ompp_value_index(slot, OMPP_SLOT_CHILD)] +
                         block->values[ompp_value_index(slot, OMPP_SLOT_TASK)]);
}

/* Blocks of a rank lie side by side. \param[out] end  behind its last one. \return the first one. */
static const ompp_block_t *of_rank(const ompp_profile_t *p, const ompp_node_t *node, const ompp_block_t *block,
                                   const ompp_block_t **end)
{
    const uint32_t rank = p->locations[block->location].rank;
    const ompp_block_t *b = block, *last = node->blocks + node->nblocks;

    while (b > node->blocks && p->locations[b[-1].location].rank == rank) b--;
    for (*end = block; *end < last && p->locations[(*end)->location].rank == rank;) ++*end;
    return b;
}

/* ns: the least that a thread of the block's rank was in the phase. */
static uint64_t least_of_team(const ompp_profile_t *p, const ompp_node_t *node, const ompp_block_t *block,
                              unsigned slot)
{
    const ompp_block_t *end, *b = of_rank(p, node, block, &end);
    uint64_t least = UINT64_MAX;

    for (; b < end; b++)
        if (ompp_block_is_phases(b) && time_alone(b, slot) < least) least = time_alone(b, slot);
    return least;
}

static double unfinished(const ompp_profile_t *p, uint32_t n, const ompp_block_t *block)
{
    const uint32_t parent = p->nodes[n].parent;
    const ompp_block_t *around = ompp_profile_find_block(p, parent, block->location, OMPP_SET_PHASES, 0);
    const ompp_construct_row_t *c = parent ? &ompp_constructs[p->regions[p->nodes[parent].region].construct] : NULL;
    const double most = OMPP_OWN_AHEAD * (double)block->values[0];
    double work = -ompp_own_around_ns(p, n, block) - most; /* own cost is not known better */

    for (unsigned s = 0; c && around && s < c->nphases; s++)
        if (ompp_phase_is_work[c->phases[s]]) work += (double)time_alone(around, s);
    return fmin(fmax(work, 0), most);
}

double ompp_own_unfinished_of(const ompp_profile_t *p, uint32_t n)
{
    double sum = 0;

    for (uint32_t b = 0; b < p->nodes[n].nblocks; b++)
        if (ompp_block_is_phases(&p->nodes[n].blocks[b])) sum += unfinished(p, n, &p->nodes[n].blocks[b]);
    return sum;
}

double ompp_own_barrier_ns(const ompp_profile_t *p, uint32_t n, const ompp_block_t *block)
{
    const unsigned construct = p->regions[p->nodes[n].region].construct;
    const unsigned first = ompp_phase_slot(construct, OMPP_PHASE_EXITBAR),
                   second = ompp_phase_slot(construct, OMPP_PHASE_SHUTDWN);

    if (strncmp(ompp_profile_text(p, p->source), "OPARI2", 6) != 0 || !ompp_construct_forks(construct)) return 0;
    if (first == OMPP_NO_SLOT || second == OMPP_NO_SLOT) return 0;
    const double all = fmin((double)least_of_team(p, &p->nodes[n], block, first), (double)time_alone(block, second));
    return fmax(all - events_in_phase(p, n, block, second), 0);
}

/* ns that a thread had the lock. \param[out] own  of these: half of what events took, those between set and unset. */
static double held_ns(const ompp_profile_t *p, uint32_t n, const ompp_block_t *block, double *own)
{
    const unsigned construct = p->regions[p->nodes[n].region].construct;
    const unsigned slots[] = {ompp_phase_slot(construct, OMPP_PHASE_BODY), ompp_phase_slot(construct, OMPP_PHASE_EXIT)};
    double held = *own = ompp_own_events_ns(p, n, block) / 2;

    for (unsigned i = 0; i < 2; i++)
        held += fmax((double)block->values[ompp_value_index(slots[i], OMPP_SLOT_TIME)] -
                         events_in_phase(p, n, block, slots[i]),
                     0);
    return held;
}

double ompp_own_waits_ns(const ompp_profile_t *p, uint32_t n, const ompp_block_t *block)
{
    const unsigned construct = p->regions[p->nodes[n].region].construct,
                   slot = ompp_phase_slot(construct, OMPP_PHASE_ENTER);
    const ompp_block_t *end, *b = of_rank(p, &p->nodes[n], block, &end);
    double held = 0, own = 0;

    if (construct != OMPP_CONSTRUCT_CRITICAL && construct != OMPP_CONSTRUCT_LOCK) return 0;
    for (; b < end; b++) {
        double part;
        if (b == block || !ompp_block_is_phases(b)) continue;
        held += held_ns(p, n, b, &part);
        own += part;
    }
    const double waited = (double)time_alone(block, slot) - events_in_phase(p, n, block, slot);
    return held > 0 && waited > 0 ? fmin(waited * own / held, own) : 0;
}

double ompp_own_ns(const ompp_profile_t *p, uint32_t node, const ompp_block_t *block)
{
    return ompp_own_events_ns(p, node, block) + ompp_own_barrier_ns(p, node, block) + ompp_own_waits_ns(p, node, block);
}

uint64_t ompp_own_in_phase(const ompp_profile_t *p, uint32_t node, const ompp_block_t *block, unsigned slot)
{
    const unsigned construct = p->regions[p->nodes[node].region].construct;
    double own = events_in_phase(p, node, block, slot);
    const uint64_t alone = time_alone(block, slot);

    if (slot == ompp_phase_slot(construct, OMPP_PHASE_SHUTDWN)) own += ompp_own_barrier_ns(p, node, block);
    if (slot == ompp_phase_slot(construct, OMPP_PHASE_ENTER)) own += ompp_own_waits_ns(p, node, block);
    return own < (double)alone ? (uint64_t)own : alone;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

double *ompp_own_below(const ompp_profile_t *p)
{
    double *below = calloc(p->nnodes + 1, sizeof *below);

    for (size_t n = p->nnodes; below && n-- > 1;) { /* children before parents */
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++)
            if (ompp_block_is_phases(&p->nodes[n].blocks[b]))
                below[n] += ompp_own_ns(p, (uint32_t)n, &p->nodes[n].blocks[b]);
        below[p->nodes[n].parent] += below[n];
    }
    return below;
}

/* Of a node over all locations: execT, and what its events took outside of it. */
static double whole_time(const ompp_profile_t *p, uint32_t n)
{
    const ompp_node_t *node = &p->nodes[n];
    const unsigned nphases = ompp_constructs[p->regions[node->region].construct].nphases;
    double sum = 0;

    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (!ompp_block_is_phases(block)) continue;
        sum += ompp_own_ns(p, n, block);
        for (unsigned s = 0; s < nphases; s++)
            sum +=
                (double)block->values[ompp_value_index(s, OMPP_SLOT_TIME)] - (double)ompp_own_in_phase(p, n, block, s);
    }
    return sum;
}

double ompp_own_share(const ompp_profile_t *p, const ompp_paths_t *paths, const double *below, uint32_t region)
{
    double own = 0, time = 0;

    for (const uint32_t *n = ompp_paths_begin(paths, region); n < ompp_paths_end(paths, region); n++) {
        own += below[*n];
        time += whole_time(p, *n);
    }
    if (time <= 0) return 0;
    return own < time ? own / time : 1;
}

uint64_t ompp_own_told_permille(const ompp_profile_t *p)
{
    uint64_t told = 0;

    for (size_t i = 0; i < p->ncoverage; i++) {
        const ompp_coverage_kind_t kind = p->coverage[i].kind;
        if (kind == OMPP_COVERAGE_OWN_SAMPLED) return 0;
        if (kind == OMPP_COVERAGE_OWN || kind == OMPP_COVERAGE_OWN_MUCH) told = p->coverage[i].count;
    }
    return told;
}

uint64_t ompp_own_much_permille(const ompp_profile_t *p)
{
    uint64_t most = 0;

    for (size_t i = 0; i < p->ncoverage; i++) {
        const ompp_coverage_t *c = &p->coverage[i];
        if ((c->kind == OMPP_COVERAGE_OWN_MUCH || c->kind == OMPP_COVERAGE_OWN_SAMPLED) && c->count > most)
            most = c->count;
    }
    return most;
}

/* ---- Coverage ---------------------------------------------------------------------------------------------------- */

typedef struct {
    double ns, most_ns; /* of all, of construct */
    double barriers_ns; /* of most_ns: second barriers */
    unsigned construct; /* which took most */
    bool functions;     /* they are functions */
} own_sum_t;

static own_sum_t sum_up(const ompp_profile_t *p)
{
    double by_construct[OMPP_CONSTRUCT_NUM + 1] = {0}; /* the last one: functions */
    double barriers[OMPP_CONSTRUCT_NUM + 1] = {0};
    own_sum_t sum = {0};

    for (uint32_t n = 1; n < p->nnodes; n++) {
        const ompp_region_t *region = &p->regions[p->nodes[n].region];
        const unsigned at = region->flags & OMPP_REGION_F_FUNCTION ? OMPP_CONSTRUCT_NUM : region->construct;
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[n].blocks[b];
            if (!ompp_block_is_phases(block)) continue;
            by_construct[at] += ompp_own_ns(p, n, block);
            barriers[at] += ompp_own_barrier_ns(p, n, block);
        }
    }
    for (unsigned c = 0; c <= OMPP_CONSTRUCT_NUM; c++) {
        sum.ns += by_construct[c];
        if (by_construct[c] <= sum.most_ns) continue;
        sum.most_ns = by_construct[c];
        sum.barriers_ns = barriers[c];
        sum.functions = c == OMPP_CONSTRUCT_NUM;
        sum.construct = sum.functions ? OMPP_CONSTRUCT_USER_REGION : c;
    }
    return sum;
}

/* What makes it less. */
static void remedy(const own_sum_t *sum, char *text, size_t size)
{
    const ompp_construct_row_t *c = &ompp_constructs[sum->construct];

    if (sum->functions) snprintf(text, size, "OMPP_FUNCTIONS=-NAME leaves out functions");
    else if (sum->barriers_ns > sum->most_ns / 2)
        snprintf(text, size, "OPARI2 adds a barrier to each: programs built with clang, and ompp --, have none");
    else if (c->env && sum->construct == OMPP_CONSTRUCT_ATOMIC)
        snprintf(text, size, "%s=1, or kinst-ompp --disable=atomic, leaves it out", c->env);
    else if (c->env) snprintf(text, size, "%s=1 leaves it out", c->env);
    else snprintf(text, size, "fewer and larger ones cost less");
}

static void say(ompp_profile_t *p, ompp_coverage_kind_t kind, const char *what, const char *reason, uint64_t permille)
{
    ompp_profile_add_coverage(p, kind, what, reason, permille);
    if (p->ncoverage) p->coverage[p->ncoverage - 1].nranks = 0; /* said of the run */
}

static const char *sampled_remedy(const ompp_profile_t *p)
{
    size_t i = 0;

    while (i < p->nmetrics && strcmp(ompp_profile_text(p, p->metrics[i].source), OMPP_COUNTED_SOURCE) != 0) i++;
    if (i == p->nmetrics) return NULL;
    return *ompp_profile_setting(p, "OMPP_DATA") ? "a program built without --memory has its own times"
                                                 : "a program built without --memory has its own times; OMPP_DATA=NAME "
                                                   "counts for less data, in less time";
}

/* Of the processor time, what ompp had: counts of loads and stores, simulated caches, and call paths are no events. */
static void say_sampled(ompp_profile_t *p, uint64_t events_permille)
{
    ompp_samples_t samples;

    if (ompp_samples_init(&samples, p) != 0) return;
    const uint64_t permille =
        samples.total >= OMPP_OWN_SAMPLES && samples.total_ns
            ? (uint64_t)(1000 * (double)samples.owner_ns[OMPP_CODE_OMPP] / (double)samples.total_ns)
            : 0;
    ompp_samples_fini(&samples);
    if (permille > events_permille + (uint64_t)(1000 * OMPP_OWN_MUCH))
        say(p, OMPP_COVERAGE_OWN_SAMPLED, "", sampled_remedy(p), permille);
}

void ompp_analysis_own(ompp_profile_t *profile)
{
    const double all = (double)ompp_analysis_duration(profile) * (double)profile->nslots;
    const own_sum_t sum = sum_up(profile);
    const char *what = sum.functions ? "functions" : ompp_constructs[sum.construct].full;
    const double share = all <= 0 ? 0 : sum.ns < all ? sum.ns / all : 1;
    const bool much = share >= OMPP_OWN_MUCH;
    const uint64_t permille = (uint64_t)(1000 * share + 0.5);
    char reason[120];

    remedy(&sum, reason, sizeof reason);
    if (permille) say(profile, much ? OMPP_COVERAGE_OWN_MUCH : OMPP_COVERAGE_OWN, what, much ? reason : NULL, permille);
    say_sampled(profile, permille);
}
