/*
 * OMPT: the tool side of LLVM libomp's (and other runtimes') OpenMP tools interface. Translates callbacks into events,
 * nothing else. Sources: OpenMP 5.1 specification chapter 4; what libomp 14 and 19 really do is in docs/openmp.md.
 *
 * What the translation rests on:
 *  - A worker's leaving of the implicit barrier and the end of its implicit task arrive at its next fork, without
 *    parallel data: ompp_event_member_barrier() and _member_end() clamp them to the team's join.
 *  - Nothing is stored in the data of implicit tasks, nor of tasks with the flag ompt_task_taskwait (libomp asserts
 *    that it is empty); teams hang on parallel data, explicit tasks on their own.
 *  - libomp frees a team before it tells the end of its parallel region. The parallel data may by then be those of a
 *    team that another thread has forked (seen with inner teams), so the thread keeps for itself what it has forked.
 *  - A worksharing construct's implicit barrier comes after the end of its work: ompp_event_exit_or_barrier().
 *  - End events may come without a return address, or with one inside libomp: the region they end is the innermost open
 *    one of that construct on the thread.
 *  - What libomp runs for itself is not the program's: the team of its hidden helper threads, and the implicit parallel
 *    region of each team of a league. They have no frames (is_own_team).
 *  - Return addresses are not always the right ones: ompp_ompt_code.c.
 *  - A cancelled construct jumps to its end: on_cancel closes what is open. Of loops only static ones tell their end
 *    then.
 *  - A test_lock that fails gives an acquire event and no other (libomp 14 does not even tell it from set_lock): the
 *    acquisition of a lock is entered when it has succeeded, and counted as failed at the next mutex event otherwise.
 */
#include "runtime/ompp_event.h"

#include "model/ompp_profile.h"
#include "model/ompp_whatif_profile.h"
#include "ompt/ompp_ompt_ask.h"
#include "ompt/ompp_ompt_code.h"
#include "ompt/ompp_ompt_tool.h"

#include <omp-tools.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FORKS 16u /* parallel regions forked inside one another by one thread */

typedef struct {
    const void *code;
    ompp_team_t *team;
} ompp_ompt_fork_t;

/* Where a thread was a worker so far. One that was in a nested team may be in any each time. */
typedef enum { ROLE_UNKNOWN, ROLE_OUTERMOST, ROLE_NESTED } role_t;

/* Of one thread: what end events need and do not tell. */
typedef struct {
    ompp_ompt_fork_t forks[MAX_FORKS]; /* parallel regions it has forked and not joined, innermost last */
    unsigned nforks;
    bool league_begins; /* what it forks next is the implicit parallel region of its team of a league */
    /* of the implicit tasks it is in, innermost in bit 0: 1 = of libomp's own teams */
    uint64_t own_teams;
    const void *group_code;    /* where the last taskgroup began */
    const void *taskloop_code; /* where the taskloop it is in begins */
    bool dynamic_loop;         /* it is in a loop whose iterations are handed out as it goes */
    bool work_cancelled;       /* the worksharing construct it was in has been left already */
    union {
        struct {
            ompp_region_ref_t lock; /* lock it tries to acquire; 0 = none */
            unsigned singles;       /* single constructs it executes, as far as their ends have been told */
        };
        uint64_t untold; /* both: 0 = it is in nothing whose end may not be told */
    };
    ompp_time_t lock_since;  /* 0 = it will only be counted */
    ompp_region_ref_t mutex; /* critical, ordered: what it waits for; found before it has it, for others wait then */
    bool left;               /* the barrier of the region that it has forked, and is in: the join ends its part */
    role_t role;
} ompp_ompt_self_t;

static __thread ompp_ompt_self_t self __attribute__((tls_model("initial-exec")));

/* ---- Where it is in the program ---------------------------------------------------------------------------------- */

static __attribute__((noinline)) ompp_region_ref_t region_at_slow(ompp_construct_t construct, const void *code)
{
    return ompp_region_at(construct, ompp_code_of(construct, code), NULL);
}

/* A place that this thread has met is right, and none of the library's. */
static inline ompp_region_ref_t region_at(ompp_construct_t construct, const void *code)
{
    const ompp_region_ref_t region = ompp_region_met_at(construct, code);

    return __builtin_expect(region != 0, 1) ? region : region_at_slow(construct, code);
}

static void ends_at(ompp_region_ref_t region, const void *code)
{
    if (!ompp_region_has_end(region)) ompp_region_ends_at(region, ompp_code_by_stack(code));
}

/* The mark of libomp's own teams, in the place of a team. */
static char own_team;

static ompp_team_t *team_of(const ompt_data_t *parallel) { return parallel ? parallel->ptr : NULL; }

static bool is_own_team(const ompp_team_t *team) { return (const char *)team == &own_team; }

/* The lock that was tried last was not acquired: counted, without time. */
static __attribute__((noinline)) void flush_failed_lock_slow(void)
{
    const ompp_time_t t = self.lock_since ? self.lock_since : ompp_event_now();

    ompp_event_enter(self.lock, t);
    ompp_event_exit(self.lock, t);
    ompp_sync_flag(OMPP_WHATIF_F_POLLING, true);
    self.lock = 0;
}

static inline void flush_failed_lock(void)
{
    if (__builtin_expect(self.lock != 0, 0)) flush_failed_lock_slow();
}

/* Data of a task that is not measured; that of an implicit task is 0. */
#define UNMEASURED 2u
static ompp_task_t handle_of(const ompt_data_t *task) { return task && task->value != UNMEASURED ? task->value : 0; }

static bool has_untied; /* an untied task has been created */

/* As a relaxed load, which compilers do not make part of a comparison. */
static inline bool some_untied(void) { return __builtin_expect(*(const volatile bool *)&has_untied, 0); }

/* A part of an untied task ends without an event when another thread has the task already: what the thread runs now
 * tells. */
static inline void runs_now(const ompt_data_t *task, ompp_time_t t)
{
    if (!some_untied()) return;
    if (task && task->value != UNMEASURED && !(task->value & 1)) ompp_event_task_current(task->value, t);
}

/* ---- Parallel regions -------------------------------------------------------------------------------------------- */

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                              int flags, const void *code)
{
    const ompp_construct_t construct = flags & ompt_parallel_league ? OMPP_CONSTRUCT_TEAMS : OMPP_CONSTRUCT_PARALLEL;
    ompp_team_t *team = (ompp_team_t *)&own_team;

    (void)requested;
    if (__builtin_expect(!code, 0)) code = ompp_ask_fork_code(frame);
    if (some_untied()) runs_now(task, ompp_event_now());
    if (__builtin_expect(!self.league_begins && !ompp_code_is_runtime(code), 1)) {
        const ompp_region_ref_t region = region_at(construct, code);
        team = ompp_event_fork(region, ompp_event_now());
    }
    parallel->ptr = team;
    self.league_begins = false;
    if (self.nforks < MAX_FORKS) self.forks[self.nforks] = (ompp_ompt_fork_t){code, team};
    self.nforks++;
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
    (void)task, (void)flags, (void)code;
    if (!self.nforks) return;
    self.nforks--;
    ompp_team_t *team = self.nforks < MAX_FORKS ? self.forks[self.nforks].team : team_of(parallel);
    if (!is_own_team(team)) ompp_event_join(team, ompp_event_now());
}

/* Asked once per thread, of those that serve nested teams each time. */
static __attribute__((noinline)) bool is_nested_slow(void)
{
    const bool nested = ompp_ask_is_nested();

    if (nested) self.role = ROLE_NESTED;
    else if (self.role == ROLE_UNKNOWN) self.role = ROLE_OUTERMOST;
    return nested;
}

/*
 * A worker leaves the barrier at a team's end, and its implicit task, as it begins in its next team: that closes what
 * it has open, as does the end of measurement. In a region that it has forked itself the thread is no worker.
 */
static inline bool is_told_by_next_begin(void) { return self.nforks == 0 && !ompp_sync_follower(); }

static __attribute__((noinline)) void begins_slow(ompp_team_t *team, unsigned index)
{
    const ompp_time_t t = ompp_event_now();
    const bool nested = index > 0 && self.role != ROLE_OUTERMOST && is_nested_slow();

    ompp_event_member_begin(team, index, nested, t);
}

/* Without a call but the last one. */
static inline void implicit_task_begins(ompp_team_t *team, unsigned index, bool initial)
{
    /* The initial task of a thread needs no frame, it is the root; that of a team of a league has the league's data. */
    const bool own = is_own_team(team) || (__builtin_expect(initial, 0) && !team);

    self.left = self.league_begins = false;
    self.own_teams <<= 1;
    if (__builtin_expect(initial, 0)) self.league_begins = team != NULL;
    if (own) self.own_teams |= 1;
    else if ((index > 0 && self.role != ROLE_OUTERMOST) || !ompp_clock.use_tsc) begins_slow(team, index);
    else ompp_event_member_begin(team, index, false, ompp_clock_tsc());
}

static __attribute__((noinline)) void member_ends(void)
{
    flush_failed_lock();
    ompp_event_member_end(ompp_event_now());
}

/* When the forking thread has left the barrier, there is no more to tell. */
static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                             unsigned team_size, unsigned index, int flags)
{
    (void)task, (void)team_size;
    if (endpoint == ompt_scope_begin) {
        implicit_task_begins(team_of(parallel), index, flags & ompt_task_initial);
        return;
    }
    const bool own = self.own_teams & 1;
    self.own_teams >>= 1;
    if (is_told_by_next_begin() || own || self.left) flush_failed_lock();
    else member_ends();
}

static inline void member_barrier(bool begin, ompp_time_t t)
{
    if (self.own_teams & 1) return;
    if (!begin) self.left = self.nforks > 0;
    ompp_event_member_barrier(begin, t);
}

/* ---- Worksharing ------------------------------------------------------------------------------------------------- */

typedef enum { WORK_NONE, WORK_LOOP, WORK_SECTIONS, WORK_SINGLE, WORK_SINGLE_OTHER, WORK_PLAIN } work_style_t;

/* By ompt_work_t. Taskloop and distribute have no exit barrier of their own. */
static const struct {
    ompp_construct_t construct;
    work_style_t style;
} works[] = {
    [ompt_work_loop] = {OMPP_CONSTRUCT_LOOP, WORK_LOOP},
    [ompt_work_sections] = {OMPP_CONSTRUCT_SECTIONS, WORK_SECTIONS},
    [ompt_work_single_executor] = {OMPP_CONSTRUCT_SINGLE, WORK_SINGLE},
    [ompt_work_single_other] = {OMPP_CONSTRUCT_SINGLE, WORK_SINGLE_OTHER},
    [ompt_work_workshare] = {OMPP_CONSTRUCT_WORKSHARE, WORK_LOOP},
    [ompt_work_distribute] = {OMPP_CONSTRUCT_DISTRIBUTE, WORK_PLAIN},
    [ompt_work_taskloop] = {OMPP_CONSTRUCT_TASKLOOP, WORK_PLAIN},
    [ompt_work_scope] = {OMPP_CONSTRUCT_SCOPE, WORK_LOOP},
    [ompt_work_loop_static] = {OMPP_CONSTRUCT_LOOP, WORK_LOOP},
    [ompt_work_loop_dynamic] = {OMPP_CONSTRUCT_LOOP, WORK_LOOP},
    [ompt_work_loop_guided] = {OMPP_CONSTRUCT_LOOP, WORK_LOOP},
    [ompt_work_loop_other] = {OMPP_CONSTRUCT_LOOP, WORK_LOOP},
};

/*
 * Of a single construct that gcc has compiled, libomp does not tell the end. No barrier and no other worksharing
 * construct can be inside of it: it has ended when one of these comes.
 */
static __attribute__((noinline)) void end_single_slow(ompp_time_t t)
{
    ompp_region_ref_t region = ompp_event_innermost(OMPP_CONSTRUCT_SINGLE);

    if (!ompp_region_is_kept(region)) return;
    self.singles--;
    ompp_event_unwind(region, t);
    ompp_event_phase(region, OMPP_PHASE_MGMT, t);
    ompp_event_exit_or_barrier(region, t);
}

static inline void end_single(ompp_time_t t)
{
    if (__builtin_expect(self.singles != 0, 0)) end_single_slow(t);
}

static void work_begin(ompp_construct_t construct, work_style_t style, uint64_t count, const void *code, ompp_time_t t)
{
    if (construct == OMPP_CONSTRUCT_TASKLOOP) {
        /* Its own address lies inside libomp; that of the taskgroup around it is right, where there is one. */
        code = self.group_code ? self.group_code : ompp_code_of(OMPP_CONSTRUCT_TASKLOOP, code);
        self.taskloop_code = code;
    }
    ompp_region_ref_t region = region_at(construct, code);

    self.work_cancelled = false;
    if (style != WORK_PLAIN) end_single(t);
    ompp_event_enter(region, t);
    if (style == WORK_SINGLE) {
        self.singles++;
        ompp_event_phase(region, OMPP_PHASE_SINGLE, t);
    }
    for (unsigned n = style == WORK_SECTIONS ? ompp_ask_sections(count) : 0; n > 0; n--)
        ompp_event_phase(region, OMPP_PHASE_SECTION, t);
}

static void work_end(ompp_construct_t construct, work_style_t style, const void *code, ompp_time_t t)
{
    ompp_region_ref_t region = ompp_event_innermost(construct);

    if (self.work_cancelled && (style == WORK_LOOP || style == WORK_SECTIONS)) {
        self.work_cancelled = false;
        return;
    }
    if (style == WORK_SINGLE) {
        self.singles -= self.singles > 0;
        ends_at(region, code);
    }
    if (style == WORK_SECTIONS || style == WORK_SINGLE) ompp_event_phase(region, OMPP_PHASE_MGMT, t);
    if (style == WORK_PLAIN) ompp_event_exit(region, t);
    else ompp_event_exit_or_barrier(region, t);
}

/*
 * For those that follow waiting. Who gets which iterations is decided as the loop goes; of a static schedule it is not,
 * although dispatch events come.
 */
static __attribute__((noinline)) void follow_work(ompt_work_t work, ompt_scope_endpoint_t endpoint, ompp_time_t t)
{
    const uint64_t team = (uint64_t)(uintptr_t)ompp_event_team();
    const bool dynamic =
        works[work].construct == OMPP_CONSTRUCT_LOOP && work != ompt_work_loop && work != ompt_work_loop_static;

    if (dynamic && endpoint == ompt_scope_begin) ompp_sync_wait(OMPP_SYNC_CHUNK, team, t);
    if (dynamic && endpoint == ompt_scope_end) ompp_sync_publish(OMPP_SYNC_CHUNK, team, t);
    if (works[work].construct == OMPP_CONSTRUCT_LOOP) self.dynamic_loop = dynamic && endpoint == ompt_scope_begin;
    if (works[work].construct == OMPP_CONSTRUCT_SINGLE && endpoint == ompt_scope_begin)
        ompp_sync_publish(OMPP_SYNC_FIRST, team, t);
}

static void on_work(ompt_work_t work, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                    uint64_t count, const void *code)
{
    ompp_time_t t = ompp_event_now();

    (void)parallel;
    runs_now(task, t);
    if ((unsigned)work >= sizeof works / sizeof works[0] || works[work].style == WORK_NONE) return;
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) follow_work(work, endpoint, t);
    if (endpoint != ompt_scope_end) work_begin(works[work].construct, works[work].style, count, code, t);
    if (endpoint != ompt_scope_begin) work_end(works[work].construct, works[work].style, code, t);
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
    ompp_time_t t = ompp_event_now();

    (void)parallel;
    runs_now(task, t);
    if (self.own_teams & 1 && ompp_code_is_runtime(code)) return;
    if (endpoint == ompt_scope_begin) {
        ompp_event_enter(region_at(OMPP_CONSTRUCT_MASTER, code), t);
    } else {
        ends_at(ompp_event_exit_innermost(OMPP_CONSTRUCT_MASTER, t), code);
    }
}

/* ---- Barriers, taskwait, taskgroup ------------------------------------------------------------------------------- */

static void plain_sync(ompp_construct_t construct, bool begin, const void *code, ompp_time_t t)
{
    if (begin) {
        ompp_region_ref_t region = region_at(construct, code);
        ompp_event_enter(region, t);
    } else {
        ompp_region_ref_t region = ompp_event_exit_innermost(construct, t);
        if (construct == OMPP_CONSTRUCT_TASKGROUP && !ompp_code_is_runtime(code)) ends_at(region, code);
    }
}

/*
 * libomp 14 has one kind for the barriers at the end of a team and of a worksharing construct. The team's has the
 * address of the parallel region on the thread that forked it, and none on the others.
 */
/* All threads of the team wait for one another. That of the team's end is told by ompp_event_member_barrier(). */
static inline void wait_for_team(bool begin, ompp_time_t t)
{
    if (__builtin_expect(!ompp_sync_follower(), 1)) return;
    const uint64_t team = (uint64_t)(uintptr_t)ompp_event_team();

    if (!team) return;
    if (begin) ompp_sync_arrive(team, t);
    else ompp_sync_resume(OMPP_SYNC_BARRIER, team, t);
}

static void explicit_barrier(bool begin, const void *code, ompp_time_t t)
{
    if (!begin) wait_for_team(begin, t); /* inside of the region: it is what is waited in */
    plain_sync(OMPP_CONSTRUCT_BARRIER, begin, code, t);
    if (begin) wait_for_team(begin, t);
}

static void work_barrier(bool begin, ompp_time_t t)
{
    if (!begin) wait_for_team(begin, t);
    ompp_event_barrier_phase(begin, t);
    if (begin) wait_for_team(begin, t);
}

static void implicit_barrier(bool begin, const void *code, ompp_time_t t)
{
    bool of_team = !code || (self.nforks > 0 && self.nforks <= MAX_FORKS && self.forks[self.nforks - 1].code == code);

    if (of_team) member_barrier(begin, t);
    else work_barrier(begin, t);
}

/*
 * The wait inside such a region. That for the tasks of a taskgroup counts from here. Others are not needed, and take
 * two calls each. So this is asked for at the first taskgroup.
 */
static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                                ompt_data_t *task, const void *code)
{
    (void)parallel, (void)task, (void)code;
    if (kind != ompt_sync_region_taskgroup || endpoint != ompt_scope_begin) return;
    const ompp_time_t t = ompp_event_now();
    ompp_event_phase(ompp_event_innermost(OMPP_CONSTRUCT_TASKGROUP), OMPP_PHASE_EXITBAR, t);
    ompp_sync_task(OMPP_SYNC_TASK_GROUP_WAIT, 0, 0, t);
}

static void follow_groups(void)
{
    static bool asked;

    if (!__atomic_exchange_n(&asked, true, __ATOMIC_RELAXED))
        ompp_ask_for(ompt_callback_sync_region_wait, (ompt_callback_t)on_sync_region_wait);
}

static __attribute__((noinline)) void sync_region(ompt_sync_region_t kind, bool begin, const ompt_data_t *task,
                                                  const void *code)
{
    const ompp_time_t t = ompp_event_now();

    flush_failed_lock();
    runs_now(task, t);
    if (begin && kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup &&
        kind != ompt_sync_region_reduction)
        end_single(t);
    switch ((int)kind) {
    case ompt_sync_region_barrier_implicit_parallel:
    case ompt_sync_region_barrier_teams: member_barrier(begin, t); break;
    case ompt_sync_region_barrier_implicit_workshare:
    case ompt_sync_region_barrier_implementation: work_barrier(begin, t); break;
    case ompt_sync_region_barrier_implicit: implicit_barrier(begin, code, t); break;
    case ompt_sync_region_barrier:
    case ompt_sync_region_barrier_explicit: explicit_barrier(begin, code, t); break;
    case ompt_sync_region_taskwait:
        plain_sync(OMPP_CONSTRUCT_TASKWAIT, begin, code, t);
        ompp_sync_task(begin ? OMPP_SYNC_TASK_WAIT : OMPP_SYNC_TASK_WAITED, 0, 0, t);
        break;
    case ompt_sync_region_taskgroup:
        if (begin) {
            follow_groups();
            code = ompp_code_of(OMPP_CONSTRUCT_TASKGROUP, code);
        }
        self.group_code = begin ? code : NULL;
        plain_sync(OMPP_CONSTRUCT_TASKGROUP, begin, code, t);
        ompp_sync_task(begin ? OMPP_SYNC_TASK_GROUP : OMPP_SYNC_TASK_GROUP_END, 0, 0, t);
        break;
    default: break;
    }
}

static __attribute__((noinline)) void explicit_barrier_now(bool begin, const void *code)
{
    explicit_barrier(begin, code, ompp_event_now());
}

static __attribute__((noinline)) void work_barrier_now(bool begin) { work_barrier(begin, ompp_event_now()); }
static __attribute__((noinline)) void member_arrives(void) { member_barrier(true, ompp_event_now()); }
static __attribute__((noinline)) void member_leaves(void) { member_barrier(false, ompp_event_now()); }

/*
 * Barriers, while the thread is in nothing whose end the library does not tell. Workers are told that they leave the
 * one at a team's end when the region is over.
 */
static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                           ompt_data_t *task, const void *code)
{
    const bool begin = endpoint == ompt_scope_begin;

    (void)parallel;
    if (__builtin_expect(self.untold != 0, 0) || some_untied()) {
        sync_region(kind, begin, task, code);
        return;
    }
    switch ((int)kind) {
    case ompt_sync_region_barrier_implicit_parallel:
        if (begin) member_arrives();
        else if (!is_told_by_next_begin()) member_leaves();
        break;
    case ompt_sync_region_barrier_explicit: explicit_barrier_now(begin, code); break;
    case ompt_sync_region_barrier_implicit_workshare: work_barrier_now(begin); break;
    default: sync_region(kind, begin, task, code);
    }
}

/* ---- Cancellation ------------------------------------------------------------------------------------------------ */

/* This thread goes on at the end of the construct. Of a taskgroup, at the end of its task, which tells so. */
static void on_cancel(ompt_data_t *task, int flags, const void *code)
{
    ompp_time_t t = ompp_event_now();

    (void)code;
    flush_failed_lock();
    runs_now(task, t);
    ompp_sync_flag(OMPP_WHATIF_F_DYNAMIC, flags & ompt_cancel_activated);
    if (flags & ompt_cancel_parallel) {
        ompp_event_unwind(ompp_event_innermost(OMPP_CONSTRUCT_PARALLEL), t);
        member_barrier(true, t);
    } else if (flags & (ompt_cancel_loop | ompt_cancel_sections)) {
        bool loop = flags & ompt_cancel_loop;
        ompp_region_ref_t region = ompp_event_innermost(loop ? OMPP_CONSTRUCT_LOOP : OMPP_CONSTRUCT_SECTIONS);
        ompp_event_unwind(region, t);
        if (!loop) ompp_event_phase(region, OMPP_PHASE_MGMT, t);
        ompp_event_exit_or_barrier(region, t);
        self.work_cancelled = true;
    }
}

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

static ompp_construct_t mutex_construct(ompt_mutex_t kind)
{
    switch (kind) {
    case ompt_mutex_critical: return OMPP_CONSTRUCT_CRITICAL;
    case ompt_mutex_ordered: return OMPP_CONSTRUCT_ORDERED;
    case ompt_mutex_atomic: return OMPP_CONSTRUCT_ATOMIC;
    default: return OMPP_CONSTRUCT_LOCK;
    }
}

static ompp_sync_object_t mutex_kind(ompt_mutex_t kind)
{
    return kind == ompt_mutex_ordered ? OMPP_SYNC_ORDERED : OMPP_SYNC_MUTEX;
}

/* It comes back with the lock, or not at all; a nest lock that the thread has already is not waited for, and one that
 * is tested neither. */
static bool waits_for_lock(ompt_mutex_t kind) { return kind == ompt_mutex_lock; }

static void on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void *code)
{
    ompp_construct_t construct = mutex_construct(kind);

    (void)hint, (void)impl;
    flush_failed_lock();
    if (construct == OMPP_CONSTRUCT_LOCK) {
        self.lock = ompp_region_lock((const void *)(uintptr_t)wait);
        self.lock_since = ompp_event_is_counted(self.lock) ? 0 : ompp_event_now();
        /* Told here, not when it is over: with delays a thread waits for its turn before it has the lock, not while
         * others wait for it. */
        if (waits_for_lock(kind)) ompp_sync_wait(OMPP_SYNC_MUTEX, wait, self.lock_since);
    } else {
        self.mutex = region_at(construct, code);
        ompp_event_enter_brief(self.mutex);
        if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_sync_wait(mutex_kind(kind), wait, ompp_event_now());
    }
}

static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code)
{
    ompp_construct_t construct = mutex_construct(kind);

    (void)code;
    if (construct == OMPP_CONSTRUCT_LOCK && !waits_for_lock(kind)) {
        ompp_sync_wait(OMPP_SYNC_MUTEX, wait, self.lock_since);
        ompp_sync_flag(OMPP_WHATIF_F_POLLING, false);
    }
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) /* may delay it */
        ompp_sync_resume(mutex_kind(kind), wait, ompp_event_now());
    if (construct != OMPP_CONSTRUCT_LOCK) {
        ompp_event_phase_brief(self.mutex, OMPP_PHASE_BODY);
        self.mutex = 0;
    } else if (self.lock) {
        if (self.lock_since) ompp_event_enter(self.lock, self.lock_since);
        else ompp_event_enter_brief(self.lock);
        ompp_event_phase_brief(self.lock, OMPP_PHASE_BODY);
        self.lock = 0;
    }
}

/* A nest lock that the thread holds already: its acquire event was no acquisition, and no failed one either. */
static void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait, const void *code)
{
    (void)wait, (void)code;
    if (endpoint == ompt_scope_begin) self.lock = 0;
}

static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code)
{
    ompp_construct_t construct = mutex_construct(kind);
    ompp_region_ref_t region;

    flush_failed_lock();
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_sync_publish(mutex_kind(kind), wait, ompp_event_now());
    if (construct == OMPP_CONSTRUCT_LOCK) {
        region = ompp_region_lock((const void *)(uintptr_t)wait);
    } else {
        region = ompp_event_innermost(construct);
        if (!ompp_region_has_end(region)) {
            ompp_region_locked_by(region, (const void *)(uintptr_t)wait);
            ompp_region_ends_at(region, ompp_code_by_stack(code));
        }
    }
    ompp_event_released_brief(region);
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static ompp_region_ref_t task_region(int flags, const void *code)
{
    /* libomp's tasks of target constructs are untied */
    bool untied = flags & ompt_task_untied && flags & ompt_task_explicit;
    if (untied) __atomic_store_n(&has_untied, true, __ATOMIC_RELAXED);
    ompp_construct_t construct = untied ? OMPP_CONSTRUCT_UTASK : OMPP_CONSTRUCT_TASK;

    if (!ompp_code_is_runtime(code)) return region_at(construct, code);
    if (ompp_event_innermost(OMPP_CONSTRUCT_TASKLOOP)) return ompp_region_at(construct, self.taskloop_code, NULL);
    /* libomp splits long taskloops by tasks of its own, which make the others, on any thread. */
    ompp_region_ref_t same = ompp_event_task_region();
    return same ? same : region_at(construct, code);
}

static void on_task_dependence(ompt_data_t *before, ompt_data_t *after)
{
    if (handle_of(before) && handle_of(after))
        ompp_sync_task(OMPP_SYNC_TASK_DEPEND, after->value, before->value, ompp_event_now());
}

/* Iterations that wait for others of the same loop (doacross): which, is not told in a form that could be followed. */
static void on_dependences(ompt_data_t *task, const ompt_dependence_t *on, int number)
{
    (void)task;
    if (number > 0 && on[0].dependence_type == ompt_dependence_type_source) ompp_sync_flag(OMPP_WHATIF_F_LOST, true);
}

/* Iterations of a loop are handed out, with any schedule. */
static void on_dispatch(ompt_data_t *parallel, ompt_data_t *task, ompt_dispatch_t kind, ompt_data_t instance)
{
    (void)parallel, (void)task, (void)instance;
    if (kind != ompt_dispatch_section && self.dynamic_loop)
        ompp_sync_resume(OMPP_SYNC_CHUNK, (uint64_t)(uintptr_t)ompp_event_team(), ompp_event_now());
}

static void on_task_create(ompt_data_t *encountering, const ompt_frame_t *frame, ompt_data_t *task, int flags,
                           int dependences, const void *code)
{
    (void)frame, (void)dependences;
    if (some_untied()) runs_now(encountering, ompp_event_now());
    if (flags & ompt_task_taskwait) {
        /* A wait for dependences: taskwait depend, or an undeferred task before it begins. on_task_schedule() tells its
         * end. */
        ompp_region_ref_t wait = region_at(OMPP_CONSTRUCT_TASKWAIT, code);
        ompp_event_enter(wait, ompp_event_now());
        return;
    }
    if (!task || !(flags & (ompt_task_explicit | ompt_task_target))) return;
    ompp_region_ref_t region = task_region(flags, code);
    ompp_time_t t = ompp_event_now();
    ompp_event_enter(region, t);
    ompp_event_exit(region, t);
    task->value = ompp_event_task_create(ompp_region_exec_of(region), t);
    if (!task->value) task->value = UNMEASURED;
}

static bool is_over(ompt_task_status_t status)
{
    return status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
}

/*
 * prior stops, next goes on. Implicit tasks carry no handle, so a next without one is the task that lies below; a next
 * that was only created begins on top; a running one either lies below (then prior is suspended) or was suspended.
 */
static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    ompp_task_t before = handle_of(prior), after = handle_of(next);
    ompp_time_t t = ompp_event_now();

    if (status == ompt_taskwait_complete) ompp_event_exit_innermost(OMPP_CONSTRUCT_TASKWAIT, t);
    if (status == ompt_task_early_fulfill || status == ompt_task_late_fulfill || status == ompt_taskwait_complete)
        return;
    runs_now(prior, t);
    if (is_over(status)) {
        ompp_event_task_end(before, t);
        if (prior && before) prior->value = 0;
    }
    if (next && next->value == UNMEASURED) return;
    if (after & 1) {
        ompp_event_task_begin(&after, t);
        next->value = after ? after : UNMEASURED;
    } else if (!is_over(status) || ompp_event_task_suspended(after)) {
        if (ompp_event_task_suspended(after)) ompp_event_task_resume(after, t);
        else if (ompp_event_task_below(after)) ompp_event_task_suspend(before, t);
    }
}

/* ---- Registration ------------------------------------------------------------------------------------------------ */

#define ROW(name)                                                             \
    {                                                                         \
        ompt_callback_##name, (ompt_callback_t)on_##name, #name, false, false \
    }
#define MUTEX(name)                                                          \
    {                                                                        \
        ompt_callback_##name, (ompt_callback_t)on_##name, #name, true, false \
    }
#define SYNC(name)                                                           \
    {                                                                        \
        ompt_callback_##name, (ompt_callback_t)on_##name, #name, false, true \
    }
const ompp_ompt_callback_t ompp_ompt_callbacks[] = {
    ROW(parallel_begin),   ROW(parallel_end), ROW(implicit_task),   ROW(work),
    ROW(masked),           ROW(sync_region),  MUTEX(mutex_acquire), MUTEX(mutex_acquired),
    MUTEX(mutex_released), MUTEX(nest_lock),  ROW(task_create),     ROW(task_schedule),
    ROW(cancel),           SYNC(dispatch),    SYNC(dependences),    SYNC(task_dependence),
};
#undef ROW
#undef MUTEX
#undef SYNC
const size_t ompp_ompt_ncallbacks = sizeof ompp_ompt_callbacks / sizeof ompp_ompt_callbacks[0];
