/**
 * \file
 * The one interface between event sources (OMPT, OPARI2, GOMP, PMPI, user API) and the measurement. Sources translate,
 * nothing else. Every function may be called on any thread at any time, also before the first event, after the last, in
 * a forked child, or re-entrantly from a signal handler: it then does nothing. None of them fails visibly, allocates on
 * the fast path, or changes errno.
 *
 * Time stamps are passed in, so that a source can take one stamp for several events or an earlier one; use
 * ompp_event_now().
 *
 * Frames nest per thread. Enter pushes the region's first phase, phase moves to another, exit pops. An exit whose
 * region is not on top closes what is open above it (counted as mismatch); an exit of a region that is not open at all
 * is ignored (counted).
 *
 * Waiting of threads and ranks for one another is told beside these events: runtime/ompp_sync.h.
 */
#ifndef OMPP_EVENT_H
#define OMPP_EVENT_H

#include "base/ompp_arena.h"
#include "base/ompp_clock.h"
#include "model/ompp_tables.h"
#include "runtime/ompp_sync.h"

#include <stdbool.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/** A region of this process: offset of its record in the arena, 0 = none (every function accepts 0 and skips it). */
typedef ompp_off_t ompp_region_ref_t;

/** A team between fork and the last member's end; opaque. NULL = not measured, accepted everywhere. */
typedef struct ompp_team ompp_team_t;

/** An explicit task: 0 = none or not measured. Opaque; changes from created to running form in
 * ompp_event_task_begin(). */
typedef uint64_t ompp_task_t;

/** What a source knows of a region when it meets it first. */
typedef struct {
    ompp_construct_t construct;
    const char *file, *name; /* copied; NULL = none */
    uint32_t begin, end;     /* source lines, 0 = unknown */
    const void *code;        /* return address in the code that begins it; NULL when lines are known */
    const void *object;      /* LOCK: the lock */
    unsigned flags;          /* OMPP_REGION_F_* of the profile */
} ompp_region_def_t;

/** \brief Now, ns since start of measurement. */
static inline ompp_time_t ompp_event_now(void) { return ompp_clock_now(); }

/** \brief Starts measurement if it has not been started. \return true when it runs. */
bool ompp_runtime_start(void);

/** In the place of a region: one that is left while nothing is measured (ompp_event_innermost()). */
#define OMPP_REGION_SKIPPED 1u
/** In the place of a region: there was no room for it. Every function accepts it, and counts what is lost. */
#define OMPP_REGION_LOST 2u

/** \return whether there is a record of the region. */
static inline bool ompp_region_is_kept(ompp_region_ref_t region) { return region > OMPP_REGION_LOST; }

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/**
 * \brief The region of this definition; equal definitions give the same one.
 * \return 0 when measurement is off, or the construct is disabled by the user; OMPP_REGION_LOST when memory is full.
 * \note Slow: takes a lock. Sources keep the result (static handle, or the cache behind ompp_region_at).
 */
ompp_region_ref_t ompp_region_define(const ompp_region_def_t *def);

/**
 * \brief The region of a construct begun at a return address, through the thread's cache.
 * \param[in] code  return address as the program's call left it (not minus one).
 * \param[in] name  static text compared by pointer, such as an MPI function's; NULL = none.
 * Budget: 15 instructions when cached.
 */
ompp_region_ref_t ompp_region_at(ompp_construct_t construct, const void *code, const char *name);

/** \brief The region of an OpenMP lock, through the same cache. */
ompp_region_ref_t ompp_region_lock(const void *lock);

/** \brief The TASKEXEC (UTASKEXEC) region that belongs to a TASK (UTASK) region; cached in the region. */
ompp_region_ref_t ompp_region_exec_of(ompp_region_ref_t task_region);

/** \brief Whether regions of this construct are measured: false when the user has disabled them. */
bool ompp_region_wanted(ompp_construct_t construct);

/** \brief Construct of a region; OMPP_CONSTRUCT_NUM for 0. */
ompp_construct_t ompp_region_construct(ompp_region_ref_t region);

/**
 * \brief Notes the code address that ends a region, when a source learns it (OMPT end events). First one wins; cheap.
 */
void ompp_region_ends_at(ompp_region_ref_t region, const void *code);

/** \brief Notes how many iterations a loop has in this execution: the most of them are kept. */
void ompp_region_iterates(ompp_region_ref_t region, uint64_t iterations);

/** \brief Notes the lock of a critical section, whose name may never be known; before its end is noted. */
void ompp_region_locked_by(ompp_region_ref_t region, const void *lock);

/** \brief Whether that is known, or never will be (a region that is not measured). */
bool ompp_region_has_end(ompp_region_ref_t region);

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/** \brief Enters a region on this thread. Budget with ompp_event_exit: two timer reads. */
void ompp_event_enter(ompp_region_ref_t region, ompp_time_t t);

/**
 * \brief Enters the region of a function.
 * \param[in] stack  the stack pointer of the function (for code inlined into another, of that one). It tells at later
 *                   events which functions have been left without one (longjmp): they worked below.
 * \param[in] hook   where the function calls its hook. Calls that the compiler merged into one frame (an inlined
 *                   recursion) have different ones; the same one again is a new call.
 */
void ompp_event_enter_function(ompp_region_ref_t region, const void *stack, const void *hook, ompp_time_t t);

/**
 * \brief The stack has been unwound (exception): functions that worked below this address, and all in them, have been
 *        left.
 */
void ompp_event_caught(const void *stack, ompp_time_t t);

/**
 * \brief The open region moves to this phase (ignored when its construct has no such phase or it is not the top frame).
 */
void ompp_event_phase(ompp_region_ref_t region, ompp_phase_t phase, ompp_time_t t);

/** \brief Leaves a function. stack: as at its entry, where that is known. */
void ompp_event_exit_function(ompp_region_ref_t region, const void *stack, ompp_time_t t);

/** \brief Leaves a region. */
void ompp_event_exit(ompp_region_ref_t region, ompp_time_t t);

/**
 * \brief The same four of regions that are brief and may come often (atomic, critical, locks), now: of those that come
 *        more often than OMPP_TIMED_RATE, some are counted without reading the clock. Pairs need not match: the end of
 *        one kind ends what the other has begun.
 */
void ompp_event_enter_brief(ompp_region_ref_t region);
void ompp_event_phase_brief(ompp_region_ref_t region, ompp_phase_t phase);
void ompp_event_exit_brief(ompp_region_ref_t region);
void ompp_event_release_brief(ompp_region_ref_t region);
/** \brief The phase EXIT and the release, when both are told at once. */
void ompp_event_released_brief(ompp_region_ref_t region);

/**
 * \brief Enters a TASK (UTASK) region, now; ompp_event_exit_brief() leaves it. Creations that come more often than
 *        OMPP_TIMED_RATE are only counted, and so are their tasks, where nothing else is in them.
 * \return the task, as ompp_event_task_create().
 */
ompp_task_t ompp_event_task_creating(ompp_region_ref_t region);
/** \brief The same, and leaves it: of sources that tell only that there is a task. */
ompp_task_t ompp_event_task_made(ompp_region_ref_t region);

/** \brief Whether ompp_event_enter_brief() would not read the clock now. */
bool ompp_event_is_counted(ompp_region_ref_t region);

/**
 * \brief The user's code of a worksharing region has ended at t, and whether an exit barrier follows is not known yet.
 * If the next event of this thread is ompp_event_barrier_phase(), the region gets it as its exit barrier; any other
 * event closes the region at t.
 */
void ompp_event_exit_or_barrier(ompp_region_ref_t region, ompp_time_t t);

/**
 * \brief Implicit workshare barrier begins (begin = true) or ends on this thread, as OMPT tells it.
 * Belongs to the region that ompp_event_exit_or_barrier() left pending; without one it is ignored.
 */
void ompp_event_barrier_phase(bool begin, ompp_time_t t);

typedef enum { OMPP_BARRIER_NONE, OMPP_BARRIER_AWAITED, OMPP_BARRIER_BEGUN } ompp_barrier_state_t;

/** \brief Whether ompp_event_barrier_phase() on this thread would begin or end a region's exit barrier; for sources
 *  whose barriers do not say whose they are. */
ompp_barrier_state_t ompp_event_barrier_state(void);

/**
 * \brief Leaves a region that need not be the innermost one (locks): frames above it stay open and move to its parent.
 */
void ompp_event_release(ompp_region_ref_t region, ompp_time_t t);

/**
 * \brief The user's code jumps to the end of this region (cancellation): what is open above it closes at t, and that is
 *        no mismatch. The region itself stays open. Does not look past the thread's innermost team.
 */
void ompp_event_unwind(ompp_region_ref_t region, ompp_time_t t);

/**
 * \brief Region of the innermost open frame of a construct on this thread, within its innermost team; for sources whose
 *        end events do not say what they end.
 * \return 0 when there is none. While nothing is measured on this thread, OMPP_REGION_SKIPPED, which the functions
 *         above accept.
 */
ompp_region_ref_t ompp_event_innermost(ompp_construct_t construct);

/** \brief ompp_event_innermost() and ompp_event_exit_or_barrier() in one. */
void ompp_event_innermost_ended(ompp_construct_t construct, ompp_time_t t);

/**
 * \brief The thread is about to ask for iterations of the loop that it is in.
 * \return when, to be passed on; 0 = this time it is not timed.
 */
ompp_time_t ompp_event_chunk_begin(void);

/**
 * \brief It has got some, or there are no more.
 * \param[in] chunks  0 or 1: chunks of iterations that this tells of; one that is done, or one that has come.
 *                    OMPP_CHUNK_DONE: one that is done, but where the loop is the team's own, one that has come: its
 *                    first one comes so, too.
 */
#define OMPP_CHUNK_DONE 2u
void ompp_event_chunk(ompp_time_t begin, bool more, unsigned chunks);

/** \brief One execution that is counted but not timed (local MPI inquiry calls). */
void ompp_event_count(ompp_region_ref_t region);

/**
 * \brief ompp_region_at() and ompp_event_count() in one.
 * \param[in] name  not NULL.
 * \return the region, 0 as ompp_event_call().
 */
ompp_region_ref_t ompp_event_count_call(ompp_construct_t construct, const void *code, const char *name);

/**
 * \brief ompp_region_at(), ompp_event_now() and ompp_event_enter() in one, for MPI calls, which are often short; name
 *        is not NULL.
 * \return the region entered, for ompp_event_return(); 0 when nothing is measured.
 */
ompp_region_ref_t ompp_event_call(const void *code, const char *name);

/**
 * \return when the innermost open region of this thread was entered, after ompp_event_call(); now, when nothing is
 *         measured.
 */
ompp_time_t ompp_event_called(void);

/**
 * \brief ompp_event_add_mpi() and ompp_event_exit() in one.
 * \param[in] values  [OMPP_METRIC_MPI_NUM] to add; NULL = none.
 */
void ompp_event_return(ompp_region_ref_t region, const uint64_t *values, ompp_time_t t);

/** \brief The same, quicker, of a call that ends now and has no values. */
void ompp_event_return_timed(ompp_region_ref_t region);

/**
 * \brief The same, quicker, of a call that counts as one of its kind.
 * \param[in] counter  OMPP_METRIC_SENDS, _RECVS or _COLLS.
 * \param[in] in, out  bytes.
 */
void ompp_event_return_counted(ompp_region_ref_t region, unsigned counter, uint64_t in, uint64_t out, ompp_time_t t);

/**
 * \brief Adds to a value of the current top frame's node.
 * \param[in] set, index  metric; set is not OMPP_SET_PHASES.
 */
void ompp_event_add(unsigned set, unsigned index, uint64_t value);

/** \brief The MPI metrics of the current top frame's node, in one call: [OMPP_METRIC_MPI_NUM] values to add. */
void ompp_event_add_mpi(const uint64_t values[OMPP_METRIC_MPI_NUM]);

/* ---- Teams ------------------------------------------------------------------------------------------------------- */

/** \brief A parallel region (any construct with flag FORK) is met by this thread; enters it, phase STARTUP. */
ompp_team_t *ompp_event_fork(ompp_region_ref_t region, ompp_time_t t);

/** \brief ompp_event_member_begin() of the primary thread of a team, and of workers of a nested one. */
void ompp_event_primary_begin(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t);
/** \brief ompp_event_member_begin() of a worker, index > 0, in a region that is in no other. */
void ompp_event_worker_begin(ompp_team_t *team, unsigned index, ompp_time_t t);

/**
 * \brief This thread begins as member of a team, phase BODY (MGMT for PARALLEL SECTIONS).
 * \param[in] index   number in the team; 0 is the thread that forked it.
 * \param[in] nested  the team's region lies inside another active parallel region.
 * A frame this thread still has open from an earlier team is closed at that team's join.
 */
static inline void ompp_event_member_begin(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t)
{
    if (index > 0 && !nested) ompp_event_worker_begin(team, index, t);
    else ompp_event_primary_begin(team, index, nested, t);
}

/**
 * \brief The member reaches (begin) or leaves the implicit barrier at the region's end. Leaving it ends its part, as
 *        ompp_event_member_end() does. A worker's is clamped to the moment the forking thread left it.
 */
void ompp_event_member_barrier(bool begin, ompp_time_t t);

/**
 * \brief The member's part has ended: phase SHUTDWN until the join. Neither this nor its leaving of the barrier need be
 *        told of a worker that begins in no other team before the join.
 */
void ompp_event_member_end(ompp_time_t t);

/**
 * \brief The forking thread goes on alone: leaves the region. Its leaving of the barrier, and the end of its part, need
 *        not be told before when they are now.
 */
void ompp_event_join(ompp_team_t *team, ompp_time_t t);

/** \return the innermost team this thread is a member of, or NULL. */
ompp_team_t *ompp_event_team(void);

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

/**
 * \brief The same as ompp_event_task_begin() and ompp_event_task_end(), now: the clock is not read for a task that is
 *        only counted (ompp_event_task_creating()).
 */
void ompp_event_task_begin_brief(ompp_task_t *task);
void ompp_event_task_end_brief(ompp_task_t task);

/** \brief A task is created by this thread. \param[in] exec  its TASKEXEC region. \return the new task. */
ompp_task_t ompp_event_task_create(ompp_region_ref_t exec, ompp_time_t t);

/**
 * \brief This thread starts to run a task; the interrupted frame gets task time until the task ends or is suspended.
 * \param[in,out] task  from ompp_event_task_create(); becomes the running form, to be passed to the functions below.
 */
void ompp_event_task_begin(ompp_task_t *task, ompp_time_t t);

/**
 * \brief What this thread runs now: an explicit task, or 0 for its implicit one. An untied task may leave its thread
 *        without an event, when another thread has gone on with it; those on top of this task are suspended, or ended,
 *        now.
 * A task that this thread has not begun changes nothing.
 */
void ompp_event_task_current(ompp_task_t task, ompp_time_t t);

/** \brief The running task is suspended; the thread goes on with what it had interrupted. */
void ompp_event_task_suspend(ompp_task_t task, ompp_time_t t);

/** \brief A suspended task goes on, on this thread, which need not be the one that began it. */
void ompp_event_task_resume(ompp_task_t task, ompp_time_t t);

/** \return TASK (UTASK) region of the explicit task that this thread runs; 0 when it runs none. */
ompp_region_ref_t ompp_event_task_region(void);

/** \return true for a task that was interrupted by those that run on this thread now; also for 0, the implicit task. */
bool ompp_event_task_below(ompp_task_t task);

/** \return true for a running task that is suspended at present. */
bool ompp_event_task_suspended(ompp_task_t task);

/** \brief The running task is complete, on whichever thread it lies; closes its frames. */
void ompp_event_task_end(ompp_task_t task, ompp_time_t t);

/* ---- Switches ---------------------------------------------------------------------------------------------------- */

/** \brief Measurement on or off for regions entered from now on, on all threads (MPI_Pcontrol, POMP2_On/Off). */
void ompp_event_switch(bool on, const char *who);

/**
 * \brief Notes something for the Coverage section. kind: model/ompp_profile.h.
 * \param[in] subject, reason copied, may be NULL.
 */
void ompp_event_coverage(unsigned kind, const char *subject, const char *reason);

/** \brief The same of several: count is what the line says. Nothing when it is 0, or measurement does not run. */
void ompp_event_coverage_count(unsigned kind, const char *subject, const char *reason, uint64_t count);

/**
 * \brief Says which source delivers OpenMP events, for the report. First one wins.
 * \return true when it is this one.
 */
bool ompp_event_claim_openmp(const char *source);

/**
 * One execution of a construct by a source's own functions, to find out what it costs: all that the source does of
 * it, and ompp_calibrated_set() and ompp_calibrated_unset() in the place of the OpenMP library's functions. Critical
 * sections are found by the address of the lock, where the source finds them by a place in the program.
 */
typedef struct {
    void (*critical)(ompp_region_ref_t region, void *lock);
    void (*lock)(void *lock);
} ompp_calibrated_t;

/** \brief Whose functions are timed; measured again when measurement runs. \param[in] source  borrowed for good. */
void ompp_event_calibrate_by(const ompp_calibrated_t *source);

/** \brief A lock that nobody else wants, a uint64_t. */
void ompp_calibrated_set(void *lock);
void ompp_calibrated_unset(void *lock);

/** \brief Says who has the OpenMP events that no source of ours gets. \param[in] tool  copied; a file's name. */
void ompp_event_openmp_left_to(const char *tool);

#pragma GCC visibility pop

/** \brief ompp_event_innermost() and ompp_event_exit() of that in one. \return the region. */
ompp_region_ref_t ompp_event_exit_innermost(ompp_construct_t construct, ompp_time_t t);

/** \brief ompp_region_at() of a place that this thread has met, if it has. \return 0 = ask ompp_region_at(). */
ompp_region_ref_t ompp_region_met_at(ompp_construct_t construct, const void *code);

/** \brief ompp_region_met_at(), and ompp_region_iterates() where this thread has met the loop with fewer so far. */
ompp_region_ref_t ompp_region_met_loop(ompp_construct_t construct, const void *code, uint64_t iterations);

/** \brief Whether there was a region that found no room: names that are not known may be those of such. */
bool ompp_region_some_lost(void);

#endif
