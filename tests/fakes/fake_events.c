/*
 * A stand-in for the runtime under the MPI wrappers: preloaded before libompp-mpi.so, it takes the events in place of
 * libompp and adds them up per MPI function. Test programs find fake_mpi_take() by dlsym; where it is missing, they run
 * unmeasured.
 */
#include "base/ompp_env.h"
#include "process/ompp_lifecycle.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FAKE_API __attribute__((visibility("default")))
enum { MAX_NAMES = 700, MAX_DEPTH = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name;
    uint64_t entered, left, counted, values[OMPP_METRIC_MPI_NUM];
} calls[MAX_NAMES];
static unsigned ncalls;
static bool on = true;
static __thread ompp_region_ref_t stack[MAX_DEPTH];
static __thread int depth;

/* Index + 1 of a function; by text, so that tests can ask for it. */
static unsigned index_of(const char *name)
{
    for (unsigned i = 0; i < ncalls; i++)
        if (!strcmp(calls[i].name, name)) return i + 1;
    if (ncalls == MAX_NAMES) return 0;
    calls[ncalls++].name = name;
    return ncalls;
}

FAKE_API ompp_region_ref_t ompp_region_at(ompp_construct_t construct, const void *code, const char *name)
{
    ompp_region_ref_t r;

    if (!on || construct != OMPP_CONSTRUCT_MPI || !code) return 0;
    pthread_mutex_lock(&lock);
    r = index_of(name);
    pthread_mutex_unlock(&lock);
    return r;
}

FAKE_API void ompp_event_enter(ompp_region_ref_t region, ompp_time_t t)
{
    (void)t;
    if (!region) return;
    if (depth < MAX_DEPTH) stack[depth] = region;
    depth++;
    __atomic_add_fetch(&calls[region - 1].entered, 1, __ATOMIC_RELAXED);
}

FAKE_API void ompp_event_exit(ompp_region_ref_t region, ompp_time_t t)
{
    (void)t;
    if (!region || depth == 0) return;
    depth--;
    if (stack[depth] != region) fprintf(stderr, "fake: exit of %s, open is another call\n", calls[region - 1].name);
    __atomic_add_fetch(&calls[region - 1].left, 1, __ATOMIC_RELAXED);
}

FAKE_API void ompp_event_count(ompp_region_ref_t region)
{
    if (region) __atomic_add_fetch(&calls[region - 1].counted, 1, __ATOMIC_RELAXED);
}

FAKE_API ompp_region_ref_t ompp_event_count_call(ompp_construct_t construct, const void *code, const char *name)
{
    ompp_region_ref_t region = ompp_region_at(construct, code, name);

    ompp_event_count(region);
    return region;
}

FAKE_API ompp_region_ref_t ompp_event_innermost(ompp_construct_t construct)
{
    return construct == OMPP_CONSTRUCT_MPI && depth > 0 ? stack[depth - 1] : 0;
}

FAKE_API void ompp_event_add_mpi(const uint64_t values[OMPP_METRIC_MPI_NUM])
{
    if (depth == 0) return;
    for (int i = 0; i < OMPP_METRIC_MPI_NUM; i++)
        __atomic_add_fetch(&calls[stack[depth - 1] - 1].values[i], values[i], __ATOMIC_RELAXED);
}

FAKE_API ompp_region_ref_t ompp_event_call(const void *code, const char *name)
{
    ompp_region_ref_t region = ompp_region_at(OMPP_CONSTRUCT_MPI, code, name);

    ompp_event_enter(region, 0);
    return region;
}

FAKE_API ompp_time_t ompp_event_called(void) { return ompp_event_now(); }

FAKE_API void ompp_event_return(ompp_region_ref_t region, const uint64_t *values, ompp_time_t t)
{
    if (region && values) ompp_event_add_mpi(values);
    ompp_event_exit(region, t);
}

FAKE_API void ompp_event_return_timed(ompp_region_ref_t region) { ompp_event_return(region, NULL, 0); }

FAKE_API void ompp_event_return_counted(ompp_region_ref_t region, unsigned counter, uint64_t in, uint64_t out,
                                        ompp_time_t t)
{
    uint64_t values[OMPP_METRIC_MPI_NUM] = {[OMPP_METRIC_BYTES_IN] = in, [OMPP_METRIC_BYTES_OUT] = out};

    values[counter] = 1;
    ompp_event_return(region, values, t);
}

FAKE_API void ompp_event_switch(bool now, const char *who)
{
    (void)who;
    on = now;
}

FAKE_API void ompp_event_coverage(unsigned kind, const char *subject, const char *reason)
{
    fprintf(stderr, "fake: coverage %u %s %s\n", kind, subject ? subject : "-", reason ? reason : "-");
}

/* ---- Clocks: stamps that tell who made them, and a number that the program gave ---------------------------------- */

typedef struct {
    int64_t mark;   /* the greatest of those combined */
    uint64_t ranks; /* bit per rank of the world */
} fake_clock_vector_t;

/* As in tests/mpi/piggyback.c. */
typedef struct {
    fake_clock_vector_t vector; /* all adopted */
    uint64_t joined, unknown, flags;
} fake_joined_t;

static int my_rank;
static __thread int64_t my_mark;
static __thread fake_joined_t joined;

static size_t make_vector(void *vector, ompp_time_t t)
{
    (void)t;
    *(fake_clock_vector_t *)vector = (fake_clock_vector_t){my_mark, UINT64_C(1) << my_rank};
    return sizeof(fake_clock_vector_t);
}

static ompp_time_t suspended_until(void) { return ompp_sync_suspension() ? ompp_event_now() + 1000000000u : 0; }

static void hold(bool on) { (void)on; }

static void charge(ompp_time_t ns) { (void)ns; }

static void combine_vectors(void *into, const void *other)
{
    fake_clock_vector_t *a = into;
    const fake_clock_vector_t *b = other;

    if (b->mark > a->mark) a->mark = b->mark;
    a->ranks |= b->ranks;
}

static bool throttle(void) { return false; }

static void give_vector(unsigned rank) { (void)rank; }

/* Vectors of this thread that all ranks of the run adopt. */
static __thread uint64_t proposals;

static void propose(void *vector, ompp_time_t t)
{
    (void)vector, (void)t;
    proposals++;
}

/* Some ranks want stamps to be combined once more, now and then, and then again: all have to. */
static __thread unsigned closed;

static bool contribute_vector(void *vector)
{
    (void)vector;
    return ++closed % 3 == 0;
}

static bool revise_vector(void *mine, const void *all)
{
    (void)mine, (void)all;
    return closed % 2;
}

static void join_vector(const void *vector, const ompp_sync_wait_t *wait)
{
    joined.flags |= wait->flags;
    if (wait->end < wait->begin) fprintf(stderr, "fake: a wait ends before it begins\n");
    if (!vector) joined.unknown++;
    else combine_vectors(&joined.vector, vector), joined.joined++;
}

static void set_clock(const ompp_sync_clock_t *clock)
{
    if (clock->error_ns) fprintf(stderr, "fake: clocks of one node differ\n");
}

static void say_nothing(const char *why) { (void)why; }

static void in_process(ompp_sync_object_t kind, uint64_t object, ompp_time_t t) { (void)kind, (void)object, (void)t; }

static void task(ompp_sync_task_t what, uint64_t which, uint64_t other, ompp_time_t t)
{
    (void)what, (void)which, (void)other, (void)t;
}

static void flag(unsigned flags, bool happened) { (void)flags, (void)happened; }

static const ompp_sync_subscriber_t clocks = {.vector_size = sizeof(fake_clock_vector_t),
                                              .vector = make_vector,
                                              .combine = combine_vectors,
                                              .join_clock = join_vector,
                                              .clock = set_clock,
                                              .alone = say_nothing,
                                              .publish = in_process,
                                              .wait = in_process,
                                              .resume = in_process,
                                              .task = task,
                                              .suspended_until = suspended_until,
                                              .hold = hold,
                                              .charge = charge,
                                              .flag = flag,
                                              .throttle = throttle,
                                              .note_sent = give_vector,
                                              .propose = propose,
                                              .contribute = contribute_vector,
                                              .revise = revise_vector};

/* Clocks rest, in this rest; 0 = they do not. */
FAKE_API void fake_suspension(uint64_t number)
{
    __atomic_store_n(&ompp_sync_suspension_number, number, __ATOMIC_RELAXED);
}

FAKE_API void fake_mark(int64_t mark) { my_mark = mark; }

/* Since this thread asked last. */
FAKE_API uint64_t fake_proposals(void)
{
    const uint64_t n = proposals;

    proposals = 0;
    return n;
}

/* What this thread has adopted since it asked last. */
FAKE_API void fake_joined(fake_joined_t *result)
{
    *result = joined;
    memset(&joined, 0, sizeof joined);
}

/* There is no tree here. */
FAKE_API ompp_place_now_t ompp_meter_place(void) { return (ompp_place_now_t){0, false}; }

FAKE_API bool ompp_runtime_start(void)
{
    ompp_env_read();
    ompp_clock_start("auto");
    if (ompp_env_foreign("FAKE_STAMPS")) ompp_sync_subscriber = &clocks;
    return true;
}

FAKE_API void ompp_runtime_mpi(int rank, int size)
{
    (void)size;
    my_rank = rank;
}

FAKE_API void ompp_runtime_job(const char *name) { (void)name; }

/* Sends something of every kind through the transport: nothing, a little, and more than one rank can buffer. */
FAKE_API void ompp_runtime_finalize(const ompp_reduce_t *reduce)
{
    static char data[3 << 20];
    uint64_t bytes = 0;
    const uint64_t sizes[] = {0, 1, sizeof data};
    int errors = reduce->agree(30) != 0;

    for (int s = 0; s < 3; s++) {
        if (reduce->rank > 0) {
            memset(data, reduce->rank, sizeof data);
            errors += reduce->send(0, data, sizes[s]) != 0;
        }
        for (int r = 1; reduce->rank == 0 && r < reduce->size; r++) {
            errors += reduce->receive_size(r, &bytes) != 0 || bytes != sizes[s];
            errors += reduce->receive(r, data, bytes) != 0 || (bytes && (data[0] != r || data[bytes - 1] != r));
        }
    }
    if (errors) fprintf(stderr, "fake: rank %d: %d transport errors\n", reduce->rank, errors);
}

FAKE_API void ompp_runtime_dump(bool final, const char *why)
{
    fprintf(stderr, "fake: dump%s %s\n", final ? " final" : "", why);
}

FAKE_API void fake_mpi_take(const char *name, uint64_t out[2 + OMPP_METRIC_MPI_NUM]);

/* Timed and counted-only calls, then the MPI metrics, since the last time. */
FAKE_API void fake_mpi_take(const char *name, uint64_t out[2 + OMPP_METRIC_MPI_NUM])
{
    unsigned i;

    pthread_mutex_lock(&lock);
    i = index_of(name);
    pthread_mutex_unlock(&lock);
    if (!i--) return;
    out[0] = calls[i].entered == calls[i].left ? calls[i].left : ~0ull;
    out[1] = calls[i].counted;
    memcpy(out + 2, calls[i].values, sizeof calls[i].values);
    calls[i].entered = calls[i].left = calls[i].counted = 0;
    memset(calls[i].values, 0, sizeof calls[i].values);
}
