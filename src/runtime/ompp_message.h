/**
 * \file
 * Messages to other ranks, for the message matrix. Records lie in the arena (model/ompp_layout.h) and are good until
 * the end of the process.
 */
#ifndef OMPP_MESSAGE_H
#define OMPP_MESSAGE_H

#include "model/ompp_layout.h"

#pragma GCC visibility push(default)

/**
 * \brief A record of messages to a rank, linked, zero counts. One for each rank at most: the caller sees to that.
 * \param[in] to  rank of the run, or OMPP_MESSAGE_OTHERS. \return NULL when off or full. Slow.
 */
ompp_a_message_t *ompp_message_new(uint32_t to);

#pragma GCC visibility pop

/** \brief One more message. Any thread. */
static inline void ompp_message_count(ompp_a_message_t *message, uint64_t bytes)
{
    atomic_fetch_add_explicit(&message->messages, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&message->bytes, bytes, memory_order_relaxed);
}

#endif
