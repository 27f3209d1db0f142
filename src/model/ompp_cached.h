/**
 * \file
 * Values of simulated caches, of a place in the call tree and a structure (src/hooks makes them, src/analysis reads
 * them): two sets, that of curves and that of the model. The first metric of a set tells which it is by its use.
 */
#ifndef OMPP_CACHED_H
#define OMPP_CACHED_H

#include <stdint.h>

/**
 * Curves: references by the number of distinct lines of 64 bytes that the thread has touched since it touched theirs
 * last. Row 0 of a histogram: from 1 << LEAST_BITS lines on, below twice as many; each further row twice as many; the
 * row before the last: all that are more; the last: not touched before.
 */
#define OMPP_CACHED_LINE 64
#define OMPP_CACHED_LEAST_BITS 4 /* caches of 1 KiB */
#define OMPP_CACHED_DISTANCES 20
#define OMPP_CACHED_BURST_ROWS 10 /* of a burst's histogram that distances can be told of: 16384 lines are known */
enum {
    OMPP_CACHED_ONE_IN,     /* of lines, one in so many was followed all the time */
    OMPP_CACHED_REFERENCES, /* made in bursts, when all lines were */
    OMPP_CACHED_BURST,      /* the histogram of bursts */
    OMPP_CACHED_SAMPLED = OMPP_CACHED_BURST + OMPP_CACHED_DISTANCES, /* that of the part, scaled to all */
    OMPP_CACHED_SEEN = OMPP_CACHED_SAMPLED + OMPP_CACHED_DISTANCES,  /* references in bursts, each counted once */
    OMPP_CACHED_FOLLOWED,                                            /* references to the part, scaled to all */
    OMPP_CACHED_UNSURE, /* in bursts, to lines that the burst had not met: a histogram by the lines that it had met */
    OMPP_CACHED_CURVE_VALUES = OMPP_CACHED_UNSURE + OMPP_CACHED_BURST_ROWS
};

/** The model: misses of L1 to L3, of loads and stores in turn. */
enum {
    OMPP_CACHED_MISSES,
    OMPP_CACHED_COMPULSORY = 6,
    OMPP_CACHED_CONFLICT = 9,
    OMPP_CACHED_TLB = 12,
    OMPP_CACHED_BROUGHT = 14,
    OMPP_CACHED_TRUE,
    OMPP_CACHED_FALSE,
    OMPP_CACHED_MODEL_VALUES
};

#endif
