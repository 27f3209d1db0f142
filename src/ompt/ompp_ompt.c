/*
 * OMPT: the tool side of LLVM libomp's (and other runtimes') OpenMP tools interface. Translates callbacks into events,
 * nothing else. Sources: OpenMP 5.1 specification chapter 4; what libomp 14 and 19 really do is in docs/openmp.md.
 * Mutexes are in ompp_ompt_mutex.c, tasks in ompp_ompt_task.c, what is kept of a thread in ompp_ompt_self.c.
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
#include "ompt/ompp_ompt_events.h"
#include "ompt/ompp_ompt_self.h"
#include "ompt/ompp_ompt_tool.h"

#include <omp-tools.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Where it is in the program ---------------------------------------------------------------------------------- */

static void ends_at(ompp_region_ref_t region, const void *code)
{
    if (!ompp_region_has_end(region)) ompp_region_ends_at(region, ompp_code_by_stack(code));
}

/* The mark of libomp's own teams, in the place of a team. */
static char own_team;

static ompp_team_t *team_of(const ompt_data_t *parallel) { return parallel ? parallel->ptr : NULL; }

static bool is_own_team(const ompp_team_t *team) { return (const char *)team == &own_team; }

/* ---- Parallel regions -------------------------------------------------------------------------------------------- */

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                              int flags, const void *code)
{
    const ompp_construct_t construct = flags & ompt_parallel_league ? OMPP_CONSTRUCT_TEAMS : OMPP_CONSTRUCT_PARALLEL;
    ompp_team_t *team = (ompp_team_t *)&own_team;

    (void)requested;
    if (__builtin_expect(!code, 0)) code = ompp_ask_fork_code(frame);
    if (ompp_ompt_some_untied()) ompp_ompt_runs_now(task, ompp_event_now());
    if (__builtin_expect(!ompp_ompt_self.league_begins && !ompp_code_is_runtime(code), 1)) {
        const ompp_region_ref_t region = ompp_ompt_region_at(construct, code);
        team = ompp_event_fork(region, ompp_event_now());
    }
    parallel->ptr = team;
    ompp_ompt_self.league_begins = false;
    if (ompp_ompt_self.nforks < OMPP_OMPT_FORKS)
        ompp_ompt_self.forks[ompp_ompt_self.nforks] = (ompp_ompt_fork_t){code, team};
    ompp_ompt_self.nforks++;
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
    (void)task, (void)flags, (void)code;
    if (!ompp_ompt_self.nforks) return;
    ompp_ompt_self.nforks--;
    ompp_team_t *team =
        ompp_ompt_self.nforks < OMPP_OMPT_FORKS ? ompp_ompt_self.forks[ompp_ompt_self.nforks].team : team_of(parallel);
    if (!is_own_team(team)) ompp_event_join(team, ompp_event_now());
}

/* Asked once per thread, of those that serve nested teams each time. */
static __attribute__((noinline)) bool is_nested_slow(void)
{
    const bool nested = ompp_ask_is_nested();

    if (nested) ompp_ompt_self.role = OMPP_OMPT_NESTED;
    else if (ompp_ompt_self.role == OMPP_OMPT_UNKNOWN) ompp_ompt_self.role = OMPP_OMPT_OUTERMOST;
    return nested;
}

/*
 * A worker leaves the barrier at a team's end, and its implicit task, as it begins in its next team: that closes what
 * it has open, as does the end of measurement. In a region that it has forked itself the thread is no worker.
 */
static inline bool is_told_by_next_begin(void) { return ompp_ompt_self.nforks == 0 && !ompp_sync_follower(); }

static __attribute__((noinline)) void begins_slow(ompp_team_t *team, unsigned index)
{
    const ompp_time_t t = ompp_event_now();
    const bool nested = index > 0 && ompp_ompt_self.role != OMPP_OMPT_OUTERMOST && is_nested_slow();

    ompp_event_member_begin(team, index, nested, t);
}

/* Without a call but the last one. */
static inline void implicit_task_begins(ompp_team_t *team, unsigned index, bool initial)
{
    /* The initial task of a thread needs no frame, it is the root; that of a team of a league has the league's data. */
    const bool own = is_own_team(team) || (__builtin_expect(initial, 0) && !team);

    ompp_ompt_self.left = ompp_ompt_self.league_begins = false;
    ompp_ompt_self.own_teams <<= 1;
    if (__builtin_expect(initial, 0)) ompp_ompt_self.league_begins = team != NULL;
    if (own) ompp_ompt_self.own_teams |= 1;
    else if (!ompp_clock.use_tsc) begins_slow(team, index);
    else if (index > 0 && ompp_ompt_self.role != OMPP_OMPT_OUTERMOST) begins_slow(team, index);
    else ompp_event_member_begin(team, index, false, ompp_clock_tsc());
}

static __attribute__((noinline)) void member_ends(void)
{
    ompp_ompt_flush_failed_lock();
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
    const bool own = ompp_ompt_self.own_teams & 1;
    ompp_ompt_self.own_teams >>= 1;
    if (is_told_by_next_begin() || own || ompp_ompt_self.left) ompp_ompt_flush_failed_lock();
    else member_ends();
}

static inline void member_barrier(bool begin, ompp_time_t t)
{
    if (ompp_ompt_self.own_teams & 1) return;
    if (!begin) ompp_ompt_self.left = ompp_ompt_self.nforks > 0;
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
    ompp_ompt_self.singles--;
    ompp_event_unwind(region, t);
    ompp_event_phase(region, OMPP_PHASE_MGMT, t);
    ompp_event_exit_or_barrier(region, t);
}

static inline void end_single(ompp_time_t t)
{
    if (__builtin_expect(ompp_ompt_self.singles != 0, 0)) end_single_slow(t);
}

static void work_begin(ompp_construct_t construct, work_style_t style, uint64_t count, const void *code, ompp_time_t t)
{
    if (construct == OMPP_CONSTRUCT_TASKLOOP) {
        /* Its own address lies inside libomp; that of the taskgroup around it is right, where there is one. */
        code = ompp_ompt_self.group_code ? ompp_ompt_self.group_code : ompp_code_of(OMPP_CONSTRUCT_TASKLOOP, code);
        ompp_ompt_self.taskloop_code = code;
    }
    ompp_region_ref_t region = ompp_ompt_region_at(construct, code);

    ompp_ompt_self.work_cancelled = false;
    if (style != WORK_PLAIN) end_single(t);
    if (construct == OMPP_CONSTRUCT_LOOP) ompp_region_iterates(region, count);
    ompp_event_enter(region, t);
    if (style == WORK_SINGLE) {
        ompp_ompt_self.singles++;
        ompp_event_phase(region, OMPP_PHASE_SINGLE, t);
    }
    for (unsigned n = style == WORK_SECTIONS ? ompp_ask_sections(count) : 0; n > 0; n--)
        ompp_event_phase(region, OMPP_PHASE_SECTION, t);
}

static void work_end(ompp_construct_t construct, work_style_t style, const void *code, ompp_time_t t)
{
    ompp_region_ref_t region = ompp_event_innermost(construct);

    if (ompp_ompt_self.work_cancelled && (style == WORK_LOOP || style == WORK_SECTIONS)) {
        ompp_ompt_self.work_cancelled = false;
        return;
    }
    if (style == WORK_SINGLE) {
        ompp_ompt_self.singles -= ompp_ompt_self.singles > 0;
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
    if (works[work].construct == OMPP_CONSTRUCT_LOOP)
        ompp_ompt_self.dynamic_loop = dynamic && endpoint == ompt_scope_begin;
    if (works[work].construct == OMPP_CONSTRUCT_SINGLE && endpoint == ompt_scope_begin)
        ompp_sync_publish(OMPP_SYNC_FIRST, team, t);
}

static __attribute__((noinline)) void work_slow(ompt_work_t work, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                                                ompt_data_t *task, uint64_t count, const void *code)
{
    ompp_time_t t = ompp_event_now();

    (void)parallel;
    ompp_ompt_runs_now(task, t);
    if ((unsigned)work >= sizeof works / sizeof works[0] || works[work].style == WORK_NONE) return;
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) follow_work(work, endpoint, t);
    if (endpoint != ompt_scope_end) work_begin(works[work].construct, works[work].style, count, code, t);
    if (endpoint != ompt_scope_begin) work_end(works[work].construct, works[work].style, code, t);
}

/* Nothing but a begin, or the end of the innermost one. */
static __attribute__((noinline)) void simple_work(ompp_construct_t construct, bool begin, uint64_t count,
                                                  const void *code)
{
    const ompp_time_t t = ompp_event_now();

    if (!begin) {
        ompp_event_innermost_ended(construct, t);
        return;
    }
    ompp_ompt_self.work_cancelled = false;
    if (construct != OMPP_CONSTRUCT_LOOP) count = 0;
    ompp_region_ref_t region = ompp_region_met_loop(construct, code, count);
    if (__builtin_expect(!region, 0)) {
        region = ompp_ompt_region_at_slow(construct, code);
        ompp_region_iterates(region, count);
    }
    ompp_event_enter(region, t);
}

/* As usual: the thread is in nothing whose end the library does not tell, and nobody follows waiting. */
static void on_work(ompt_work_t work, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                    uint64_t count, const void *code)
{
    const work_style_t style = (unsigned)work < sizeof works / sizeof works[0] ? works[work].style : WORK_NONE;

    if ((style == WORK_LOOP || style == WORK_SINGLE_OTHER) && ompp_ompt_self.untold == 0 && !ompp_ompt_some_untied() &&
        !ompp_sync_follower() &&
        (endpoint == ompt_scope_begin || (endpoint == ompt_scope_end && !ompp_ompt_self.work_cancelled)))
        simple_work(works[work].construct, endpoint == ompt_scope_begin, count, code);
    else work_slow(work, endpoint, parallel, task, count, code);
}

/* Iterations of a loop are handed out, with any schedule. */
static void on_dispatch(ompt_data_t *parallel, ompt_data_t *task, ompt_dispatch_t kind, ompt_data_t instance)
{
    (void)parallel, (void)task, (void)instance;
    if (kind != ompt_dispatch_section && ompp_ompt_self.dynamic_loop)
        ompp_sync_resume(OMPP_SYNC_CHUNK, (uint64_t)(uintptr_t)ompp_event_team(), ompp_event_now());
}

/* Iterations that wait for others of the same loop (doacross): which, is not told in a form that could be followed. */
static void on_dependences(ompt_data_t *task, const ompt_dependence_t *on, int number)
{
    (void)task;
    if (number > 0 && on[0].dependence_type == ompt_dependence_type_source) ompp_sync_flag(OMPP_WHATIF_F_LOST, true);
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
    ompp_time_t t = ompp_event_now();

    (void)parallel;
    ompp_ompt_runs_now(task, t);
    if (ompp_ompt_self.own_teams & 1 && ompp_code_is_runtime(code)) return;
    if (endpoint == ompt_scope_begin) {
        ompp_event_enter(ompp_ompt_region_at(OMPP_CONSTRUCT_MASTER, code), t);
    } else {
        ends_at(ompp_event_exit_innermost(OMPP_CONSTRUCT_MASTER, t), code);
    }
}

/* ---- Barriers, taskwait, taskgroup ------------------------------------------------------------------------------- */

static void plain_sync(ompp_construct_t construct, bool begin, const void *code, ompp_time_t t)
{
    if (begin) {
        ompp_region_ref_t region = ompp_ompt_region_at(construct, code);
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
    bool of_team = !code || (ompp_ompt_self.nforks > 0 && ompp_ompt_self.nforks <= OMPP_OMPT_FORKS &&
                             ompp_ompt_self.forks[ompp_ompt_self.nforks - 1].code == code);

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

    ompp_ompt_flush_failed_lock();
    ompp_ompt_runs_now(task, t);
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
        ompp_ompt_self.group_code = begin ? code : NULL;
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
    const bool usual = __builtin_expect(ompp_ompt_self.untold == 0, 1) && !ompp_ompt_some_untied();

    (void)parallel;
    if (usual && kind == ompt_sync_region_barrier_implicit_parallel) {
        if (endpoint == ompt_scope_begin) member_arrives();
        else if (!is_told_by_next_begin()) member_leaves();
        return;
    }
    const bool begin = endpoint == ompt_scope_begin;
    if (usual && kind == ompt_sync_region_barrier_explicit) explicit_barrier_now(begin, code);
    else if (usual && (int)kind == ompt_sync_region_barrier_implicit_workshare) work_barrier_now(begin);
    else sync_region(kind, begin, task, code);
}

/* ---- Cancellation ------------------------------------------------------------------------------------------------ */

/* This thread goes on at the end of the construct. Of a taskgroup, at the end of its task, which tells so. */
static void on_cancel(ompt_data_t *task, int flags, const void *code)
{
    ompp_time_t t = ompp_event_now();

    (void)code;
    ompp_ompt_flush_failed_lock();
    ompp_ompt_runs_now(task, t);
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
        ompp_ompt_self.work_cancelled = true;
    }
}

/* ---- Registration ------------------------------------------------------------------------------------------------ */

#define ROW(name)                                                             \
    {                                                                         \
        ompt_callback_##name, (ompt_callback_t)on_##name, #name, false, false \
    }
#define SYNC(name)                                                           \
    {                                                                        \
        ompt_callback_##name, (ompt_callback_t)on_##name, #name, false, true \
    }
#define MUTEX(name)                                                                    \
    {                                                                                  \
        ompt_callback_##name, (ompt_callback_t)ompp_ompt_on_##name, #name, true, false \
    }
#define TASK(name, is_sync)                                                               \
    {                                                                                     \
        ompt_callback_##name, (ompt_callback_t)ompp_ompt_on_##name, #name, false, is_sync \
    }
const ompp_ompt_callback_t ompp_ompt_callbacks[] = {
    ROW(parallel_begin),   ROW(parallel_end), ROW(implicit_task),       ROW(work),
    ROW(masked),           ROW(sync_region),  MUTEX(mutex_acquire),     MUTEX(mutex_acquired),
    MUTEX(mutex_released), MUTEX(nest_lock),  TASK(task_create, false), TASK(task_schedule, false),
    ROW(cancel),           SYNC(dispatch),    SYNC(dependences),        TASK(task_dependence, true),
};
#undef ROW
#undef SYNC
#undef MUTEX
#undef TASK
const size_t ompp_ompt_ncallbacks = sizeof ompp_ompt_callbacks / sizeof ompp_ompt_callbacks[0];
