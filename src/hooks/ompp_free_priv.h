/**
 * \file
 * Memory that the program gives back or moves. Private to src/hooks.
 */
#ifndef OMPP_FREE_PRIV_H
#define OMPP_FREE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OMPP_FREE_PIECES 32 /* of structures that move with a block; one more tells that there are more */

/** \brief Looks whether the program's allocator tells the sizes of its blocks. At load, before main. */
void ompp_free_start(void);

/** \brief Whether a structure may be there; looks at the map's entries. Keeps errno. */
bool ompp_free_holds_structure(uintptr_t begin, uintptr_t end);

/** \brief How many of n pieces move; notes in Coverage that there are more. */
size_t ompp_free_that_move(size_t n);

#endif
