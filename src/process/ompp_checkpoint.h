/**
 * \file
 * A compact copy of the profile in the directory of the reports, made every OMPP_CHECKPOINT seconds: for nodes that
 * vanish with the files of their processes. Private to src/process.
 */
#ifndef OMPP_CHECKPOINT_H
#define OMPP_CHECKPOINT_H

/** \brief Writes the copy, or replaces it. Says once when it cannot. \note Threads: one at a time, outside events. */
void ompp_checkpoint_write(void);

/** \brief Removes it: the run has ended well. */
void ompp_checkpoint_remove(void);

#endif
