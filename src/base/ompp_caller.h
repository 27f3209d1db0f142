/**
 * \file
 * What the program's thread finds as it was when our code has been at work on it, off the short ways of events.
 */
#ifndef OMPP_CALLER_H
#define OMPP_CALLER_H

#include "base/ompp_float.h"

#include <stdbool.h>
#include <stdint.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/** Whether and when the calling thread can be cancelled. */
typedef struct {
    int state, type;
} ompp_cancel_t;

/** What the calling thread had set before it was to stay. */
typedef struct {
    uint64_t signals;
    ompp_cancel_t cancel;
} ompp_stay_t;

/** What the calling thread has set. */
typedef struct {
    ompp_float_t floats;
    ompp_stay_t stay;
    int error;
} ompp_caller_t;

/**
 * \brief From here on our code runs: no signal handler interrupts it, nobody cancels it, and it computes in an
 *        environment of its own. A handler that ends the program, or leaves by longjmp(), runs when nothing is half
 *        done. Calls may nest.
 */
void ompp_caller_save(ompp_caller_t *caller);

/** \brief The thread is the program's again. Signals that came meanwhile are handled here, last. */
void ompp_caller_restore(const ompp_caller_t *caller);

/**
 * \brief Does the work between ompp_caller_save() and ompp_caller_restore(), and on a stack of our own: that of the
 *        program's thread may be small. Inside of such work it is a plain call.
 */
void ompp_caller_run(void (*work)(void *argument), void *argument);

/** \brief Calls on another stack. \param[in] top  its end, aligned to 16 bytes. Async-signal-safe. */
void ompp_caller_call(void *top, void (*work)(void *argument), void *argument);

/** \return whether the program's thread blocks a signal: as it has set it, whatever we do meanwhile. */
bool ompp_signals_blocks(int signal);

/** \brief Only that nobody cancels the thread. \return what to give to ompp_cancel_release(). */
ompp_cancel_t ompp_cancel_hold(void);

/** \brief The thread may end here, if it has been cancelled meanwhile. */
void ompp_cancel_release(ompp_cancel_t held);

#define OMPP_SIGNALS_KEPT UINT64_MAX /* no mask of a thread: some signals cannot be blocked */

/** \brief Only that no handler runs, but for those of faults. \return what to give to ompp_signals_release(). */
uint64_t ompp_signals_hold(void);
void ompp_signals_release(uint64_t held);

/** \return whether a signal comes at any time, and can wait: no fault, and none of the C library's own. */
bool ompp_signals_can_wait(int signal);

/**
 * Whether the program may have a handler that interrupts us at any time, and leaves by longjmp(). True until somebody
 * knows better (ompp_sample_follow_handlers()).
 */
extern _Atomic bool ompp_signals_are_handled;

/**
 * \brief The thread does not leave until ompp_stay_end(), neither by a handler that jumps nor by being cancelled: what
 *        it has locked or half done would stay so.
 */
ompp_stay_t ompp_stay(void);

/** \brief The same; signals are held only where ompp_signals_are_handled. */
ompp_stay_t ompp_stay_if_handled(void);

/** \brief The thread may leave here, if it was to leave meanwhile; cancelled, with the signals that it had. */
void ompp_stay_end(ompp_stay_t stay);

#pragma GCC visibility pop

#endif
