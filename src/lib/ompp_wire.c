/*
 * Joins the parts of libompp that must not know each other.
 */
#include "causal/ompp_causal.h"
#include "function/ompp_function.h"
#include "ompt/ompp_ompt_code.h"
#include "process/ompp_cpu_wait.h"
#include "process/ompp_lifecycle.h"
#include "process/ompp_plugin.h"
#include "process/ompp_snapshot.h"
#include "runtime/ompp_state.h"

ompp_plugin_start_t *const ompp_builtin_parts[] = {ompp_causal_start, NULL};

static void unloaded(uintptr_t low, uintptr_t high)
{
    ompp_function_unloaded(low, high);
    ompp_code_unloaded(low, high);
}

const ompp_runtime_hooks_t ompp_runtime_hooks = {
    .start = ompp_runtime_start_once,
    .thread_begins = ompp_runtime_thread_begins,
    .thread_ends = ompp_cpu_wait_thread_end,
    .copy = ompp_snapshot_self,
    .unloaded = unloaded,
};
