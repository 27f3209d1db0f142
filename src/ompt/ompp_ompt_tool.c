/**
 * \file
 * The tool that the OpenMP runtime starts: which callbacks it is asked for, and when no more.
 */
#define _GNU_SOURCE
#include "ompt/ompp_ompt_tool.h"

#include "model/ompp_profile.h"
#include "ompt/ompp_ompt_ask.h"
#include "ompt/ompp_ompt_code.h"
#include "runtime/ompp_event.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
{
    (void)device, (void)tool;
    if (!ompp_ask_start(lookup)) return 0;
    ompp_code_start((const void *)(uintptr_t)lookup);
    /*
     * With a tool that asks for mutex_released, libomp (14 to 19) writes into the state of its first thread at the end
     * of a critical section, also after that thread has ended: a crash, unless it is the program's initial thread.
     */
    bool safe_mutexes = syscall(SYS_gettid) == getpid();
    for (size_t i = 0; i < ompp_ompt_ncallbacks; i++) {
        const ompp_ompt_callback_t *row = &ompp_ompt_callbacks[i];
        if (row->is_mutex && !safe_mutexes) continue;
        if (row->is_sync && !ompp_sync_wanted()) continue;
        ompp_ompt_calibrate(row->event, row->function);
        ompt_set_result_t result = ompp_ask_for(row->event, row->function);
        if (result == ompt_set_always || result == ompt_set_sometimes || result == ompt_set_sometimes_paired) continue;
        ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, "this OpenMP runtime's OMPT", row->name);
    }
    ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, "OMPT",
                        "atomic, flush, simd, waits of ordered depend, loops without iterations (no events)");
    if (!safe_mutexes)
        ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, "OMPT",
                            "critical, ordered, locks (OpenMP was started by another thread than the initial one)");
    return 1;
}

static void finalize(ompt_data_t *tool)
{
    (void)tool;
    ompp_ask_end(); /* the library may be closed next */
}

/*
 * The same crash as the process ends: destructors of thread-local objects run in threads that libomp ends, also with
 * critical sections. By then nothing is measured any more.
 */
static void forget_releases(void) { ompp_ask_for(ompt_callback_mutex_released, NULL); }

ompt_start_tool_result_t *ompp_ompt_tool(void)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};

    return &result;
}

__attribute__((constructor)) static void at_load(void) { atexit(forget_releases); }
