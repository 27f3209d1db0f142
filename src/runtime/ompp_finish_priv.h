/**
 * \file
 * End of measurement. Private to src/runtime.
 */
#ifndef OMPP_FINISH_PRIV_H
#define OMPP_FINISH_PRIV_H

#include <stdint.h>

/** \brief Exit handler of the process: the report of a program without MPI, or what there is of one that did not finalize. */
void ompp_finish_at_exit(void);

/** \brief CPU time of the process since the first event, ns. */
void ompp_process_cpu(uint64_t *user_ns, uint64_t *system_ns);

#endif
