/** \file Random profiles from fixed seeds, and a text form of a profile in which order and indices play no part. */
#ifndef PROFILE_TOOLS_H
#define PROFILE_TOOLS_H

#include "model/ompp_profile.h"

/** A small generator of its own, so that a seed means the same on every machine (xorshift64*). */
typedef struct {
    uint64_t state;
} random_t;

uint64_t random_next(random_t *r);
uint32_t random_below(random_t *r, uint32_t n);

/**
 * \brief Profile of one rank of a made-up program: 1 to 4 threads, regions and paths that partly agree between ranks.
 */
ompp_profile_t *tools_rank_profile(uint64_t seed, uint32_t rank);

/** \return owned text, one sorted line per fact; equal for profiles that say the same. */
char *tools_canonical(const ompp_profile_t *profile);

/** \brief Fails the test, showing the first line that differs, when the profiles do not say the same. */
void tools_assert_equal(const ompp_profile_t *a, const ompp_profile_t *b);

/** \brief Fails the test when ompp_profile_check() objects. */
void tools_assert_valid(const ompp_profile_t *profile);

#endif
