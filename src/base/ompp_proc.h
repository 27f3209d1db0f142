/**
 * \file
 * Processes of this machine, as the system describes them. Needs nothing.
 */
#ifndef OMPP_PROC_H
#define OMPP_PROC_H

#include <stdint.h>
#include <sys/types.h>

/**
 * \brief When a process started, in clock ticks since the machine did: with the process id it tells a process from an earlier one
 *        of the same number. exec does not change it.
 * \return 0 when there is no such process, it has ended already (zombie), or nothing is known of it.
 */
uint64_t ompp_proc_start(pid_t pid);

#endif
