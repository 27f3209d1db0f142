/**
 * \file
 * Components (runtime/ompp_component.h) in libraries of their own, because they need what a user's process must not be
 * made to load: opened only when asked for.
 */
#ifndef OMPP_PLUGIN_H
#define OMPP_PLUGIN_H

#include "runtime/ompp_component.h"

/**
 * \brief Opens and starts the plug-ins that the environment asks for; once, after the runtime has started and before
 *        the first thread is measured. What cannot be opened is said once and stands in the Coverage section.
 */
void ompp_plugins_start(void);

/**
 * \brief Begins measuring the calling thread where a back end for data structures has to see what comes before the
 *        first event: who touches the data first is mostly the master, long before the first parallel region. Programs
 *        with hooks begin by themselves. So do programs here that use neither OpenMP nor MPI, when counters or counts
 *        for data are asked for.
 */
void ompp_plugins_at_load(void);

/** \brief Whether counters could be asked for: this ompp was built with PAPI, and the library is there. */
bool ompp_plugin_has_counters(void);

/** What every plug-in exports; ends with NULL. */
extern const ompp_component_t *const ompp_components[] __attribute__((visibility("default")));

/** The same that is in libompp itself, in src/lib. */
extern const ompp_component_t *const ompp_builtin_components[];

#endif
