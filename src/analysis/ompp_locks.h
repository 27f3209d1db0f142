/**
 * \file
 * Many locks of one variable as one region. Private to the analysis.
 */
#ifndef OMPP_LOCKS_H
#define OMPP_LOCKS_H

#include "model/ompp_profile.h"

/**
 * \brief Makes the LOCK regions of a variable equal when there are more than 64, and says so in the Coverage section;
 *        the same for locks that lie in no variable. Joining equal regions is left to what follows.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_gather_locks(ompp_profile_t *profile);

#endif
