/**
 * \file
 * Which rank comes last to collective calls: each rank keeps when it entered the same calls, by their number on their
 * communicator, and the times are compared at the end of the run. No message of ours goes out before.
 *
 * Followed are MPI_COMM_WORLD and communicators of the same ranks in the same order. Of others no rank knows, without
 * asking, which of its numbers are whose.
 */
#define OMPP_LOG_DOMAIN "mpi"
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_caller.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_metric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMMS = 32, MOST_CALLS = 4096 };

typedef struct {
    uint32_t number;
    ompp_off_t node;
    ompp_time_t enter, leave;
} call_t;

/* One communicator. */
typedef struct {
    uint32_t ncalls; /* on it, so far */
    unsigned bits;   /* calls are kept whose number has a hash that begins with so many zeros */
    uint32_t nkept;
    call_t *kept; /* [MOST_CALLS] */
} meet_t;

static meet_t meets[MOST_COMMS]; /* MPI_COMM_WORLD, then others as they were made */
static int nmeets = 1;
static meet_t unfollowed; /* of all others */
static int key = MPI_KEYVAL_INVALID;
static unsigned metric_set; /* 0 = not registered */
static bool asked;
static ompp_mpi_reduce_all_fn *reduce_all; /* at the end */

/* ---- Each call --------------------------------------------------------------------------------------------------- */

bool ompp_mpi_is_sampled(uint32_t number, unsigned bits)
{
    const uint32_t hash = (number ^ number >> 15) * 0x9e3779b1u;

    return bits == 0 || hash >> (32 - bits) == 0;
}

/* Another communicator: the same ranks as the world? Nothing of this is a message. */
static meet_t *first_call(MPI_Comm comm)
{
    int same = MPI_UNEQUAL, between = 1;

    if (PMPI_Comm_test_inter(comm, &between) != MPI_SUCCESS || between) return &unfollowed;
    if (key == MPI_KEYVAL_INVALID &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL) != MPI_SUCCESS)
        return &unfollowed;
    if (nmeets < MOST_COMMS && PMPI_Comm_compare(comm, MPI_COMM_WORLD, &same) != MPI_SUCCESS) return &unfollowed;
    meet_t *meet = same == MPI_CONGRUENT ? &meets[nmeets++] : &unfollowed;
    PMPI_Comm_set_attr(comm, key, meet);
    return meet;
}

static meet_t *meet_of(MPI_Comm comm)
{
    meet_t *meet = NULL;
    int found = 0;

    if (comm == MPI_COMM_WORLD) return &meets[0];
    if (key != MPI_KEYVAL_INVALID && PMPI_Comm_get_attr(comm, key, &meet, &found) != MPI_SUCCESS) return &unfollowed;
    return found ? meet : first_call(comm);
}

void ompp_mpi_meet_created(MPI_Comm comm)
{
    const int saved = errno;

    if (comm != MPI_COMM_NULL) first_call(comm);
    errno = saved;
}

int ompp_mpi_meet_number(MPI_Comm comm)
{
    meet_t *meet = NULL;
    int found = 0;

    if (comm == MPI_COMM_WORLD) return 0;
    if (key == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, key, &meet, &found) != MPI_SUCCESS || !found) return -1;
    return meet == &unfollowed ? -1 : (int)(meet - meets);
}

int ompp_mpi_meet_comms(void) { return nmeets; }

/* Half of what is kept goes, the same half on all ranks. */
static void thin_out(meet_t *meet)
{
    uint32_t n = 0;

    meet->bits++;
    for (uint32_t i = 0; i < meet->nkept; i++)
        if (ompp_mpi_is_sampled(meet->kept[i].number, meet->bits)) meet->kept[n++] = meet->kept[i];
    meet->nkept = n;
}

static void register_set(void *unused)
{
    (void)unused;
    asked = true;
    metric_set = ompp_metric_register(ompp_meet_metrics, OMPP_METRIC_MEET_NUM);
}

void ompp_mpi_meet(MPI_Comm comm, ompp_time_t leave)
{
    const int saved = errno;
    meet_t *meet = meet_of(comm);
    const uint32_t number = meet->ncalls++;

    if (meet != &unfollowed && ompp_mpi_is_sampled(number, meet->bits)) {
        if (!asked) ompp_caller_run(register_set, NULL);
        if (!meet->kept) meet->kept = malloc(MOST_CALLS * sizeof *meet->kept);
        while (meet->kept && meet->nkept == MOST_CALLS && meet->bits < 32) thin_out(meet);
        if (meet->kept && ompp_mpi_is_sampled(number, meet->bits))
            meet->kept[meet->nkept++] = (call_t){number, ompp_meter_place().node, ompp_event_called(), leave};
    }
    errno = saved;
}

/* ---- The comparison ---------------------------------------------------------------------------------------------- */

static void book(const call_t *call, ompp_time_t last, bool is_last, uint64_t late)
{
    uint64_t *values = call->node ? ompp_meter_values(call->node, metric_set, 0, OMPP_METRIC_MEET_NUM) : NULL;

    if (!values) return;
    const ompp_time_t met = last < call->enter ? call->enter : last > call->leave ? call->leave : last;
    values[OMPP_METRIC_MEETS]++;
    values[OMPP_METRIC_MEET_LAST] += is_last;
    values[OMPP_METRIC_MEET_LATE] += is_last ? late : 0;
    values[OMPP_METRIC_MEET_WAIT] += met - call->enter;
    values[OMPP_METRIC_MEET_REST] += call->leave - met;
}

/* Of one communicator. n: calls that all ranks have kept. \return false when a rank did not come. */
static bool compare(MPI_Comm own, const meet_t *meet, int n)
{
    long long *mine = malloc(5 * (size_t)n * sizeof *mine), *last = mine + n, *sum = mine + 2 * n,
              *ranks = mine + 3 * n, *who = mine + 4 * n;
    int size = 1, rank = 0;

    if (!mine) return false; /* who has no memory for this has none for a report: its limit ends the others' wait */
    PMPI_Comm_size(own, &size);
    PMPI_Comm_rank(own, &rank);
    for (int i = 0; i < n; i++) mine[i] = (long long)ompp_mpi_clock_common(meet->kept[i].enter);
    if (!reduce_all(mine, last, n, MPI_LONG_LONG, MPI_MAX) || !reduce_all(mine, sum, n, MPI_LONG_LONG, MPI_SUM))
        return false;
    for (int i = 0; i < n; i++) ranks[i] = mine[i] == last[i] ? rank : size;
    if (!reduce_all(ranks, who, n, MPI_LONG_LONG, MPI_MIN)) return false;
    for (int i = 0; i < n; i++) {
        const long long others = (sum[i] - last[i]) / (size > 1 ? size - 1 : 1);
        book(&meet->kept[i], meet->kept[i].enter + (ompp_time_t)(last[i] - mine[i]), who[i] == rank,
             (uint64_t)(last[i] - others));
    }
    free(mine);
    return true;
}

#define NUMBERS (2 * MOST_COMMS + 2)

/* Of all ranks, the least and the most: communicators, calls, how far they have been thinned out, memory was there. */
static bool agree(int *least, int *most)
{
    static int mine[NUMBERS];

    mine[0] = nmeets;
    mine[NUMBERS - 1] = metric_set != 0;
    for (int i = 0; i < MOST_COMMS; i++)
        mine[1 + i] = (int)meets[i].ncalls, mine[1 + MOST_COMMS + i] = (int)meets[i].bits;
    return reduce_all(mine, least, NUMBERS, MPI_INT, MPI_MIN) && reduce_all(mine, most, NUMBERS, MPI_INT, MPI_MAX);
}

/* Calls were counted while measurement was off on some ranks only, or a rank went another way: numbers mean nothing. */
static bool are_equal(int i, const int *least, const int *most)
{
    return least[1 + i] == most[1 + i] && most[1 + i] > 0;
}

void ompp_mpi_meet_finish(MPI_Comm own, ompp_mpi_reduce_all_fn *all_ranks)
{
    static int least[NUMBERS], most[NUMBERS], kept[2], all[2]; /* MPI may write to them for ever */

    reduce_all = all_ranks;
    if (!agree(least, most) || least[0] != most[0] || !least[NUMBERS - 1]) return;
    for (int i = 0; i < least[0]; i++) {
        meet_t *meet = &meets[i];
        while (meet->bits < (unsigned)most[1 + MOST_COMMS + i]) thin_out(meet);
        kept[0] = are_equal(i, least, most) ? (int)meet->nkept : 0;
        kept[1] = -kept[0];
        if (!reduce_all(kept, all, 2, MPI_INT, MPI_MIN)) return;
        if (all[0] > 0 && all[0] == -all[1] && !compare(own, meet, all[0])) return;
    }
}
