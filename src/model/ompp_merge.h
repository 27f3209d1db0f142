/**
 * \file
 * Joining profiles of ranks into one, folding ranks into the rest, and the check of a profile that comes from outside.
 * Used by the reduction at the end of a run and by the tools. libc only; nothing here exits.
 */
#ifndef OMPP_MERGE_H
#define OMPP_MERGE_H

#include "model/ompp_profile.h"

/**
 * \brief Joins a profile into another: the union of all definitions by key, nodes by call path, locations by (rank,
 *        tid).
 *
 * Keys: module: build id, or path when it has none; region: construct, name, key and file with lines, or module with
 * address when the lines are not known; node: path of regions; metric set: its whole definition (sets are renumbered
 * where needed); coverage line: kind, subject and reason, counts and ranks added.
 *
 * Values of a location that both have (the rest) are combined by the metric's reduction, others copied. What one rank
 * says for all (application, settings, load addresses, first entry of a node) is taken from the lowest rank that says
 * it. Locations come out ascending by (rank, tid), the rest last; ranks ascending; region numbers are withdrawn
 * (OMPP_NONE).
 *
 * The order of merging does not matter, but for the indices and the last bits of the running means. Time and memory are
 * linear in the sizes of both (when the locations of both are in order already).
 *
 * \param[in,out] into  stays usable after an error, incomplete and marked failed.
 * \param[in]     from  borrowed; not modified.
 * \return 0.
 * \return -OMPP_E_NOMEM
 */
int ompp_profile_merge(ompp_profile_t *into, const ompp_profile_t *from);

/**
 * \brief Turns all ranks and locations of a profile into the rest location: values combined over threads, then over
 *        ranks; fills over_threads and over_ranks of the nodes with execT (sum of the times of all phases, ns), adds to
 *        the rest_* totals and removes the ranks. A rest that is there already is kept and added to.
 * \return 0.
 * \return -OMPP_E_NOMEM  the profile is unchanged.
 */
int ompp_profile_fold_rest(ompp_profile_t *profile);

/**
 * \brief Puts locations in ascending order of (rank, tid), the rest last; blocks follow.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_profile_sort_locations(ompp_profile_t *profile);

/**
 * \brief Tells whether a profile from outside is safe and sensible to work with: every index in range, parents before
 *        children, blocks in order and of the right shape, constructs and kinds known, every location's rank described,
 *        nothing twice.
 * \param[out] why  one line, what is wrong and where; "" when nothing is; may be NULL when n is 0.
 * \return 0, -OMPP_E_FORMAT or -OMPP_E_NOMEM.
 */
int ompp_profile_check(const ompp_profile_t *profile, char *why, size_t n);

#endif
