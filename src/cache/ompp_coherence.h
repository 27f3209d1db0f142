/**
 * \file
 * Lines that threads take from each other by writing to them: who had a line and has lost it, and whether for the very
 * word (true sharing) or another one of the line (false sharing). One for all threads; lines are locked one by one, and
 * never waited for long.
 */
#ifndef OMPP_COHERENCE_H
#define OMPP_COHERENCE_H

#include "cache/ompp_levels.h"

typedef struct ompp_coherence ompp_coherence_t;
typedef enum { OMPP_SHARING_NONE, OMPP_SHARING_TRUE, OMPP_SHARING_FALSE } ompp_sharing_t;

/** Two threads that share a line falsely. */
typedef struct {
    uint64_t times;
    uint64_t address, other_address; /* what one of them used, and the other had written */
    uint32_t object, thread, other;
} ompp_sharing_pair_t;

/** \brief \return NULL: no memory. */
ompp_coherence_t *ompp_coherence_new(const ompp_machine_t *machine, ompp_memory_new_t memory_new);

/**
 * \brief A thread uses an address.
 * \param[in] thread  from 0. Those that are 16 apart count as one.
 * \return why it has lost the line since it used it last, if it has.
 */
ompp_sharing_t ompp_coherence_access(ompp_coherence_t *coherence, unsigned thread, uint64_t address, bool store,
                                     uint32_t object);

/**
 * \brief The pairs that share falsely most often.
 * \param[out] pairs  shape [n].  \return how many there are, at most n.
 */
unsigned ompp_coherence_pairs(const ompp_coherence_t *coherence, ompp_sharing_pair_t *pairs, unsigned n);

#endif
