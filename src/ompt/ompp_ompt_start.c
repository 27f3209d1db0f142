/*
 * Which OMPT tool an OpenMP runtime gets when it starts: ours, or the one that the program brings.
 */
#define _GNU_SOURCE
#include "runtime/ompp_event.h"

#include "base/ompp_dl.h"
#include "base/ompp_path.h"
#include "ompt/ompp_ompt_other.h"
#include "ompt/ompp_ompt_tool.h"

#include <dlfcn.h>
#include <stdio.h>

/* Another tool has the runtime's events: there is one in a process. The report says so. */
static void leave_to(const void *code, const char *file)
{
    Dl_info info;

    if (code && dladdr(code, &info) && info.dli_fname) file = info.dli_fname;
    ompp_event_openmp_left_to(file && *file ? ompp_path_last(file) : "the program");
    ompp_runtime_start();
}

/*
 * Declines where OPARI2's calls are linked in: one source per process; and for a tool of others, which would be started
 * without us. Of another name than what runtimes ask for, which may lead to the program's.
 */
static ompt_start_tool_result_t *start_tool(unsigned version, const char *runtime)
{
    const bool opari = ompp_dl_symbol(RTLD_DEFAULT, "ompp_opari_linked") != NULL;
    ompt_start_tool_result_t *others = ompp_ompt_other_start(start_tool, version, runtime);
    const char *listed = others || opari ? NULL : ompp_ompt_other_listed();
    char source[64];

    if ((others || listed) && !opari) leave_to(others ? (const void *)(uintptr_t)others->initialize : NULL, listed);
    if (others || listed || opari) return others;
    snprintf(source, sizeof source, "OMPT, %.50s", runtime ? runtime : "unknown runtime");
    return ompp_event_claim_openmp(source) ? ompp_ompt_tool() : NULL;
}

/* Asked by the OpenMP runtime when it starts. */
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    return start_tool(version, runtime);
}

__attribute__((constructor)) static void at_load(void) { ompp_ompt_other_stand_in_front(start_tool); }
