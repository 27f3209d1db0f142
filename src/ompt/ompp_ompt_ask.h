/* What events do not tell, and the OpenMP runtime is asked for. */
#ifndef OMPP_OMPT_ASK_H
#define OMPP_OMPT_ASK_H

#include <omp-tools.h>
#include <stdbool.h>
#include <stdint.h>

/** \brief Called once, before all else. */
void ompp_ask_start(ompt_function_lookup_t lookup);

/** \return whether the thread is in a team inside another one that has more than one thread. */
bool ompp_ask_is_nested(void);

/** \return how many of so many sections this thread is handed out. */
unsigned ompp_ask_sections(uint64_t count);

/**
 * \brief Where a parallel region was met whose place the runtime does not tell.
 * \param[in] frame  of the task that has met it.
 * \return NULL = not known.
 */
const void *ompp_ask_fork_code(const ompt_frame_t *frame);

#endif
