/*
 * Joins the runtime and the rooms around it as src/lib does, without causal profiling and samples: for unit tests.
 */
#include "process/ompp_cpu_wait.h"
#include "process/ompp_lifecycle.h"
#include "process/ompp_plugin.h"
#include "process/ompp_snapshot.h"
#include "runtime/ompp_state.h"

#include <stdlib.h>

const ompp_component_t *const ompp_builtin_components[] = {NULL};

static void nothing(void) {}

/* Trees of regions alone: call paths are tested by programs (tests/run/callpaths.py). Before anything reads it. */
__attribute__((constructor(101))) static void without_call_paths(void) { setenv("OMPP_CALLPATH", "site", 0); }

const ompp_runtime_hooks_t ompp_runtime_hooks = {
    .start = ompp_runtime_start_once,
    .loaded = nothing,
    .ends = nothing,
    .thread_begins = ompp_runtime_thread_begins,
    .thread_ends = ompp_cpu_wait_thread_end,
    .data_begins = nothing,
    .copy = ompp_snapshot_self,
};
