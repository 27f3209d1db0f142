/**
 * \file
 * Counts of a meter that survive the process before they are handed over: memory of the arena that a part counts into
 * at an address of its own (ompp_a_pending_t). Whoever reads the arena gives them to the region that the thread is in.
 */
#ifndef OMPP_PENDING_H
#define OMPP_PENDING_H

#include "model/ompp_layout.h"

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

#define OMPP_PENDING_PAGE 4096u /* bytes of a page of counts */

/**
 * \brief A record for one thread; there for ever: it serves one thread after another.
 * \return borrowed; NULL when there is no room.
 * \note Threads: any. Takes the process's lock.
 */
ompp_a_pending_t *ompp_pending_new(unsigned set);

/**
 * \brief Puts a zeroed page of the arena at an address, in the place of what is mapped there: nobody may have written
 *        to that.
 * \param[in] kind  OMPP_A_PAGE_*.  \param[in] first  of the objects that have an item in it.  \param[in] n  items.
 * \param[in] where on a page's boundary. \param done set, once the page is there or never will be; when set already,
 *                  nothing is done.
 * \return false: no room, or the arena is no file; all is as it was.
 * \note Threads: any. Takes the process's lock. At most a quarter of the arena goes to such pages, and 4 MiB.
 */
bool ompp_pending_page(ompp_a_pending_t *pending, unsigned kind, uint32_t first, uint32_t n, void *where,
                       _Atomic bool *done);

/** \return the offset of the block whose values these are, from ompp_meter_values(); 0 for NULL. */
ompp_off_t ompp_pending_block(const uint64_t *values);

#pragma GCC visibility pop

/** \brief In a forked child, before its arena is detached: pages become memory of its own. What they held is lost. */
void ompp_pending_detach(void);

#endif
