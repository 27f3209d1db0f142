/**
 * \file
 * Cases for the core of the runtime: events in, text out. Events go through the event interface, on threads that are
 * stepped one after the other. The clock stands at the time of the latest event. Each case runs in a process and a
 * measurement of its own, without libraries for OpenMP and MPI.
 *
 * "10 enter a, 12 W1 enter b" are two events: at 10 ns the initial thread enters region a, at 12 ns thread W1 enters b.
 * Threads W1 to W3 are created at their first event. T1 to T3 are teams, T0 is no team; A to C are tasks, none is no
 * task.
 * A region is what its name begins with: par(allel), sections (PARALLEL SECTIONS), loop, critical, wait (BARRIER),
 * task, mpi (a function of MPI), fn (an instrumented function), or else a user region. 0 is no region, ? one
 * that found no room.
 *
 *   enter R, exit R, phase R NAME, release R, unwind R, count R     ompp_event_enter() and so on
 *   ended R, barrier begin, barrier end                             ..._exit_or_barrier(), ..._barrier_phase()
 *   function R STACK, return R STACK, caught STACK                  ..._enter_function(), ..._exit_function()
 *   fork R T, begin T INDEX, begin T INDEX nested, end, join T      ..._member_begin(), ..._member_end()
 *   arrive, leave                                                   ..._member_barrier()
 *   create R A, run A, suspend A, resume A, current A, over A       ..._task_begin() is run, ..._task_end() is over
 *   on, off, add BYTES_IN, gone                                     gone: the thread ends
 *   collect, rows, ask      write the profile, its threads, and what functions that ask return on this thread
 *
 * A line of the profile: thread, call path, visits, then (time child task count) of each phase, or () when all are 0,
 * then the values of each other set in brackets. In a path, *task is the execution of a task. Lines of Coverage follow:
 * kind, reason, count.
 */
#ifndef CORE_TOOLS_H
#define CORE_TOOLS_H

#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct {
    const char *name;
    void (*run)(void); /* called first; NULL = nothing is */
    const char *events;
    const char *expected; /* all that they write, spaces and lines aside; NULL = it is not compared */
} core_case_t;

/** \brief Delivers events. */
__attribute__((format(printf, 1, 2))) void core_play(const char *format, ...);

/** \return all that events have written. */
const char *core_written(void);

#define CORE_MAIN(cases) \
    int main(void) { return core_main(cases, sizeof cases / sizeof cases[0]); }
int core_main(const core_case_t *cases, size_t n);

#endif
