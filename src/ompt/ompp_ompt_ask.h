/* What the OpenMP runtime is asked for: events, and what these do not tell. */
#ifndef OMPP_OMPT_ASK_H
#define OMPP_OMPT_ASK_H

#include <omp-tools.h>
#include <stdbool.h>
#include <stdint.h>

/** \brief Called once, before all else. \return whether the runtime has events. */
bool ompp_ask_start(ompt_function_lookup_t lookup);

/** \brief The runtime is about to be closed: it is asked for no events any more. */
void ompp_ask_end(void);

/** \brief Asks for an event from now on, or (NULL) for it no more; after ompp_ask_end(): nothing, ompt_set_error. */
ompt_set_result_t ompp_ask_for(ompt_callbacks_t event, ompt_callback_t function);

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
