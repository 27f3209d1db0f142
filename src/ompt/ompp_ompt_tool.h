/* Our OMPT tool. Private to src/ompt. */
#ifndef OMPP_OMPT_TOOL_H
#define OMPP_OMPT_TOOL_H

#include <omp-tools.h>

/** \return what the OpenMP runtime is given that starts it; static. */
ompt_start_tool_result_t *ompp_ompt_tool(void);

/** \brief The tool has this callback. Those of locks say what locks and critical sections cost. */
void ompp_ompt_calibrate(ompt_callbacks_t event, ompt_callback_t function);

#endif
