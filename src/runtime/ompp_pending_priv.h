/**
 * \file
 * The runtime's side of pages of counts. Private to src/runtime.
 */
#ifndef OMPP_PENDING_PRIV_H
#define OMPP_PENDING_PRIV_H

/** \brief In a forked child, before its arena is detached: pages become memory of its own. What they held is lost. */
void ompp_pending_detach(void);

#endif
