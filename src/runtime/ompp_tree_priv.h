/**
 * \file
 * Making nodes and stacks of a thread. Private to src/runtime; what events need is in ompp_thread.h.
 */
#ifndef OMPP_TREE_PRIV_H
#define OMPP_TREE_PRIV_H

#include "runtime/ompp_thread.h"

/** \brief Makes the table of nodes. \return false: out of memory. */
bool ompp_tree_open(ompp_thread_t *thread);

/** \brief Gives it back. */
void ompp_tree_close(ompp_thread_t *thread);

/** \brief A node, not yet in the table. \param[in] region  0 = a root. \return 0 when memory is full. */
ompp_off_t ompp_node_new(ompp_thread_t *thread, ompp_off_t parent, ompp_off_t region, ompp_time_t t);

/** \brief A stack with room for so many frames. \return 0 when memory is full. */
ompp_off_t ompp_stack_new(ompp_thread_t *thread, uint32_t capacity);

#endif
