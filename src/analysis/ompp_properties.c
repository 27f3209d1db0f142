/*
 * Performance properties by the rules of ompp_property.def: each region is looked at on its own, with all its call
 * paths.
 */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/ompp_properties.h"

#include "analysis/ompp_alone.h"
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_chunks.h"
#include "analysis/ompp_idle.h"
#include "analysis/ompp_meanwhile.h"
#include "analysis/ompp_meets.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_tasks.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"

#include <stdlib.h>
#include <string.h>

#define OFTEN_PER_SECOND 1000.0
#define MESSAGE_NS 20000.0 /* more than a message needs before its bytes go */
#define BYTE_NS 5.0        /* and for a byte: 200 MB/s */
/* work in an execution of a loop: each chunk costs an atomic operation that all threads want */
#define TINY_NS 100000.0
#define SHORT_NS 1000000.0 /* work in a parallel region: starting and ending its threads takes some 10 us */
#define ONE_RANK 0.75      /* of all lateness: it is that rank, and no other */
#define LITTLE_BYTES 1024  /* of a collective call: it takes as long without them */
#define MUCH_BYTES 65536   /* of a call: more of them in one call gains little */
#define STARTED_NS 10e9    /* of a rank: MPI starts so slowly that it is worth a look */
#define BRIEF_NS 1000.0    /* in a lock: handing it over may take as long */
#define ENTER_NS 100.0     /* the same, and taking it takes as long */
#define QUICK_NS 2000.0    /* at a barrier: its own cost with some ten threads ... */
#define BARRIER_NS 20000.0 /* ... that have a processor each; else */
#define LISTED 0.001       /* of the run: less is not listed */
#define ALIKE 0.5          /* of what threads wait on average, the one that waits least */
#define SOME 4u            /* iterations for each thread: another schedule shares them evenly only by chance */
#define COSTLY 0.05        /* share of a region's thread time */

/* What one call works on, for one region after the other. */
typedef struct {
    const ompp_profile_t *profile;
    const ompp_paths_t *paths;
    const ompp_task_team_t *teams;     /* [nnodes] */
    const ompp_meanwhile_t *meanwhile; /* [nnodes] */
    uint64_t *pieces, *visits;         /* [nlocations] */
    uint64_t *own_ns;                  /* that was left out of what threads lose, so far */
    double basis;
    double waited; /* part of it, that threads waited for processors */
    /* MPI: thread time in the call, of it waiting for the last rank, that rank, and messages. */
    double busy, waiting;
    uint32_t late_rank;
    uint64_t colls, recvs, sends, bytes_in, bytes_out;
    double call_ns; /* time in these calls */
    bool compared;  /* call by call */
    ompp_meet_sum_t meet;
    bool paired; /* messages, one by one */
    ompp_pair_sum_t pair;
} find_t;

double ompp_analysis_basis(const ompp_profile_t *profile)
{
    return (double)ompp_analysis_duration(profile) * (double)profile->nslots;
}

/* The nodes of a region. */
static const uint32_t *begin(const find_t *f, uint32_t region) { return ompp_paths_begin(f->paths, region); }

static const uint32_t *end(const find_t *f, uint32_t region) { return ompp_paths_end(f->paths, region); }

static uint64_t to_ns(double ns) { return ns > 0 && ns < 1.8e19 ? (uint64_t)(ns + 0.5) : 0; }

/* ---- MPI calls --------------------------------------------------------------------------------------------------- */

/* The least time that a rank spent in this node, and which rank. */
static uint64_t least_of(const ompp_profile_t *p, const ompp_node_t *node, const uint64_t *rank_ns, uint32_t *rank)
{
    uint64_t least = UINT64_MAX;

    *rank = OMPP_NONE;
    for (size_t r = 0; r < p->nranks_kept; r++)
        if (rank_ns[r] && rank_ns[r] < least) {
            least = rank_ns[r];
            *rank = p->ranks[r].rank;
        }
    if (node->over_ranks.count && node->over_ranks.min < least) {
        least = node->over_ranks.min;
        *rank = node->over_ranks.min_rank;
    }
    return least;
}

/* Adds a call path of an MPI call. rank_ns: [nranks_kept], scratch. */
static void add_call(find_t *f, uint32_t n, uint64_t *rank_ns)
{
    const ompp_profile_t *p = f->profile;
    const ompp_node_t *node = &p->nodes[n];
    /* of the thread alone; else the other threads of the rank have nothing to do meanwhile */
    bool inside = f->paths->fork[n] != 0 || f->paths->own[n];
    double waiting = 0;
    uint32_t rank;

    memset(rank_ns, 0, p->nranks_kept * sizeof *rank_ns);
    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        size_t r = ompp_analysis_rank_index(p, p->locations[block->location].rank);
        if (block->set == OMPP_SET_PHASES && r < p->nranks_kept)
            rank_ns[r] += ompp_less(ompp_analysis_value(p, n, block->location, OMPP_COLUMN_EXEC_T),
                                    ompp_own_in_phase(p, n, block, 0));
        if (block->set != OMPP_SET_MPI || block->object != 0) continue;
        f->colls += block->values[OMPP_METRIC_COLLS];
        f->recvs += block->values[OMPP_METRIC_RECVS];
        f->sends += block->values[OMPP_METRIC_SENDS];
        f->bytes_in += block->values[OMPP_METRIC_BYTES_IN];
        f->bytes_out += block->values[OMPP_METRIC_BYTES_OUT];
    }
    uint64_t least = least_of(p, node, rank_ns, &rank);
    for (size_t r = 0; r < p->nranks_kept; r++) {
        double threads = inside ? 1 : p->ranks[r].nthreads;
        f->call_ns += (double)rank_ns[r];
        f->busy += threads * (double)rank_ns[r];
        if (rank_ns[r]) waiting += threads * (double)(rank_ns[r] - least);
    }
    if (node->over_ranks.count) {
        double threads = inside ? 1 : ompp_analysis_rest_threads(p);
        f->busy += threads * (double)node->over_ranks.sum;
        waiting += threads * ((double)node->over_ranks.sum - (double)node->over_ranks.count * (double)least);
    }
    if (waiting > f->waiting) f->late_rank = rank;
    f->waiting += waiting;
}

static bool add_calls(find_t *f, uint32_t region)
{
    uint64_t *rank_ns = calloc(f->profile->nranks_kept + 1, sizeof *rank_ns);

    f->busy = f->waiting = 0;
    f->colls = f->recvs = f->sends = f->bytes_in = f->bytes_out = 0;
    f->call_ns = 0;
    f->late_rank = OMPP_NONE;
    for (const uint32_t *n = begin(f, region); rank_ns && n < end(f, region); n++) add_call(f, *n, rank_ns);
    free(rank_ns);
    f->compared = ompp_analysis_meets(f->profile, f->paths, region, &f->meet);
    if (f->compared) f->late_rank = f->meet.rank, f->waiting = f->meet.waiting * f->busy;
    f->paired = ompp_analysis_pairs(f->profile, f->paths, region, &f->pair);
    return rank_ns != NULL;
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

/* Of a column that comes from the phases. */
static uint64_t column_sum(const find_t *f, uint32_t region, ompp_column_t column)
{
    uint64_t sum = 0;

    for (const uint32_t *n = begin(f, region); n < end(f, region); n++) {
        const ompp_node_t *node = &f->profile->nodes[*n];
        for (uint32_t b = 0; b < node->nblocks; b++)
            if (ompp_block_is_phases(&node->blocks[b]))
                sum += ompp_analysis_value(f->profile, *n, node->blocks[b].location, column);
    }
    return sum;
}

/* The column that counts the pieces of work of a construct; OMPP_COLUMN_NUM when it has none. */
static ompp_column_t piece_column(unsigned construct)
{
    const ompp_construct_row_t *c = &ompp_constructs[construct];

    for (unsigned i = 0; i < c->ncolumns; i++)
        if (ompp_columns[c->columns[i] & ~OMPP_COLUMN_SPLIT].source == OMPP_SOURCE_COUNT)
            return c->columns[i] & ~OMPP_COLUMN_SPLIT;
    return OMPP_COLUMN_NUM;
}

/* Threads that came executed different numbers of pieces. */
static bool is_uneven(find_t *f, uint32_t region, ompp_column_t column)
{
    const ompp_profile_t *p = f->profile;
    uint64_t least = UINT64_MAX, most = 0;

    memset(f->pieces, 0, p->nlocations * sizeof *f->pieces);
    memset(f->visits, 0, p->nlocations * sizeof *f->visits);
    for (const uint32_t *n = begin(f, region); n < end(f, region); n++)
        for (uint32_t b = 0; b < p->nodes[*n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[*n].blocks[b];
            if (!ompp_block_is_phases(block)) continue;
            f->pieces[block->location] += ompp_analysis_value(p, *n, block->location, column);
            f->visits[block->location] += ompp_analysis_value(p, *n, block->location, OMPP_COLUMN_EXEC_C);
        }
    for (uint32_t l = 0; l < p->nlocations; l++) {
        if (!f->visits[l] || p->locations[l].rank == OMPP_NONE) continue;
        if (f->pieces[l] < least) least = f->pieces[l];
        if (f->pieces[l] > most) most = f->pieces[l];
    }
    return most > least && least != UINT64_MAX;
}

/* Threads that wait for it wait for any other of the process, not for their team alone. */
static bool is_shared(unsigned construct)
{
    return construct == OMPP_CONSTRUCT_CRITICAL || construct == OMPP_CONSTRUCT_LOCK ||
           construct == OMPP_CONSTRUCT_ATOMIC;
}

/* What threads lose in a phase of a node, without tasks: those that are alone lose nothing to others. */
static uint64_t lost_in_phase(const find_t *f, uint32_t n, unsigned phase)
{
    const ompp_profile_t *p = f->profile;
    const unsigned construct = p->regions[p->nodes[n].region].construct, slot = ompp_phase_slot(construct, phase);
    bool (*const alone)(const ompp_profile_t *, const ompp_paths_t *, uint32_t, uint32_t) =
        is_shared(construct) ? ompp_analysis_unrivalled : ompp_analysis_alone;
    uint64_t sum = 0;

    for (uint32_t b = 0; slot != OMPP_NO_SLOT && b < p->nodes[n].nblocks; b++) {
        const ompp_block_t *block = &p->nodes[n].blocks[b];
        if (!ompp_block_is_phases(block)) continue;
        const uint64_t time = ompp_less(block->values[ompp_value_index(slot, OMPP_SLOT_TIME)],
                                        block->values[ompp_value_index(slot, OMPP_SLOT_TASK)]);
        const uint64_t lost = ompp_less(time, ompp_own_in_phase(p, n, block, slot));
        if (!time || alone(p, f->paths, n, block->location)) continue;
        sum += lost;
        *f->own_ns += time - lost;
    }
    /* A master that waits for its tasks shares its work, and calls of MPI have properties of their own. */
    return construct == OMPP_CONSTRUCT_MASTER ? ompp_less(sum, f->meanwhile[n].tasks + f->meanwhile[n].called) : sum;
}

/* Waits that the size of tasks explains are told of these (find_tasks). */
static uint64_t phase_of_region(const find_t *f, uint32_t region, unsigned phase)
{
    uint64_t sum = 0;

    for (const uint32_t *n = begin(f, region); n < end(f, region); n++)
        if (f->teams[f->paths->fork[*n]].size == OMPP_TASKS_FIT ||
            !ompp_analysis_waits_for_tasks(f->profile, *n, phase))
            sum += lost_in_phase(f, *n, phase);
    return sum;
}

/* What a thread works in an execution, in the mean: waiting and management do not make a loop longer, and tasks that
 * run meanwhile do. */
static bool works_less(const find_t *f, uint32_t region, double ns)
{
    const ompp_profile_t *p = f->profile;
    const ompp_construct_row_t *c = &ompp_constructs[p->regions[region].construct];
    double work = 0;

    for (const uint32_t *n = begin(f, region); n < end(f, region); n++)
        for (uint32_t b = 0; b < p->nodes[*n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[*n].blocks[b];
            if (!ompp_block_is_phases(block)) continue;
            for (unsigned slot = 0; slot < c->nphases; slot++) {
                const bool works = ompp_phase_is_work[c->phases[slot]];
                work += (double)block->values[ompp_value_index(slot, works ? OMPP_SLOT_TIME : OMPP_SLOT_TASK)];
            }
        }
    return work < ns * (double)column_sum(f, region, OMPP_COLUMN_EXEC_C);
}

/* Time of the threads in the body, without own cost. */
static double inside_of(const find_t *f, uint32_t region)
{
    const unsigned slot = ompp_phase_slot(f->profile->regions[region].construct, OMPP_PHASE_BODY);
    double sum = 0;

    for (const uint32_t *n = begin(f, region); slot != OMPP_NO_SLOT && n < end(f, region); n++)
        for (uint32_t b = 0; b < f->profile->nodes[*n].nblocks; b++) {
            const ompp_block_t *block = &f->profile->nodes[*n].blocks[b];
            if (!ompp_block_is_phases(block)) continue;
            sum += (double)ompp_less(block->values[ompp_value_index(slot, OMPP_SLOT_TIME)],
                                     ompp_own_in_phase(f->profile, *n, block, slot));
        }
    return sum;
}

/* Of the threads to enter, without own cost. */
static double waiting_for(const find_t *f, uint32_t region)
{
    return (double)phase_of_region(f, region, OMPP_PHASE_ENTER);
}

/* It is short, and threads wait longer than the time of all others inside explains: the rest is handing over. Or it is
 * so short that entering it takes as long. */
static bool hands_over(const find_t *f, uint32_t region, double inside, double waiting)
{
    const uint32_t threads = ompp_analysis_max_threads(f->profile);
    const double visits = (double)column_sum(f, region, OMPP_COLUMN_EXEC_C);

    if (inside < ENTER_NS * visits) return true;
    return inside < BRIEF_NS * visits && waiting > inside * (threads > 1 ? threads - 1 : 1);
}

/* Its calls, in the mean. */
static bool moves_much(const find_t *f, uint32_t region)
{
    return f->bytes_in + f->bytes_out >= MUCH_BYTES * column_sum(f, region, OMPP_COLUMN_EXEC_C);
}

static uint64_t exec_of(const ompp_profile_t *p, uint32_t node, const ompp_block_t *block)
{
    return ompp_block_is_phases(block) ? ompp_analysis_value(p, node, block->location, OMPP_COLUMN_EXEC_T) : 0;
}

/* What the next two look at goes through all nodes: only of what is worth it. */
static bool is_worth_a_look(const find_t *f, uint32_t region, unsigned construct, double most_each)
{
    const unsigned phase = construct == OMPP_CONSTRUCT_BARRIER ? OMPP_PHASE_EXEC : OMPP_PHASE_EXITBAR;
    const double waits = (double)phase_of_region(f, region, phase);

    return waits >= LISTED * f->basis && waits < most_each * (double)column_sum(f, region, OMPP_COLUMN_EXEC_C);
}

/* A barrier that all threads wait for alike: what they wait is short, or short and more than all else that they do. */
static bool takes_time_itself(const find_t *f, uint32_t region)
{
    const ompp_profile_t *p = f->profile;
    const double waits = (double)phase_of_region(f, region, OMPP_PHASE_EXEC),
                 visits = (double)column_sum(f, region, OMPP_COLUMN_EXEC_C);
    bool *seen = calloc(p->nnodes + 1, sizeof *seen);
    uint64_t all = 0, least = UINT64_MAX, n = 0;
    double teams = 0;

    memset(f->visits, 0, p->nlocations * sizeof *f->visits);
    for (const uint32_t *i = begin(f, region); seen && i < end(f, region); i++) {
        const uint32_t fork = f->paths->fork[*i];
        for (uint32_t b = 0; b < p->nodes[*i].nblocks; b++)
            f->visits[p->nodes[*i].blocks[b].location] += exec_of(p, *i, &p->nodes[*i].blocks[b]);
        for (uint32_t b = 0; !seen[fork] && b < p->nodes[fork].nblocks; b++)
            teams += (double)exec_of(p, fork, &p->nodes[fork].blocks[b]);
        seen[fork] = true;
    }
    free(seen);
    for (uint32_t l = 0; l < p->nlocations; l++) {
        if (!f->visits[l]) continue;
        all += f->visits[l], n++;
        if (f->visits[l] < least) least = f->visits[l];
    }
    if (!n || (double)least * (double)n < ALIKE * (double)all) return false;
    return waits < QUICK_NS * visits || waits > teams / 2;
}

/* Most of the time of atomic updates is theirs. */
static bool is_theirs(const find_t *f, uint32_t region)
{
    double unfinished = 0;

    for (const uint32_t *n = begin(f, region); n < end(f, region); n++)
        unfinished += ompp_own_unfinished_of(f->profile, *n);
    return (double)phase_of_region(f, region, OMPP_PHASE_EXEC) >= 2 * unfinished;
}

static bool holds(find_t *f, uint32_t region, unsigned construct, ompp_property_when_t when)
{
    ompp_column_t piece = piece_column(construct);
    uint64_t pieces, visits;

    switch (when) {
    case OMPP_WHEN_ALWAYS: return true;
    case OMPP_WHEN_LOOP: return f->profile->regions[region].flags & OMPP_REGION_F_LOOP;
    case OMPP_WHEN_CALLS:
        return is_worth_a_look(f, region, construct, 1e300) &&
               ompp_analysis_waits_for_calls(f->profile, f->paths, f->meanwhile, region);
    case OMPP_WHEN_NOWAIT: return f->profile->regions[region].flags & OMPP_REGION_F_NOWAIT;
    case OMPP_WHEN_UNEVEN:
    case OMPP_WHEN_FEW:
        if (piece == OMPP_COLUMN_NUM) return false;
        pieces = column_sum(f, region, piece);
        visits = column_sum(f, region, OMPP_COLUMN_EXEC_C);
        return when == OMPP_WHEN_FEW ? pieces < visits : pieces > visits && is_uneven(f, region, piece);
    case OMPP_WHEN_OFTEN:
        return 1e9 * (double)column_sum(f, region, OMPP_COLUMN_EXEC_C) > OFTEN_PER_SECOND * f->basis &&
               is_theirs(f, region);
    case OMPP_WHEN_LATE:
    case OMPP_WHEN_IN_TURN:
        if (!f->colls || f->late_rank == OMPP_NONE || f->waiting < 0.5 * f->busy) return false;
        return when == OMPP_WHEN_LATE ? !f->compared || f->meet.share >= ONE_RANK : f->compared;
    case OMPP_WHEN_LITTLE:
        return f->colls && f->bytes_in + f->bytes_out > 0 && f->bytes_in + f->bytes_out < LITTLE_BYTES * f->colls;
    case OMPP_WHEN_SENDER:
    case OMPP_WHEN_RECEIVER:
    case OMPP_WHEN_TRANSFER: return f->paired && f->pair.part[when - OMPP_WHEN_SENDER] >= 0.5;
    case OMPP_WHEN_TRANSFER_MUCH: return moves_much(f, region) && holds(f, region, construct, OMPP_WHEN_TRANSFER);
    case OMPP_WHEN_RECEIVES: return f->recvs;
    case OMPP_WHEN_DELAYED:
        return f->sends && !f->recvs && !f->colls &&
               f->call_ns > MESSAGE_NS * (double)f->sends + BYTE_NS * (double)f->bytes_out;
    case OMPP_WHEN_MOVES: return f->recvs || f->sends || f->bytes_in || f->bytes_out;
    case OMPP_WHEN_MOVES_MUCH: return moves_much(f, region);
    case OMPP_WHEN_BRIEFLY: return hands_over(f, region, inside_of(f, region), waiting_for(f, region));
    case OMPP_WHEN_MAINLY: return inside_of(f, region) > waiting_for(f, region);
    case OMPP_WHEN_TINY: return works_less(f, region, TINY_NS);
    case OMPP_WHEN_SHORT: return works_less(f, region, SHORT_NS);
    case OMPP_WHEN_FEW_ITERATIONS: return ompp_analysis_few_iterations(f->profile, f->paths, region, 1);
    case OMPP_WHEN_SOME_ITERATIONS: return ompp_analysis_few_iterations(f->profile, f->paths, region, SOME);
    case OMPP_WHEN_FEW_CHUNKS: return ompp_chunks_are_few(ompp_analysis_chunks_of(f->profile, f->paths, region));
    case OMPP_WHEN_HANDED_OUT: return ompp_analysis_chunks_of(f->profile, f->paths, region).chunks;
    case OMPP_WHEN_UNCOUNTED: return !f->profile->regions[region].iterations;
    case OMPP_WHEN_QUICK: return is_worth_a_look(f, region, construct, BARRIER_NS) && takes_time_itself(f, region);
    }
    return false;
}

bool ompp_analysis_starts_mpi(const ompp_profile_t *p, uint32_t region)
{
    static const char *const names[] = {"MPI_Init", "MPI_Init_thread", "MPI_Session_init"};
    const char *name = ompp_profile_text(p, p->regions[region].name);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* In short runs it would stand above all that a program can mend. */
static bool is_short_start(const find_t *f, uint32_t region)
{
    return ompp_analysis_starts_mpi(f->profile, region) && f->call_ns < STARTED_NS * (double)f->profile->nranks;
}

/* ---- Waiting for processors -------------------------------------------------------------------------------------- */

/* Threads wait for another one; its own work is in no property by this rule. */
static bool is_waiting(const ompp_property_rule_t *rule)
{
    return rule->phase != OMPP_PHASE_EXEC || rule->construct == OMPP_CONSTRUCT_BARRIER ||
           rule->construct == OMPP_CONSTRUCT_TASKWAIT || rule->construct == OMPP_CONSTRUCT_MPI;
}

/* A thread without a processor holds up all that wait for it: they lose so many times as long, at most. */
static uint32_t may_be_processors(const find_t *f, unsigned construct, uint64_t lost_ns)
{
    const uint64_t nthreads =
        construct == OMPP_CONSTRUCT_MPI ? f->profile->nslots : ompp_analysis_max_threads(f->profile);
    const double most_ns = f->waited * f->basis * (double)(nthreads > 1 ? nthreads - 1 : 1);

    return (double)lost_ns > most_ns ? 0 : (uint32_t)(1000 * f->waited + 0.5);
}

/* ---- All regions ------------------------------------------------------------------------------------------------- */

/* The property of a region by what its threads wait for, or one without time. */
static ompp_finding_t find_one(find_t *f, uint32_t region)
{
    const ompp_profile_t *p = f->profile;
    unsigned construct = p->regions[region].construct;
    bool mpi = construct == OMPP_CONSTRUCT_MPI;
    ompp_finding_t none = {.region = region, .rank = OMPP_NONE};

    if (mpi && (!add_calls(f, region) || is_short_start(f, region))) return none;
    for (size_t i = 0; i < ompp_nproperty_rules; i++) {
        const ompp_property_rule_t *rule = &ompp_property_rules[i];
        if (rule->construct != construct || !holds(f, region, construct, rule->when)) continue;
        const bool late = rule->when == OMPP_WHEN_LATE, waits = late || rule->when == OMPP_WHEN_IN_TURN;
        uint64_t lost = mpi ? to_ns(waits ? f->waiting : f->busy) : phase_of_region(f, region, rule->phase);
        ompp_finding_t found = {.property = rule->property, region, late ? f->late_rank : OMPP_NONE, .lost_ns = lost};
        if (rule->when == OMPP_WHEN_SENDER || rule->when == OMPP_WHEN_RECEIVER) {
            const unsigned whom = rule->when - OMPP_WHEN_SENDER;
            found.lost_ns = to_ns(f->pair.part[whom] * f->busy);
            found.count = f->pair.calls, found.each_ns = f->pair.wait_ns[whom];
        }
        if (construct == OMPP_CONSTRUCT_LOOP || construct == OMPP_CONSTRUCT_PARLOOP)
            found.count = p->regions[region].iterations;
        if (waits && f->compared) found.count = f->meet.calls, found.each_ns = f->meet.late_ns;
        if (is_waiting(rule)) found.waited_permille = may_be_processors(f, construct, found.lost_ns);
        if (late) found.where = ompp_analysis_longer(p, f->paths, f->late_rank, &found.more_ns);
        return found;
    }
    return none;
}

/* The property of a region by what it takes to start and end its threads, or one without time. */
static ompp_finding_t find_management(find_t *f, uint32_t region)
{
    const ompp_profile_t *p = f->profile;
    unsigned construct = p->regions[region].construct;
    ompp_finding_t none = {.region = region, .rank = OMPP_NONE};
    uint64_t lost = 0;

    for (size_t i = 0; i < ompp_nproperty_managements; i++) {
        const ompp_property_management_t *rule = &ompp_property_managements[i];
        if (rule->construct != construct || !holds(f, region, construct, rule->when)) continue;
        *f->own_ns = 0;
        for (size_t k = 0; k < ompp_nrules; k++)
            if (ompp_rules[k].construct == construct && ompp_rules[k].class == OMPP_CLASS_MGMT)
                lost += phase_of_region(f, region, ompp_rules[k].phase);
        if ((double)lost < COSTLY * (double)column_sum(f, region, OMPP_COLUMN_EXEC_T)) return none;
        return (ompp_finding_t){.property = rule->property,
                                region,
                                OMPP_NONE,
                                .lost_ns = lost,
                                .own_ns = *f->own_ns,
                                .waited_permille = may_be_processors(f, construct, lost)};
    }
    return none;
}

/* The property of a task construct whose tasks are too small or too large, of all teams in which it was run most. */
static ompp_finding_t find_tasks(const find_t *f, uint32_t region)
{
    ompp_finding_t finding = {.region = region, .rank = OMPP_NONE};
    uint64_t fine = 0, work = 0, longest = 0;

    for (const uint32_t *n = begin(f, region); n < end(f, region); n++) {
        const uint32_t fork = f->paths->fork[*n];
        const ompp_task_team_t *team = &f->teams[fork];
        if (team->region != region || team->size == OMPP_TASKS_FIT || f->profile->nodes[*n].parent != fork) continue;
        finding.lost_ns += team->lost_ns;
        finding.count += team->ended;
        work += team->work_ns;
        if (team->size == OMPP_TASKS_FINE) fine += team->lost_ns;
        if (team->max_ns > longest) longest = team->max_ns;
    }
    const bool are_fine = 2 * fine >= finding.lost_ns;
    finding.property = ompp_property_tasks[are_fine ? OMPP_TASKS_FINE : OMPP_TASKS_LARGE];
    finding.each_ns = are_fine && finding.count ? work / finding.count : longest;
    return finding;
}

/* Loops that lose much to handing out iterations. */
static int find_chunks(const find_t *f, ompp_finding_t *all, size_t *found)
{
    ompp_chunk_sum_t *sums;
    size_t n;
    const int rc = ompp_analysis_chunks(f->profile, f->paths, &sums, &n);

    for (size_t i = 0; rc == 0 && i < n; i++)
        if ((double)sums[i].handing_ns >= COSTLY * (double)sums[i].body_ns && sums[i].handing_ns &&
            !ompp_chunks_are_few(sums[i]))
            all[(*found)++] = (ompp_finding_t){.property = OMPP_PROPERTY_CHUNKS,
                                               sums[i].region,
                                               OMPP_NONE,
                                               sums[i].handing_ns,
                                               sums[i].chunks,
                                               sums[i].each_ns};
    free(sums);
    return rc;
}

static int by_severity(const void *a, const void *b, void *profile)
{
    const ompp_finding_t *x = a, *y = b;
    const ompp_profile_t *p = profile;
    uint32_t nx = x->region == OMPP_NONE ? 0 : p->regions[x->region].number,
             ny = y->region == OMPP_NONE ? 0 : p->regions[y->region].number;

    if (x->lost_ns != y->lost_ns) return x->lost_ns > y->lost_ns ? -1 : 1;
    if (nx != ny) return nx < ny ? -1 : 1;
    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    return x->property < y->property ? -1 : x->property > y->property;
}

int ompp_analysis_properties(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_finding_t **findings, size_t *n)
{
    find_t f = {.profile = p, .paths = paths, .basis = ompp_analysis_basis(p), .waited = ompp_analysis_waited(p)};
    ompp_finding_t *all = calloc(3 * p->nregions + 1, sizeof *all);
    ompp_task_team_t *teams = ompp_analysis_task_teams(p, paths);
    size_t found = 0;
    uint64_t own_ns = 0;
    int rc = -OMPP_E_NOMEM;

    double *below = ompp_own_below(p);
    ompp_meanwhile_t *meanwhile = ompp_analysis_meanwhile(p);

    *findings = NULL;
    *n = 0;
    f.pieces = calloc(p->nlocations + 1, sizeof *f.pieces);
    f.visits = calloc(p->nlocations + 1, sizeof *f.visits);
    f.own_ns = &own_ns;
    f.teams = teams;
    f.meanwhile = meanwhile;
    if (all && teams && below && meanwhile && f.pieces && f.visits) {
        all[0] = (ompp_finding_t){OMPP_PROPERTY_SERIAL_PROGRAM, OMPP_NONE, OMPP_NONE,
                                  .lost_ns = ompp_analysis_idle_ns(p, paths)};
        found = all[0].lost_ns > 0;
        for (uint32_t r = 0; r < p->nregions; r++) {
            all[found] = find_one(&f, r);
            found += all[found].lost_ns > 0;
            const bool runs = ompp_constructs[p->regions[r].construct].flags & OMPP_CONSTRUCT_F_TASK;
            all[found] = runs ? find_tasks(&f, r) : find_management(&f, r);
            found += all[found].lost_ns > 0;
        }
        rc = find_chunks(&f, all, &found);
        for (size_t i = 0; i < found; i++)
            if (all[i].region != OMPP_NONE)
                all[i].own_permille = (uint32_t)(1000 * ompp_own_share(p, paths, below, all[i].region) + 0.5);
        qsort_r(all, found, sizeof *all, by_severity, (void *)p);
        *findings = all;
        *n = found;
        all = NULL;
    }
    free(all);
    free(teams);
    free(below);
    free(meanwhile);
    free(f.pieces);
    free(f.visits);
    return rc;
}
