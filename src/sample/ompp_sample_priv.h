/**
 * \file
 * Parts of the sampler. Private to src/sample.
 */
#ifndef OMPP_SAMPLE_PRIV_H
#define OMPP_SAMPLE_PRIV_H

#include "sample/ompp_sample_way.h"

#include <signal.h>

extern __thread ompp_sampler_t *ompp_sample_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* ---- The signal -------------------------------------------------------------------------------------------------- */

/** \return whether a SIGPROF is of a sampler, or of one that there was; those of perf events have codes of their own.
 */
static inline bool ompp_sample_is_ours(const siginfo_t *info)
{
    return info->si_code == SI_TIMER ? info->si_value.sival_ptr == (const void *)&ompp_sample_cookie
                                     : info->si_code >= POLL_IN && info->si_code <= POLL_HUP;
}

/** The handler (ompp_sample_hot.c). */
void ompp_sample_handle(int signal, siginfo_t *info, void *context);

/** \brief A SIGPROF that is not ours, while the program has no handler: it ends the program, as without us. */
void ompp_sample_foreign(siginfo_t *info);

/** \brief Takes signals of ours that wait for the calling thread, which blocks them. \return periods they stand for. */
unsigned ompp_sample_drain(void);

/** \return whether SIGPROF waits for a thread of this process. */
bool ompp_sample_is_pending(pid_t tid);

/** \brief SIGPROF has its default action, with these flags and signals, as the C library would not set them. */
void ompp_sample_set_default(const struct sigaction *action);

/* ---- All samplers (ompp_sampler.c) ------------------------------------------------------------------------------- */

/** \brief This process takes samples. */
void ompp_sampler_start(void);

/** \brief In a forked child: timers and events are none of its own. */
void ompp_sampler_in_child(void);

/** \return whether samples are taken, and the calling process is the one that takes them: no child of it. */
bool ompp_sampler_is_on(void);

/** \brief The calling thread gets samples. \return 0, or errno. */
int ompp_sampler_begin(ompp_sample_way_t way, uint64_t period_ns);
void ompp_sampler_end(void);

/** \brief The calling thread's sampler goes on from now: what was used since its last sample was ours. */
void ompp_sampler_go_on(void);

/** \return whether the calling thread has a sampler, and is no child that shares its memory. */
bool ompp_sampler_is_here(void);

/** \brief The calling thread has changed the signals that it blocks. */
void ompp_sampler_mask_changed(void);

/** \brief No thread gets samples any more. \param[in] is_quiet  nor a signal of ours that was sent already. */
void ompp_sampler_stop(bool is_quiet);

/** Of all threads so far. */
typedef struct {
    uint64_t samples, ns;
    uint64_t unsampled_ns; /* processor time of threads that block the signal, since their last samples */
    unsigned threads, slowed;
    unsigned closed;         /* by the program, which had no business with the descriptor */
    unsigned blocked, never; /* they block the signal at their end; and have had no sample */
} ompp_sampler_sum_t;

ompp_sampler_sum_t ompp_sampler_sum(void);

/* ---- What the program does (ompp_sample_calls.c) ----------------------------------------------------------------- */

/** \return why there can be no samples: the program uses the signal; NULL = it does not. */
const char *ompp_sample_conflict(void);

/** \brief Installs the handler, and follows what the program does with the signal. \return NULL, or why not. */
const char *ompp_sample_install(void);

/** \brief Follows also what libraries do that were loaded since. */
void ompp_sample_follow(void);

/** \return why there are no samples any more, as the program has begun to use the signal; NULL = it has not. */
const char *ompp_sample_why_given_up(void);

#endif
