/**
 * \file
 * Handing out iterations, the rare side. Private to src/runtime.
 */
#ifndef OMPP_CHUNK_H
#define OMPP_CHUNK_H

#include "runtime/ompp_event.h"

typedef struct ompp_thread ompp_thread_t;

/** \brief Adds to the values of a node of the thread's tree. \param[in] values  [OMPP_METRIC_CHUNK_NUM] */
void ompp_chunk_book_slow(ompp_thread_t *thread, ompp_off_t node, const uint64_t *values);

/** \brief What the calling thread has not handed over is dropped: its state is another one from now on, perhaps at the
 * same address. */
void ompp_chunk_forget(void);

#endif
