/*
 * Explicit tasks. A task begins when a thread is free and it has been created (and what it depends on is complete); who
 * waits for tasks goes on when the last of them is complete. A thread that runs tasks while it waits is free again when
 * they are over.
 *
 * Records come from a pool of fixed size and are found by the task's handle. A task that finds no room begins when its
 * thread is free.
 */
#include "base/ompp_hash.h"
#include "base/ompp_pages.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include <sys/mman.h>

#define BUCKET_BITS 12
#define SUCCESSORS 6u

typedef struct {
    uint64_t handle;        /* created, then running; 0 = of an implicit task or a group */
    uint32_t next;          /* in its bucket, or of the free ones */
    uint32_t parent, group; /* indices; 0 = none. Of a group: the one outside of it */
    uint32_t refs;          /* tasks that name it as parent or group, and itself until it is over */
    uint32_t nsuccessors;
    uint64_t successors[SUCCESSORS]; /* created tasks that wait for this one */
    ompp_causal_flow_t flow;         /* without delays: where it is noted (ompp_replay.h) */
    ompp_clock_vector_t ready;       /* created, predecessors complete; while suspended: as it was left */
    ompp_clock_vector_t complete;    /* children, or members of the group */
} task_t;

/* All under one lock: what is done with it is short. */
static struct {
    _Atomic uint32_t lock;
    task_t *tasks; /* [OMPP_CAUSAL_TASKS], index 0 is none */
    uint32_t used, free;
    uint32_t buckets[1 << BUCKET_BITS];
    ompp_clock_vector_t begun; /* tasks that have begun, combined */
} pool;

static bool open_pool(void)
{
    void *tasks;

    if (pool.tasks) return true;
    tasks = ompp_mmap(NULL, OMPP_CAUSAL_TASKS * sizeof *pool.tasks, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tasks == MAP_FAILED) return false;
    pool.tasks = tasks;
    pool.used = 1;
    return true;
}

static uint32_t *bucket_of(uint64_t handle) { return &pool.buckets[ompp_hash_place(handle, BUCKET_BITS)]; }

static uint32_t find(uint64_t handle)
{
    uint32_t i = handle ? *bucket_of(handle) : 0;

    while (i && pool.tasks[i].handle != handle) i = pool.tasks[i].next;
    return i;
}

static void unlink_task(uint32_t index)
{
    uint32_t *link = bucket_of(pool.tasks[index].handle);

    while (*link && *link != index) link = &pool.tasks[*link].next;
    if (*link) *link = pool.tasks[index].next;
    pool.tasks[index].handle = 0;
}

static void link_task(uint32_t index, uint64_t handle)
{
    uint32_t *bucket = bucket_of(handle);

    pool.tasks[index].handle = handle;
    pool.tasks[index].next = *bucket;
    *bucket = index;
}

static uint32_t new_task(uint64_t handle)
{
    uint32_t index;

    if (!open_pool()) return 0;
    index = pool.free;
    if (index) pool.free = pool.tasks[index].next;
    else if (pool.used < OMPP_CAUSAL_TASKS) index = pool.used++;
    if (!index) return 0;
    task_t *task = &pool.tasks[index];
    task->parent = task->group = task->nsuccessors = 0;
    task->refs = 1;
    task->ready.t = task->complete.t = 0;
    task->handle = 0;
    if (handle) link_task(index, handle);
    return index;
}

/* Where events are missing a thread may know a record that is over: that stays with the free ones. */
static void drop(uint32_t index)
{
    if (!index || pool.tasks[index].refs == 0 || --pool.tasks[index].refs > 0) return;
    if (pool.tasks[index].handle) unlink_task(index);
    pool.tasks[index].next = pool.free;
    pool.free = index;
}

static uint32_t hold(uint32_t index)
{
    if (!index || pool.tasks[index].refs == 0) return 0;
    pool.tasks[index].refs++;
    return index;
}

/* The record of what the thread runs; an implicit task gets one when it has something to do with tasks. */
static uint32_t current(ompp_causal_thread_t *self)
{
    if (self->task) return self->task;
    if (!self->implicit) self->implicit = new_task(0);
    return self->implicit;
}

/* ---- What tasks do ----------------------------------------------------------------------------------------------- */

/* \return its record; 0 = none of its own. */
static uint32_t create(ompp_causal_thread_t *self, uint64_t handle)
{
    uint32_t same = find(handle), index = same ? same : new_task(handle);

    if (!index) {
        self->lost++;
        return 0;
    }
    if (!same) {
        pool.tasks[index].parent = hold(current(self));
        pool.tasks[index].group = hold(self->group);
    }
    ompp_clocks_combine(&pool.tasks[index].ready, &self->own);
    pool.tasks[index].flow.team = 0;
    return same ? 0 : index;
}

/* \return whether it is followed. */
static bool depend(uint64_t successor, uint64_t predecessor)
{
    uint32_t index = find(predecessor);
    task_t *task = index ? &pool.tasks[index] : NULL;

    if (!task) return true;
    if (task->nsuccessors == SUCCESSORS) return false;
    task->successors[task->nsuccessors++] = successor;
    return true;
}

/* The thread turns to a task, from what it was doing. */
static void push(ompp_causal_thread_t *self, uint32_t index)
{
    if (self->depth < OMPP_CAUSAL_LEVELS)
        self->levels[self->depth] =
            (ompp_causal_level_t){self->task, self->group, self->clocks.waiting != 0, self->wait, self->flow};
    self->depth++;
    self->task = index;
    self->group = index ? pool.tasks[index].group : 0;
    self->flow = index ? pool.tasks[index].flow : (ompp_causal_flow_t){0, 0, 0};
}

/* The thread turns back. Too deep: to something that is not followed. \return true when it goes on waiting there. */
static bool pop(ompp_causal_thread_t *self)
{
    if (self->depth == 0) return false;
    if (--self->depth >= OMPP_CAUSAL_LEVELS) {
        self->task = self->group = 0;
        self->lost++;
        return false;
    }
    const ompp_causal_level_t *level = &self->levels[self->depth];
    self->task = level->task;
    self->group = level->group;
    self->wait = level->wait;
    self->flow = level->flow;
    return level->waited;
}

static void begin(ompp_causal_thread_t *self, uint64_t created, uint64_t running)
{
    uint32_t index = find(created);

    self->other.t = 0;
    if (index) {
        ompp_clock_vector_copy(&self->other, &pool.tasks[index].ready);
        unlink_task(index);
        link_task(index, running);
    } else {
        self->lost++;
    }
    push(self, index);
}

static void note_begun(ompp_causal_thread_t *self) { ompp_clocks_combine(&pool.begun, &self->own); }

static void end(uint64_t running, const ompp_clock_vector_t *now)
{
    uint32_t index = find(running);
    task_t *task = &pool.tasks[index];

    if (!index) return;
    if (task->parent) ompp_clocks_combine(&pool.tasks[task->parent].complete, now);
    if (task->group) ompp_clocks_combine(&pool.tasks[task->group].complete, now);
    for (uint32_t i = 0; i < task->nsuccessors; i++) {
        uint32_t successor = find(task->successors[i]);
        if (successor) ompp_clocks_combine(&pool.tasks[successor].ready, now);
    }
    drop(task->parent);
    drop(task->group);
    task->parent = task->group = 0;
    unlink_task(index);
    drop(index);
}

/* What a waiting task goes on with: all of its children, or members of its group, that are complete. */
static void take_complete(ompp_causal_thread_t *self, uint32_t index)
{
    self->other.t = 0;
    if (!index) return;
    ompp_clock_vector_copy(&self->other, &pool.tasks[index].complete);
    pool.tasks[index].complete.t = 0;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* The thread is free again: it goes on with what it was doing before, which may be waiting. */
static void turn_back(ompp_causal_thread_t *self, ompp_time_t t)
{
    if (!pop(self)) return;
    ompp_clocks_wait(&self->clocks, t);
    if (self->wait.kind == OMPP_SYNC_BARRIER) ompp_causal_arrive_again(self, t);
}

static void lock_pool(void) { ompp_causal_lock(&pool.lock); }

static void unlock_pool(void) { ompp_causal_unlock(&pool.lock); }

/* \return 0 = it is not followed. */
static uint32_t make(ompp_causal_thread_t *self, uint64_t task, ompp_time_t t)
{
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    lock_pool();
    const uint32_t index = create(self, task);
    unlock_pool();
    return index;
}

static void do_create(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    const uint32_t index = make(self, task, t);

    (void)other;
    if (!index) ompp_causal_spoil_order(self);
    else pool.tasks[index].flow = ompp_causal_note_create(self); /* nobody can begin it before we return */
}

static void delay_create(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    (void)other;
    make(self, task, t);
}

static void do_depend(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    (void)t;
    ompp_causal_spoil_order(self);
    lock_pool();
    const bool followed = depend(task, other);
    unlock_pool();
    if (!followed) ompp_causal_watch(OMPP_WHATIF_BIT_LOST, OMPP_CAUSAL_ALL_SLOTS);
}

/* Whether another thread is in the team, or was. */
static bool has_others(const ompp_causal_thread_t *self, uint64_t team)
{
    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next)
        for (unsigned i = 0; p != self && i < OMPP_CAUSAL_BARRIERS; i++)
            if (__atomic_load_n(&p->barriers[i].team, __ATOMIC_RELAXED) == team) return true;
    return false;
}

/* Its creator runs it, whoever is free: who would be, and what else they would take meanwhile, is not gone through
 * again. */
static void run_at_once(ompp_causal_thread_t *self)
{
    const uint64_t team = (uint64_t)(uintptr_t)ompp_event_team();

    ompp_causal_spoil_order(self);
    if (team && has_others(self, team)) ompp_causal_watch(OMPP_WHATIF_BIT_TASK, OMPP_CAUSAL_ALL_SLOTS);
}

static void begin_task(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    lock_pool();
    begin(self, task, other);
    unlock_pool();
    ompp_causal_go_on(self, &self->other, t);
}

static void do_begin(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    const bool waits = self->clocks.waiting != 0, at_barrier = waits && self->wait.kind == OMPP_SYNC_BARRIER;

    lock_pool();
    const uint32_t index = find(task);
    const ompp_causal_flow_t flow = index ? pool.tasks[index].flow : (ompp_causal_flow_t){0, 0, 0};
    /* of regions for which the thread would come for a task before one that has come already */
    const uint32_t slots = ompp_causal_overtakes_clocks(self, &pool.begun);
    unlock_pool();
    if (at_barrier && flow.team) {
        ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, self->clocks.waiting);
        ompp_causal_note_arrived(self, &flow);
    }
    const int waiting = at_barrier ? -1 : (int)ompp_causal_flow_of(self);
    if (!waits && !self->waits && !ompp_causal_is_suspended(self)) run_at_once(self);
    begin_task(self, task, other, t);
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, self->clocks.since);
    ompp_causal_note_begin(self, waiting, slots);
    lock_pool();
    note_begun(self);
    unlock_pool();
}

static void delay_begin(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    begin_task(self, task, other, t);
    ompp_causal_chase(self);
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, self->clocks.since);
    lock_pool();
    ompp_causal_watch_order(self, &pool.begun, OMPP_WHATIF_BIT_TASK);
    note_begun(self);
    unlock_pool();
}

/* Not one that lies on another thread, which is told later. */
static bool is_here(const ompp_causal_thread_t *self, uint64_t task)
{
    lock_pool();
    const bool here = self->depth >= OMPP_CAUSAL_LEVELS || find(task) == self->task;
    unlock_pool();
    return here;
}

static void do_end(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    const bool here = is_here(self, task);

    (void)other;
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    lock_pool();
    end(task, &self->own);
    unlock_pool();
    if (here) ompp_causal_note_end(self);
    else ompp_causal_spoil_order(self);
    if (here) turn_back(self, t);
}

/* It keeps up before it takes another one, and before anybody goes on who waits for this one. */
static void delay_end(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    if (is_here(self, task)) {
        ompp_causal_chase(self);
        t = ompp_event_now();
    }
    do_end(self, task, other, t);
}

static void do_suspend(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    (void)other;
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    lock_pool();
    uint32_t index = find(task);
    if (index) ompp_clock_vector_copy(&pool.tasks[index].ready, &self->own);
    unlock_pool();
    ompp_causal_spoil_order(self);
    turn_back(self, t);
}

static void do_continue(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    (void)other;
    lock_pool();
    uint32_t index = find(task);
    self->other.t = 0;
    if (index) ompp_clock_vector_copy(&self->other, &pool.tasks[index].ready);
    push(self, index);
    unlock_pool();
    ompp_causal_go_on(self, &self->other, t);
}

static void delay_wait(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    (void)task, (void)other;
    ompp_clocks_wait(&self->clocks, t);
    self->wait = (ompp_causal_wait_t){OMPP_SYNC_NUM, 0, 0};
}

static void do_wait(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    delay_wait(self, task, other, t);
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    ompp_causal_note_wait(self);
}

static void delay_waited(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    (void)task, (void)other;
    lock_pool();
    take_complete(self, self->task ? self->task : self->implicit);
    unlock_pool();
    ompp_causal_go_on(self, &self->other, t);
}

static void do_waited(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    delay_waited(self, task, other, t);
    ompp_causal_note_waited(self);
}

static void do_group(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    (void)task, (void)other, (void)t;
    ompp_causal_spoil_order(self);
    lock_pool();
    uint32_t group = new_task(0);
    if (group) {
        pool.tasks[group].group = self->group;
        self->group = group;
    } else {
        self->lost++;
    }
    unlock_pool();
}

static void do_group_end(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t)
{
    (void)task, (void)other;
    lock_pool();
    const uint32_t group = self->group;
    take_complete(self, group);
    if (group) {
        self->group = pool.tasks[group].group;
        pool.tasks[group].group = 0;
        drop(group);
    }
    unlock_pool();
    ompp_causal_go_on(self, &self->other, t);
}

ompp_causal_action_t *const ompp_causal_tasks[] = {
    [OMPP_SYNC_TASK_CREATE] = do_create,       [OMPP_SYNC_TASK_DEPEND] = do_depend,
    [OMPP_SYNC_TASK_BEGIN] = do_begin,         [OMPP_SYNC_TASK_END] = do_end,
    [OMPP_SYNC_TASK_SUSPEND] = do_suspend,     [OMPP_SYNC_TASK_CONTINUE] = do_continue,
    [OMPP_SYNC_TASK_WAIT] = do_wait,           [OMPP_SYNC_TASK_WAITED] = do_waited,
    [OMPP_SYNC_TASK_GROUP] = do_group,         [OMPP_SYNC_TASK_GROUP_WAIT] = do_wait,
    [OMPP_SYNC_TASK_GROUP_END] = do_group_end,
};

ompp_causal_action_t *const ompp_causal_delay_tasks[] = {
    [OMPP_SYNC_TASK_CREATE] = delay_create,    [OMPP_SYNC_TASK_DEPEND] = do_depend,
    [OMPP_SYNC_TASK_BEGIN] = delay_begin,      [OMPP_SYNC_TASK_END] = delay_end,
    [OMPP_SYNC_TASK_SUSPEND] = do_suspend,     [OMPP_SYNC_TASK_CONTINUE] = do_continue,
    [OMPP_SYNC_TASK_WAIT] = delay_wait,        [OMPP_SYNC_TASK_WAITED] = delay_waited,
    [OMPP_SYNC_TASK_GROUP] = do_group,         [OMPP_SYNC_TASK_GROUP_WAIT] = delay_wait,
    [OMPP_SYNC_TASK_GROUP_END] = do_group_end,
};

void ompp_causal_task(ompp_sync_task_t what, uint64_t task, uint64_t other, ompp_time_t t)
{
    ompp_causal_thread_t *self = ompp_causal_enter();

    if (!self) return;
    const ompp_time_t begin = ompp_causal_time_event(self);
    ompp_causal_settle(self);
    self->syncs++;
    ompp_causal.mode->tasks[what](self, task, other, t);
    ompp_causal_measure(self, t);
    ompp_causal_timed(self, begin);
    ompp_causal_leave(self);
}
