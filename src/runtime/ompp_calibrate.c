/*
 * What events cost: the same functions that sources call, again and again, by a thread whose tree and frames lie in
 * memory of their own. The least of several rounds counts: all else was disturbed.
 */
#define _GNU_SOURCE
#include "runtime/ompp_calibrate.h"

#include "base/ompp_caller.h"
#include "base/ompp_pages.h"
#include "runtime/ompp_chunk.h"
#include "runtime/ompp_region_priv.h"
#include "runtime/ompp_sync.h"
#include "runtime/ompp_task_priv.h"
#include "runtime/ompp_tree_priv.h"

#include <string.h>
#include <sys/mman.h>

#define MEMORY (64u << 10) /* for the records of the thread */
#define FRAMES 16u
#define EVENTS 32u    /* of a round */
#define ROUNDS 10u    /* of a kind at most */
#define MOST_NS 50000 /* of a kind: a slow clock has fewer rounds, two at least */

typedef struct {
    ompp_thread_t *thread;
    uint64_t *updated;
    const ompp_calibrated_t *source; /* of OpenMP's events; NULL = none has said how it works */
    ompp_region_ref_t atomic, critical, lock, parallel, exec, call, count, function;
    ompp_region_ref_t counted_atomic, counted_critical, counted_lock, counted_create, counted_task;
} calibration_t;

static _Atomic(const ompp_calibrated_t *) calibrated_by;

static const char a_call[] = "call", a_count[] = "count"; /* stand for names, and for addresses in the program */

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void enter(const calibration_t *c)
{
    ompp_event_enter(c->atomic, ompp_event_now());
    ompp_event_exit(c->atomic, ompp_event_now());
}

/* An update of a double, as compilers make it. */
static void update(const calibration_t *c)
{
    uint64_t old = __atomic_load_n(c->updated, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(c->updated, &old, old + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) continue;
}

static inline void update_in(const calibration_t *c, ompp_region_ref_t region)
{
    ompp_event_enter_brief(region);
    update(c);
    ompp_event_exit_brief(region);
}

static void atomic(const calibration_t *c) { update_in(c, c->atomic); }

static void atomic_counted(const calibration_t *c) { update_in(c, c->counted_atomic); }

/* It never waits, whatever is in the lock. */
void ompp_calibrated_set(void *lock)
{
    uint64_t *word = lock, old = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(word, &old, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) continue;
}

void ompp_calibrated_unset(void *lock) { __atomic_exchange_n((uint64_t *)lock, 0, __ATOMIC_SEQ_CST); }

static void set_and_unset(const calibration_t *c)
{
    ompp_calibrated_set(c->updated);
    ompp_calibrated_unset(c->updated);
}

static void mutex_in(const calibration_t *c, ompp_region_ref_t region)
{
    ompp_event_enter_brief(region);
    ompp_calibrated_set(c->updated);
    ompp_event_phase_brief(region, OMPP_PHASE_BODY);
    ompp_event_phase_brief(region, OMPP_PHASE_EXIT);
    ompp_calibrated_unset(c->updated);
    ompp_event_exit_brief(region);
}

static inline void critical_in(const calibration_t *c, ompp_region_ref_t region)
{
    if (c->source) c->source->critical(region, c->updated);
    else mutex_in(c, region);
}

static void critical(const calibration_t *c) { critical_in(c, c->critical); }

static void critical_counted(const calibration_t *c) { critical_in(c, c->counted_critical); }

/* The source looks its region up. */
static void locked(const calibration_t *c)
{
    if (c->source) c->source->lock(c->updated);
    else mutex_in(c, ompp_region_lock(c->updated));
}

static void phase(const calibration_t *c)
{
    ompp_event_enter(c->critical, ompp_event_now());
    ompp_event_phase(c->critical, OMPP_PHASE_BODY, ompp_event_now());
    ompp_event_phase(c->critical, OMPP_PHASE_EXIT, ompp_event_now());
    ompp_event_exit(c->critical, ompp_event_now());
}

static void team(const calibration_t *c)
{
    ompp_team_t *t = ompp_event_fork(c->parallel, ompp_event_now());

    ompp_event_member_begin(t, 0, false, ompp_event_now());
    ompp_event_member_barrier(true, ompp_event_now());
    ompp_event_member_barrier(false, ompp_event_now());
    ompp_event_join(t, ompp_event_now());
}

static void task(const calibration_t *c)
{
    ompp_task_t t = ompp_task_created(c->exec, ompp_event_now());

    ompp_event_task_begin(&t, ompp_event_now());
    ompp_event_task_end(t, ompp_event_now());
}

static void create_counted(const calibration_t *c)
{
    ompp_task_creating(c->counted_create, c->counted_task);
    ompp_event_exit_brief(c->counted_create);
}

/* Where one thread makes tasks and runs them: a task by itself takes less than one inside its creation. */
static void task_counted(const calibration_t *c)
{
    ompp_task_t t = ompp_task_creating(c->counted_create, c->counted_task);

    ompp_event_task_begin_brief(&t);
    ompp_event_task_end_brief(t);
    ompp_event_exit_brief(c->counted_create);
}

static void call(const calibration_t *c)
{
    (void)c;
    const ompp_region_ref_t region = ompp_event_call(a_call, a_call);
    ompp_event_return_counted(region, OMPP_METRIC_COLLS, 8, 8, ompp_event_now());
}

static void count(const calibration_t *c)
{
    (void)c;
    ompp_event_count_call(OMPP_CONSTRUCT_MPI, a_count, a_count);
}

static void function(const calibration_t *c)
{
    const char here = 0;

    ompp_event_enter_function(c->function, &here, a_call, ompp_event_now());
    ompp_event_exit_function(c->function, &here, ompp_event_now());
}

static void chunk(const calibration_t *c)
{
    (void)c;
    ompp_event_chunk(ompp_event_chunk_begin(), true, 1);
}

static void read_clock(const calibration_t *c)
{
    (void)c;
    ompp_event_now();
}

/* body: what of the event is the program's, NULL = nothing; region: whose measured time has the part inside; parts: how
 * many of its phases share it. PHASE is that of two phases more than ENTER; TASK_COUNTED what its creation leaves. */
static const struct {
    void (*event)(const calibration_t *), (*body)(const calibration_t *);
    size_t region;
    unsigned parts;
} kinds[OMPP_COST_NUM] = {
    [OMPP_COST_ENTER] = {enter, NULL, offsetof(calibration_t, atomic), 1},
    [OMPP_COST_PHASE] = {phase, NULL, offsetof(calibration_t, critical), 3},
    [OMPP_COST_TEAM] = {team, NULL, offsetof(calibration_t, parallel), 4},
    [OMPP_COST_TASK] = {task, NULL, offsetof(calibration_t, exec), 1},
    [OMPP_COST_ATOMIC] = {atomic, update, offsetof(calibration_t, atomic), 1},
    [OMPP_COST_CRITICAL] = {critical, set_and_unset, offsetof(calibration_t, critical), 3},
    [OMPP_COST_LOCK] = {locked, set_and_unset, offsetof(calibration_t, lock), 3},
    [OMPP_COST_ATOMIC_COUNTED] = {atomic_counted, update, offsetof(calibration_t, counted_atomic), 1},
    [OMPP_COST_CRITICAL_COUNTED] = {critical_counted, set_and_unset, offsetof(calibration_t, counted_critical), 3},
    [OMPP_COST_LOCK_COUNTED] = {locked, set_and_unset, offsetof(calibration_t, counted_lock), 3},
    [OMPP_COST_CREATE_COUNTED] = {create_counted, NULL, offsetof(calibration_t, counted_create), 1},
    [OMPP_COST_TASK_COUNTED] = {task_counted, NULL, offsetof(calibration_t, counted_task), 1},
    [OMPP_COST_CLOCK] = {read_clock, NULL, offsetof(calibration_t, atomic), 1},
    [OMPP_COST_CALL] = {call, NULL, offsetof(calibration_t, call), 1},
    [OMPP_COST_COUNT] = {count, NULL, offsetof(calibration_t, count), 1},
    [OMPP_COST_CHUNK] = {chunk, NULL, offsetof(calibration_t, atomic), 1},
    [OMPP_COST_FUNCTION] = {function, NULL, offsetof(calibration_t, function), 1},
};

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static ompp_region_ref_t make_region(ompp_thread_t *thread, ompp_construct_t construct)
{
    const ompp_off_t off = ompp_thread_take(thread, sizeof(ompp_a_region_t));
    ompp_a_region_t *region = ompp_at(thread, off);

    region->construct = (uint16_t)construct;
    region->nphases = ompp_constructs[construct].nphases;
    return off;
}

/* A region of which none is timed. */
static ompp_region_ref_t make_counted(ompp_thread_t *thread, ompp_construct_t construct)
{
    const ompp_region_ref_t region = make_region(thread, construct);
    const ompp_off_t node = ompp_child(thread, ompp_top(thread)->node, region, 1),
                     brief = ompp_thread_take(thread, sizeof(ompp_a_brief_t));

    ((ompp_a_brief_t *)ompp_at(thread, brief))->left = UINT32_MAX;
    ompp_node(thread, node)->brief = brief;
    return region;
}

/* A TASKEXEC of which none is timed: what they count is left alone. */
static ompp_region_ref_t make_counted_task(ompp_thread_t *thread)
{
    const ompp_region_ref_t region = make_region(thread, OMPP_CONSTRUCT_TASKEXEC);
    const ompp_off_t node = ompp_child(thread, thread->base_node, region, 1),
                     values = ompp_thread_take(thread, OMPP_METRIC_TASK_END_NUM * sizeof(uint64_t)),
                     tasks = ompp_thread_take(thread, sizeof(ompp_a_tasks_t));

    *(ompp_a_tasks_t *)ompp_at(thread, tasks) =
        (ompp_a_tasks_t){.at = thread->base_node, .starts = values, .ends = values, .values = values};
    ompp_node(thread, node)->brief = tasks;
    return region;
}

/* Regions are found by an address and a name: wherever the cache looks, it finds this one. */
static void put_site(ompp_thread_t *thread, const void *code, const void *name, ompp_region_ref_t region)
{
    for (unsigned i = 0; i < OMPP_SITES; i++) thread->sites[i] = (ompp_site_t){.code = code, name, region};
}

/* What is found in the cache by events of this kind. */
static void put_sites(const calibration_t *c, unsigned kind)
{
    ompp_thread_t *thread = c->thread;
    const void *critical_key = ompp_site_key(OMPP_CONSTRUCT_CRITICAL), *lock_key = ompp_site_key(OMPP_CONSTRUCT_LOCK);

    switch (kind) {
    case OMPP_COST_CALL: put_site(thread, a_call, a_call, c->call); break;
    case OMPP_COST_COUNT: put_site(thread, a_count, a_count, c->count); break;
    case OMPP_COST_CRITICAL: put_site(thread, c->updated, critical_key, c->critical); break;
    case OMPP_COST_CRITICAL_COUNTED: put_site(thread, c->updated, critical_key, c->counted_critical); break;
    case OMPP_COST_LOCK: put_site(thread, c->updated, lock_key, c->lock); break;
    case OMPP_COST_LOCK_COUNTED: put_site(thread, c->updated, lock_key, c->counted_lock); break;
    default: break;
    }
}

static bool make_thread(ompp_thread_t *thread, char *memory)
{
    thread->base = memory;
    thread->block = OMPP_LAYOUT_HEADER;
    thread->block_end = MEMORY;
    if (!ompp_tree_open(thread)) return false;
    thread->record = ompp_at(thread, ompp_thread_take(thread, sizeof(ompp_a_thread_t)));
    thread->record->root = thread->base_node = ompp_node_new(thread, 0, 0, 1);
    ompp_a_stack_t *stack = ompp_at(thread, ompp_stack_new(thread, FRAMES));
    stack->frames[0] =
        (ompp_a_frame_t){.node = thread->record->root, .flags = OMPP_FRAME_F_BASE, .enter = 1, .stamp = 1};
    ompp_use_stack(thread, stack);
    return true;
}

/* What has been booked for a region. */
static uint64_t booked(const ompp_thread_t *thread, ompp_region_ref_t region)
{
    uint64_t sum = 0;

    for (ompp_off_t n = atomic_load(&thread->record->nodes); n; n = ompp_node(thread, n)->next) {
        const ompp_a_node_t *node = ompp_node(thread, n);
        for (unsigned s = 0; node->region == region && s < node->nphases; s++) sum += node->slot[s].time;
    }
    return sum;
}

/* The least that EVENTS of them take. \param[out] part  of that, what is booked for the region. */
static ompp_time_t time_of(const calibration_t *c, void (*event)(const calibration_t *), ompp_region_ref_t region,
                           ompp_time_t *part)
{
    const ompp_time_t begin = ompp_event_now();
    ompp_time_t now = begin, least = UINT32_MAX;

    event(c); /* what is met for the first time takes longer */
    for (unsigned round = 0; round < ROUNDS && (round < 2 || now - begin < MOST_NS); round++) {
        const uint64_t before = booked(c->thread, region);
        const ompp_time_t from = ompp_event_now();
        for (unsigned i = 0; i < EVENTS; i++) event(c);
        now = ompp_event_now();
        if (now - from < least) least = now - from, *part = booked(c->thread, region) - before;
    }
    return least;
}

static uint64_t above(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* ps of one event. */
static uint32_t less(ompp_time_t a, ompp_time_t b) { return (uint32_t)(above(a, b) * 1000 / EVENTS); }

static void measure(const calibration_t *c, unsigned kind, uint32_t *whole, uint32_t *inside)
{
    const ompp_region_ref_t region = *(const ompp_region_ref_t *)((const char *)c + kinds[kind].region);
    ompp_time_t part, none, body = 0;
    const ompp_time_t all = time_of(c, kinds[kind].event, region, &part);

    if (kinds[kind].body) body = time_of(c, kinds[kind].body, region, &none);
    whole[kind] = less(all, body);
    inside[kind] = less(part, body) / kinds[kind].parts;
}

static void measure_all(ompp_thread_t *thread, uint32_t *whole, uint32_t *inside)
{
    uint64_t updated = 0;
    const calibration_t c = {
        .thread = thread,
        .updated = &updated,
        .source = atomic_load(&calibrated_by),
        .atomic = make_region(thread, OMPP_CONSTRUCT_ATOMIC),
        .critical = make_region(thread, OMPP_CONSTRUCT_CRITICAL),
        .lock = make_region(thread, OMPP_CONSTRUCT_LOCK),
        .parallel = make_region(thread, OMPP_CONSTRUCT_PARALLEL),
        .exec = make_region(thread, OMPP_CONSTRUCT_TASKEXEC),
        .call = make_region(thread, OMPP_CONSTRUCT_MPI),
        .count = make_region(thread, OMPP_CONSTRUCT_MPI),
        .function = make_region(thread, OMPP_CONSTRUCT_USER_REGION),
        .counted_atomic = make_counted(thread, OMPP_CONSTRUCT_ATOMIC),
        .counted_critical = make_counted(thread, OMPP_CONSTRUCT_CRITICAL),
        .counted_lock = make_counted(thread, OMPP_CONSTRUCT_LOCK),
        .counted_create = make_counted(thread, OMPP_CONSTRUCT_TASK),
        .counted_task = make_counted_task(thread),
    };

    for (unsigned kind = 0; kind < OMPP_COST_NUM; kind++) {
        put_sites(&c, kind);
        thread->thins = kinds[kind].region >= offsetof(calibration_t, counted_atomic);
        measure(&c, kind, whole, inside);
    }
    whole[OMPP_COST_PHASE] = (uint32_t)above(whole[OMPP_COST_PHASE], whole[OMPP_COST_ENTER]) / 2;
    whole[OMPP_COST_TASK_COUNTED] = (uint32_t)above(whole[OMPP_COST_TASK_COUNTED], whole[OMPP_COST_CREATE_COUNTED]);
}

void ompp_calibrate(uint32_t *whole, uint32_t *inside)
{
    const size_t size = sizeof(ompp_thread_t) + MEMORY;
    ompp_thread_t *self = ompp_thread_self;
    char *memory = ompp_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) return;
    ompp_thread_t *thread = (ompp_thread_t *)(memory + MEMORY);
    if (make_thread(thread, memory)) {
        ompp_thread_self = thread;
        measure_all(thread, whole, inside);
        ompp_thread_self = self;
        ompp_chunk_forget();
        ompp_tree_close(thread);
    }
    ompp_munmap(memory, size);
}

static void calibrate_again(void *unused)
{
    (void)unused;
    ompp_calibrate(ompp_process.header->cost_ps, ompp_process.header->inside_ps);
}

void ompp_event_calibrate_by(const ompp_calibrated_t *source)
{
    atomic_store(&calibrated_by, source);
    /* Who follows waits would take what is tried here for waits of the program. */
    if (atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING && !ompp_sync_follower())
        ompp_caller_run(calibrate_again, NULL);
}
