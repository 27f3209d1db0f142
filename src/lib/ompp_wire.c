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
#include "runtime/ompp_callpath.h"
#include "runtime/ompp_state.h"
#include "sample/ompp_sample.h"

const ompp_component_t *const ompp_builtin_components[] = {&ompp_causal_component, NULL};

static void unloaded(uintptr_t low, uintptr_t high)
{
    ompp_function_unloaded(low, high);
    ompp_code_unloaded(low, high);
    ompp_callpath_refresh();
}

/* Of libompp-memory, if the program has it. The constructor of another library may have the first event: then the
 * first thread begins before libompp-memory's own constructor, and the counter would come too late for it. */
extern __attribute__((weak)) void ompp_memory_before_threads(void);

static void thread_begins(void)
{
    if (ompp_memory_before_threads) ompp_memory_before_threads();
    ompp_runtime_thread_begins();
    ompp_sample_thread_begins();
}

static void thread_ends(void)
{
    ompp_sample_thread_ends();
    ompp_cpu_wait_thread_end();
}

const ompp_runtime_hooks_t ompp_runtime_hooks = {
    .start = ompp_runtime_start_once,
    .loaded = ompp_sample_at_load,
    .thread_begins = thread_begins,
    .thread_ends = thread_ends,
    .ends = ompp_sample_ends,
    .copy = ompp_snapshot_self,
    .data_begins = ompp_sample_follow_handlers,
    .unloaded = unloaded,
};
