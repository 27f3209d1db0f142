/**
 * \file
 * Memory that the program gives back. Private to src/memory.
 */
#ifndef OMPP_FREE_PRIV_H
#define OMPP_FREE_PRIV_H

/** \brief Looks whether the program's allocator tells the sizes of its blocks. At load, before main. */
void ompp_free_start(void);

#endif
