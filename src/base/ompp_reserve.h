/**
 * \file
 * Addresses by the gigabyte, of which little is ever backed by memory. One table of them in the process, that of
 * libompp: who locks memory (src/process/ompp_locked.c) must know those of all libraries.
 */
#ifndef OMPP_RESERVE_H
#define OMPP_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/**
 * \brief Addresses: zero, pages are backed where they are written, and a core dump leaves them out. In a program that
 *        keeps its memory locked (mlockall) they are not, and no limit of locked memory refuses them.
 * \param[in] size  bytes.
 * \return the first; NULL: the system refuses.
 * \note Threads: any.
 */
void *ompp_reserve(size_t size);

/** \brief Gives them back. */
void ompp_unreserve(void *at, size_t size);

typedef struct {
    uintptr_t begin, end;
} ompp_reserved_t;

/** \brief The i-th range that is reserved, in no order; end 0 = none. \return false: there are no more. */
bool ompp_reserve_get(unsigned i, ompp_reserved_t *range);

#pragma GCC visibility pop

#endif
