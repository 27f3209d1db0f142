/**
 * \file
 * A clock vector as other processes get it (ompp_causal_remote.c), and as MPI combines it (ompp_causal_combine.c).
 * Among the files of this folder.
 */
#ifndef OMPP_CAUSAL_REMOTE_PRIV_H
#define OMPP_CAUSAL_REMOTE_PRIV_H

#include "causal/clock/ompp_causal_clock_priv.h"

#define OMPP_CAUSAL_MANY UINT64_MAX
#define OMPP_CAUSAL_FARMS 4u /* that can at one meeting */
#define OMPP_CAUSAL_OPEN 16u /* bits of flags from there on: they hold if what was told of farms does not */

_Static_assert(OMPP_WHATIF_FLAG_NUM <= OMPP_CAUSAL_OPEN, "flags have room twice");

/** The set of regions that comes next. */
typedef struct {
    uint64_t number, keys[OMPP_CLOCKS_SLOTS];
} ompp_causal_next_set_t;

/** Aligned to 8 only: it lies in buffers of MPI. All zero bytes: nothing. */
typedef struct {
    ompp_fine_t t, debt;
    /* of regions; with delays: experiment that offsets began with. Two of them say nothing to each other */
    uint64_t set;
    uint64_t experiment;            /* with delays: number of the present one */
    uint64_t key, percent, settles; /* with delays: its region and speed-up, ... */
    uint64_t from;                  /* number of the rank, from 1; OMPP_CAUSAL_MANY = of several */
    /* at a meeting: ranks that can say more than their clocks (ompp_causal_farm.c), the largest first; 0 = none */
    uint64_t farms[OMPP_CAUSAL_FARMS];
    uint64_t role; /* ompp_causal_farm_role() */
    /* At a meeting: this rank's clocks say nothing, for a rank in farms tells of them; but for what it has done since
     * its last message (late): then all exchange theirs a third time. When the rank that tells came to the meeting;
     * when the last of those that say nothing did */
    uint64_t serves, late;
    ompp_fine_t reported, served;
    /* at a meeting: a rank that had work of another one keeps the measured order, or what a farm tells is a hint */
    uint64_t astray;
    uint64_t used;                    /* without delays: clocks that are there; the others stand at t */
    uint64_t keys[OMPP_CLOCKS_SLOTS]; /* 0 = free */
    uint32_t flags
        [OMPP_CLOCKS_SLOTS]; /* OMPP_WHATIF_F_*, seen where the region may never run; the same << OMPP_CAUSAL_OPEN */
    ompp_causal_next_set_t turn; /* at a meeting, without delays: the set that begins there; number 0 = none */
    union {
        ompp_fine_t v[OMPP_CLOCKS];
        struct {
            ompp_fine_t v[2];                 /* EXPERIMENT, BASELINE */
            uint64_t work[OMPP_CLOCKS_SLOTS]; /* ns in each region, of the rank with the most: rank 0 chooses by that */
            uint64_t visits;                  /* at a meeting: of the progress point, as rank 0 comes to it */
            struct {
                uint64_t number, key, percent;
            } next; /* at a meeting: begins there; number 0 = nothing */
        } delays;
    };
} ompp_causal_remote_t;

#endif
