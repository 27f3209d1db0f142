/**
 * \file
 * Memory that is about to be used, backed by pages in one go: on a virtual machine 0.6 us a page, and 12 us where each
 * is touched for the first time. Where messages come one after the other all ranks wait for that.
 */
#ifndef OMPP_PREFAULT_H
#define OMPP_PREFAULT_H

#include <stddef.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/**
 * \brief Backs the pages in which bytes lie, to be written; contents stay. Nothing where the system cannot do it (Linux
 *        before 5.14), and no more than it can.
 * \param[in] at, size  bytes; of memory that may be written.
 * \note Threads: any. Leaves errno alone.
 */
void ompp_prefault(void *at, size_t size);

/** \brief The code of a library, and what it writes, but for what starts as zero. \param[in] function  one of it. */
void ompp_prefault_library(const void *function);

#pragma GCC visibility pop

#endif
