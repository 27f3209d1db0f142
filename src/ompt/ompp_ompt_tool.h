/* Our OMPT tool. Private to src/ompt. */
#ifndef OMPP_OMPT_TOOL_H
#define OMPP_OMPT_TOOL_H

#include <omp-tools.h>
#include <stdbool.h>
#include <stddef.h>

/** What the runtime is asked for: ompp_ompt.c. */
typedef struct {
    ompt_callbacks_t event;
    ompt_callback_t function;
    const char *name;
    bool is_mutex;
    bool is_sync; /* asked for only when waiting is followed */
} ompp_ompt_callback_t;

extern const ompp_ompt_callback_t ompp_ompt_callbacks[];
extern const size_t ompp_ompt_ncallbacks;

/** \return what the OpenMP runtime is given that starts it; static. */
ompt_start_tool_result_t *ompp_ompt_tool(void);

/** \brief The tool has this callback. Those of locks say what locks and critical sections cost. */
void ompp_ompt_calibrate(ompt_callbacks_t event, ompt_callback_t function);

#endif
