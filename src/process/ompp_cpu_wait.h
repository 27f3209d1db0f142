/**
 * \file
 * Processor time of the process, and how long its threads waited for processors.
 */
#ifndef OMPP_CPU_WAIT_H
#define OMPP_CPU_WAIT_H

#include "image/ompp_proc.h"
#include "model/ompp_profile.h"

#include <stdint.h>

/** \brief Processor time of the process so far, ns. */
void ompp_cpu_time(uint64_t *user_ns, uint64_t *system_ns);

/** \brief The same when our library was loaded. */
void ompp_cpu_time_before(uint64_t *user_ns, uint64_t *system_ns);

/** \brief Our library is loaded. */
void ompp_cpu_wait_mark(void);

/** \brief Measurement begins. */
void ompp_cpu_wait_begin(void);

/** \brief The processors that its threads might use then; OpenMP libraries bind threads later. */
ompp_proc_cpus_t ompp_cpu_wait_given(void);

/** \brief The calling thread is over. */
void ompp_cpu_wait_thread_end(void);

/** \brief Says in the profile when threads waited much for processors. */
void ompp_cpu_wait_add(ompp_profile_t *profile);

#endif
