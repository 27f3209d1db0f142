/**
 * \file
 * The cache of recipes: how large it is, and who gives it memory. Private to src/unwind.
 */
#ifndef OMPP_CACHE_PRIV_H
#define OMPP_CACHE_PRIV_H

#include <stddef.h>

#define OMPP_UNWIND_CACHE_BITS 14u
#define OMPP_UNWIND_CACHE_BYTES ((size_t)32 << OMPP_UNWIND_CACHE_BITS)

/** \brief Walks are possible from here on. \param memory  all 0, on a line of memory; stays for good. */
void ompp_unwind_cache_use(void *memory);

#endif
