/**
 * \file
 * Records of what threads of the process wait for. A record holds what was published last. Records are kept in a table
 * of fixed size, four in a row; when a row is full, the one that has not been used for longest is given up.
 */
#ifndef OMPP_CAUSAL_OBJECT_H
#define OMPP_CAUSAL_OBJECT_H

#include "causal/ompp_causal_priv.h"
#include "causal/replay/ompp_replay.h"

#define OMPP_CAUSAL_POSTS 32u

/** The latest posts of a semaphore (ompp_causal_semaphore.c). */
typedef struct ompp_causal_posts ompp_causal_posts_t;

typedef struct {
    _Atomic uint32_t lock;
    uint32_t kind;
    uint64_t object; /* 0 = free */
    uint64_t used;   /* when it was, ns */
    /* FORK: [0] of teams. BARRIER: that clock vectors are of. POSIX_BARRIER: [0] the present one */
    uint32_t generation[2];
    ompp_causal_thread_t *holder; /* of a lock, until it has published */
    uint64_t locked_set;          /* set of regions in which it was locked */
    /* BARRIER: of members that take part in the replay, by generation. POSIX_BARRIER: of all, by generation.
     * MUTEX: [0] when it was unlocked last, [1] when those that had it began to wait for it, combined.
     * SEMAPHORE: [0] latest post, [1] as MUTEX. Other kinds: [0] what was published last */
    ompp_clock_vector_t vector[2];
    uint64_t team; /* MUTEX: of the last holder */
    /* BARRIER: of members that take no part in the replay, by generation.
     * MUTEX: [0] of readers that have unlocked it since a writer had it last, [1] as vector[1], of readers */
    ompp_clock_vector_t others[2];
    ompp_clock_vector_t had; /* MUTEX that is read, too: when a writer had it last */
    /* BARRIER: what the team does before the barrier of one generation, where order is decided as the program runs.
     * It stays with the record; NULL = none was needed yet */
    ompp_replay_t *replay;
    /* generation + 1 whose clock vector says what its members have come to, without their own clocks */
    uint32_t settled;
    /* generations + 1: of replay, 0 = it is over; the last one in which it makes no sense */
    uint32_t replayed, spoiled;
    uint32_t overtaken[OMPP_WHATIF_FLAG_NUM]; /* slots, in it */
    ompp_causal_posts_t *posts;               /* SEMAPHORE: stays with the record */
    uint32_t kept;                            /* generation + 1 that is not noted, to save time; 0 = none */
    ompp_fine_t began;                        /* that one, 1/100 ns */
} ompp_causal_object_t;

/**
 * \param[in] make  one that is not known yet is.
 * \return the object's record, locked (ompp_causal_unlock(&record->lock)); NULL when there is none.
 */
ompp_causal_object_t *ompp_causal_object(ompp_sync_object_t kind, uint64_t object, bool make);

/** \brief The thread posts to a semaphore at t. */
void ompp_causal_post(ompp_causal_thread_t *self, uint64_t semaphore, ompp_time_t t);

/**
 * \brief The thread has taken a post; self->left of them are still there.
 * \return true = in self->other is which one it was; false = it was there at first, or is not known.
 */
bool ompp_causal_take(ompp_causal_thread_t *self, uint64_t semaphore, ompp_time_t t);

#endif
