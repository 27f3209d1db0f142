/* An OMPT tool that is not ours: counts parallel regions. With TOOL_DECLINES it does not start. */
#include <omp-tools.h>
#include <stdio.h>
#include <stdlib.h>

static int regions;

static void on_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned threads, int flags, const void *code)
{
    (void)task, (void)frame, (void)parallel, (void)threads, (void)flags, (void)code;
    regions++;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)device, (void)data;
    ((ompt_set_callback_t)lookup("ompt_set_callback"))(ompt_callback_parallel_begin, (ompt_callback_t)on_begin);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
    printf("tool: %d regions\n", regions);
    fflush(stdout);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};

    (void)version, (void)runtime;
    printf("tool: asked\n");
    fflush(stdout);
    return getenv("TOOL_DECLINES") ? NULL : &result;
}
