/* OMPT tools of others, which an OpenMP runtime would start without us. */
#ifndef OMPP_OMPT_OTHER_H
#define OMPP_OMPT_OTHER_H

#include <omp-tools.h>

typedef ompt_start_tool_result_t *ompp_ompt_start_t(unsigned version, const char *runtime);

/** \brief At load: OpenMP runtimes ask us even where the program has a tool in front of us. */
void ompp_ompt_other_stand_in_front(ompp_ompt_start_t *ours);

/**
 * \brief Starts the tool that is in the process, be it in front of us or behind.
 * \param[in] ours  a function of ours.
 * \return what the tool returns; NULL = there is none, or it declines.
 */
ompt_start_tool_result_t *ompp_ompt_other_start(ompp_ompt_start_t *ours, unsigned version, const char *runtime);

/**
 * \return a tool that the runtime starts when we decline, with room for one: the first library of OMP_TOOL_LIBRARIES
 *         that is there, if it is another one than ours; NULL = none. Also in programs with TSan, for which LLVM's
 *         runtime has a tool of its own.
 */
const char *ompp_ompt_other_listed(void);

#endif
