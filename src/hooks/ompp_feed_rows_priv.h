/**
 * \file
 * What is reported of simulated caches, per place in the call tree and structure: the metrics of model/ompp_cached.h.
 * Private to src/hooks.
 */
#ifndef OMPP_FEED_ROWS_PRIV_H
#define OMPP_FEED_ROWS_PRIV_H

#include "model/ompp_cached.h"

/** \brief Registers the metrics. \return the set, 0 = there is no room. */
unsigned ompp_feed_rows_curves(void);
unsigned ompp_feed_rows_model(void);

#endif
