/**
 * \file
 * Threads of the program that OpenMP knows nothing of: the functions with which they wait for one another. Private to
 * src/pthread.
 */
#ifndef OMPP_PTHREAD_PRIV_H
#define OMPP_PTHREAD_PRIV_H

#include "image/ompp_intercept.h"
#include "runtime/ompp_sync.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- Which functions --------------------------------------------------------------------------------------------- */

/** The functions of POSIX that are followed, ascending by name. */
extern const ompp_intercept_t ompp_pthread_functions[];
extern const size_t ompp_npthread_functions;

/** Functions of libgomp, the same. */
extern const ompp_intercept_t ompp_libgomp_functions[];
extern const size_t ompp_nlibgomp_functions;

/** Functions by which threads come for iterations, of libgomp and of LLVM's library: the same. */
extern const ompp_intercept_t ompp_loop_functions[];
extern const size_t ompp_nloop_functions;

/** \return whether the real function of libgomp is one of ours already, which tells. */
bool ompp_libgomp_is_reported(const void *real);

/** The call of the system by which others wait, the same. */
extern const ompp_intercept_t ompp_futex_functions[];
extern const size_t ompp_nfutex_functions;

/** \brief Follows those of C11, but for thrd_create(). \return whether they are there, and the C library's. */
bool ompp_c11_follow(void);

/** \return whether C11 threads are those of the C library. */
bool ompp_c11_is_known(void);

/* ---- What they tell (ompp_pthread_events.c) ---------------------------------------------------------------------- */

/** \return false when nobody follows, or the thread is inside already. While it is inside, its calls tell nothing. */
bool ompp_pthread_enter(void);
void ompp_pthread_leave(void);

static inline uint64_t ompp_pthread_number(const void *object) { return (uint64_t)(uintptr_t)object; }

/** \brief The three verbs, now. \return wait: when it began; 0 = nobody follows. */
void ompp_pthread_publish(ompp_sync_object_t kind, uint64_t object);
ompp_time_t ompp_pthread_wait(ompp_sync_object_t kind, uint64_t object);
void ompp_pthread_resume(ompp_sync_object_t kind, uint64_t object);

/** \brief A wait is over. \param[in] well  false: nobody has ended it: a limit of time, a signal. */
void ompp_pthread_waited(bool well, ompp_sync_object_t kind, uint64_t object, ompp_time_t begin);
void ompp_pthread_in_vain(ompp_time_t begin);

/** \brief It was tried, and is had without waiting, if well. */
void ompp_pthread_got(bool well, ompp_sync_object_t kind, uint64_t object);

/** \return what a thread that is cancelled goes on with. */
uint64_t ompp_pthread_cancellation(pthread_t thread);
/** \brief The thread is at something else than the wait that it had begun: that was cancelled. It is inside. */
void ompp_pthread_end_cancelled(void);

/** \brief Something was tried, or waited for up to a moment. */
void ompp_pthread_flag(bool in_vain);
/** \brief A lock was tried. */
void ompp_pthread_try_for(const void *lock, bool success);
/** \brief The thread is at something else than trying. \param[in] waits_for  object; 0 = none. */
void ompp_pthread_settle_tried(uint64_t waits_for);

/* ---- Parts of calls (ompp_pthread_calls.c) ----------------------------------------------------------------------- */

/** \brief Before waiting for a condition: the mutex is given up. \return when the wait began. */
ompp_time_t ompp_pthread_give_up(const void *cond, const void *lock);
/**
 * \brief After it: the mutex is there again. A wait that was cancelled ends in the program's clean-up, with the mutex.
 * \return error.
 */
int ompp_pthread_woken(const void *cond, const void *lock, int error, ompp_time_t begin);

/** \brief pthread_once(), or what does the same. */
int ompp_pthread_once_by(int (*real)(pthread_once_t *, void (*)(void)), pthread_once_t *control,
                         void (*function)(void));

#endif
