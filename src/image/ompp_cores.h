/**
 * \file
 * Which core and which NUMA node a processor belongs to, as the system says it in /sys, and what kind it is. The one
 * place that reads it; the directory is an argument for tests.
 */
#ifndef OMPP_CORES_H
#define OMPP_CORES_H

#include "image/ompp_proc.h"

#include <stdbool.h>
#include <stddef.h>

#define OMPP_CORES_SYSTEM "/sys/devices/system"

/** \brief The lowest processor of the core that this one is part of: hyper-threads of a core have the same. */
unsigned ompp_cores_first(const char *system, unsigned cpu);

/** \brief Those lowest processors of all cores that the set has a processor of. */
ompp_proc_cpus_t ompp_cores_of(const char *system, const ompp_proc_cpus_t *cpus);

/** \brief NUMA nodes that have a processor of the set; none where the system does not say. */
ompp_proc_cpus_t ompp_cores_numa(const char *system, const ompp_proc_cpus_t *cpus);

/** \brief The set as Linux writes it: "0-3,8"; what does not fit ends with "...". */
void ompp_cores_text(const ompp_proc_cpus_t *cpus, char *text, size_t size);

/**
 * \brief The kind of the processors of this machine.
 * \param[in] cpuinfo  "/proc/cpuinfo".
 * \param[out] kind    "" where it is not said.
 */
void ompp_cores_kind(const char *cpuinfo, char *kind, size_t size);

#endif
