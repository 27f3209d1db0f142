/**
 * \file
 * A thread goes on after it has waited in a call of MPI; and since when a thread does nothing but ask whether something
 * has happened.
 */
#define _GNU_SOURCE
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include <sys/resource.h>
#include <time.h>

/* A program that only asks, again and again, is waiting; one that is away for longer, and for more than a part of the
 * time, works. */
#define ASKING_GAP_NS 20000u
#define ASKING_PART 16
#define ASKING_MOST_NS 5000000

void ompp_mpi_join_clock(const ompp_mpi_message_t *sum, ompp_sync_wait_t wait)
{
    wait.end = ompp_event_now();
    ompp_sync_join_clock(sum ? sum->vector : NULL, &wait);
}

void ompp_mpi_lose(const ompp_mpi_piggyback_t *s)
{
    const ompp_sync_wait_t wait = {
        .begin = s->begin, .limit = OMPP_MPI_ALONE_NS + ompp_mpi_piggyback_state.exchange, .kind = OMPP_SYNC_ONE_SIDED};

    if (ompp_event_now() - s->begin > wait.limit) ompp_mpi_join_clock(NULL, wait);
}

/* What a thread has had of the processor until t, and how often it has given it back by itself. */
typedef struct {
    ompp_time_t t;
    int64_t busy_ns;
    long sleeps;
} usage_t;

static usage_t usage_at(ompp_time_t t)
{
    struct timespec busy = {0, 0};
    struct rusage usage = {.ru_nvcsw = 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy);
    getrusage(RUSAGE_THREAD, &usage);
    return (usage_t){t, busy.tv_sec * 1000000000LL + busy.tv_nsec, usage.ru_nvcsw};
}

static __thread struct {
    ompp_time_t since, end;
    usage_t usage;   /* at some moment since then; no call and no gap was long from there to end */
    int64_t away_ns; /* in long gaps */
} asking;

static void begin_to_ask(ompp_time_t t)
{
    asking.since = t;
    asking.away_ns = 0;
}

/* Between two calls that ask somebody else had the processor, or the machine was busy for a moment. A thread that
 * sleeps in between may work so. */
static bool was_only_held_up(ompp_time_t begin)
{
    const usage_t before = asking.usage, now = usage_at(begin);
    const int64_t asked = (int64_t)(asking.end - before.t), away = now.busy_ns - before.busy_ns - asked;

    asking.usage = now;
    if (now.sleeps != before.sleeps) return false;
    if (away < (int64_t)ASKING_GAP_NS) return true;
    if (away > ASKING_MOST_NS) return false;
    asking.away_ns += away;
    return asking.away_ns < (int64_t)(asking.end - asking.since) / ASKING_PART;
}

ompp_time_t ompp_mpi_polls_since(void) { return asking.since; }

ompp_time_t ompp_mpi_polled(ompp_time_t begin, bool success)
{
    ompp_time_t since;

    if (ompp_sync_is_suspended()) {
        asking.since = 0;
        return begin;
    }
    if (!asking.since) {
        begin_to_ask(begin);
        asking.usage = usage_at(begin);
    } else if (begin - asking.end > ASKING_GAP_NS && !was_only_held_up(begin)) {
        begin_to_ask(begin);
    }
    since = asking.since;
    asking.end = ompp_event_now();
    if (asking.end - begin > ASKING_GAP_NS) asking.usage = usage_at(asking.end);
    if (success) asking.since = 0;
    return since;
}

static int class_of(int result)
{
    int class = MPI_ERR_UNKNOWN;

    if (result == MPI_SUCCESS) return MPI_SUCCESS;
    return PMPI_Error_class(result, &class) == MPI_SUCCESS ? class : MPI_ERR_UNKNOWN;
}

bool ompp_mpi_has_received(int result)
{
    const int class = class_of(result);

    return class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE;
}

bool ompp_mpi_is_refusal(int result)
{
    static const int refusals[] = {MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG,
                                   MPI_ERR_COMM,   MPI_ERR_RANK,  MPI_ERR_ARG,  MPI_ERR_REQUEST};
    const int class = class_of(result);

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (class == refusals[i]) return true;
    return false;
}
