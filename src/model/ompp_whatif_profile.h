/**
 * \file
 * Results of causal profiling as plain data, part of ompp_profile_t: what the program would gain if a region were
 * faster. Written by src/causal through the arena (model/ompp_layout.h), joined over ranks here, refined by
 * src/analysis, rendered by src/report.
 *
 * A clock is a region made faster by permille / 1000. Three numbers are known of it, in ns, over the part of the run in
 * which it was observed:
 *
 *   T  time   what passed, until the last thread was there
 *   O  saved  what the optimised program has saved by then: its own time is T - O
 *   B  paid   delays that were inserted (OMPP_CAUSAL=delay): the program without them would have taken T - B; 0 in
 *             virtual mode
 *
 * Predicted gain of the program: (O - B) / (T - B).
 *
 * A block is an observation between two visits of progress points: the same numbers for a part of the run, for
 * confidence intervals. When there are more than OMPP_WHATIF_BLOCKS, neighbours are joined in pairs.
 */
#ifndef OMPP_WHATIF_PROFILE_H
#define OMPP_WHATIF_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#define OMPP_WHATIF_SPEEDUPS 4u /* clocks of a region */
#define OMPP_WHATIF_BLOCKS 32u  /* of a clock */

#define OMPP_WHATIF_NEARLY_ALL 0.95 /* a region that is followed for less of the time is followed partly (flag) */

#define OMPP_WHATIF_OUTSIDE "(outside regions)" /* how reports call the code outside of all regions */

enum {
#define OMPP_WHATIF_FLAG(id, warning, name) OMPP_WHATIF_BIT_##id,
#include "model/ompp_whatif_flag.def"
#undef OMPP_WHATIF_FLAG
    OMPP_WHATIF_FLAG_NUM
};
enum {
#define OMPP_WHATIF_FLAG(id, warning, name) OMPP_WHATIF_F_##id = 1 << OMPP_WHATIF_BIT_##id,
#include "model/ompp_whatif_flag.def"
#undef OMPP_WHATIF_FLAG
};

/** What the text report says of a gain that may be off: one word for flags that a user treats alike. */
typedef enum {
#define OMPP_WHATIF_WARNING(id, name, sentence) OMPP_WHATIF_W_##id,
#include "model/ompp_whatif_flag.def"
#undef OMPP_WHATIF_WARNING
    OMPP_WHATIF_WARNING_NUM
} ompp_whatif_warning_t;

typedef struct {
    const char *name;
    ompp_whatif_warning_t warning;
} ompp_whatif_flag_t;

typedef struct {
    const char *name, *sentence; /* what may be off, and what to do */
} ompp_whatif_warning_text_t;

extern const ompp_whatif_flag_t ompp_whatif_flags[OMPP_WHATIF_FLAG_NUM];
extern const ompp_whatif_warning_text_t ompp_whatif_warnings[OMPP_WHATIF_WARNING_NUM];

typedef enum { OMPP_WHATIF_OFF, OMPP_WHATIF_VIRTUAL, OMPP_WHATIF_DELAY, OMPP_WHATIF_MODE_NUM } ompp_whatif_mode_t;

extern const char *const ompp_whatif_modes[OMPP_WHATIF_MODE_NUM]; /* "off", "virtual", "delay" */

/** Ideal clocks: on each, one thing takes no time, all else takes the time that it took. What is waited for is waited
 * for there, too. */
typedef enum {
    OMPP_WHATIF_NO_NETWORK, /* calls of MPI besides waiting: ranks wait for each other alone */
    OMPP_WHATIF_NO_RUNTIME, /* fork, join, barriers besides waiting, making tasks */
    OMPP_WHATIF_NO_COST,    /* both of them, and handing over locks */
    OMPP_WHATIF_NO_LOCKS,   /* handing over locks, and waiting for them */
    OMPP_WHATIF_IDEAL_NUM
} ompp_whatif_ideal_t;

/** One observation. */
typedef struct {
    uint32_t number; /* delay: of the experiment, the same on all ranks; virtual: from 0, in order of time */
    uint32_t visits; /* of the progress point that ended it, and before */
    uint64_t time_ns, paid_ns;
    int64_t saved_ns; /* may be negative: what was saved before was used up in this part */
    /* delay: work in the region meanwhile, all threads that the rank knows of; virtual: 0, not told */
    uint64_t work_ns;
} ompp_whatif_block_t;

typedef struct {
    uint32_t permille; /* speed-up of the region, 1000 = it takes no time; 0 = this clock was not used */
    uint32_t nblocks;
    uint64_t time_ns, saved_ns, paid_ns;
    /* delay: of the region in these experiments, all threads and ranks; virtual: 0, that of the region */
    uint64_t work_ns;
    /* virtual: spans between synchronisations with work in the region, all threads; delay: experiments */
    uint64_t observations;
    ompp_whatif_block_t blocks[OMPP_WHATIF_BLOCKS];
} ompp_whatif_clock_t;

/** A region that was followed. */
typedef struct {
    uint32_t region; /* index; equal regions of ranks are joined. OMPP_NONE: all that is outside of regions */
    /* OMPP_NONE: what the program gains. Else index of a latency point, and for time, saved and paid of the clocks:
     * sums over its units of what passed from begin to end; observations: units. No blocks */
    uint32_t point;
    uint32_t flags;       /* OMPP_WHATIF_F_* */
    uint64_t work_ns;     /* work done in it and below it, all threads and ranks, while it was followed */
    uint64_t followed_ns; /* part of the run */
    /* delay: work done in it and below it during the whole run, all threads and ranks; 0 = not known */
    uint64_t total_ns;
    uint64_t visits; /* begun while it was followed, all threads and ranks */
    ompp_whatif_clock_t clocks[OMPP_WHATIF_SPEEDUPS];
} ompp_whatif_region_t;

typedef enum { OMPP_WHATIF_THROUGHPUT, OMPP_WHATIF_LATENCY } ompp_whatif_point_kind_t;

/** A progress point, equal on all ranks by name and kind. */
typedef struct {
    uint32_t name, kind;   /* string; ompp_whatif_point_kind_t */
    uint32_t automatic;    /* found by ompp, not named by the program; 2: of these, the one that blocks end at */
    uint32_t region;       /* of an automatic one; OMPP_NONE otherwise */
    uint64_t visits;       /* throughput: visits; latency: ends */
    uint64_t begins;       /* latency: begins */
    uint64_t in_flight_ns; /* latency: integral of begins - ends over time */
} ompp_whatif_point_t;

/** The part of a profile. control: experiments that make nothing faster, and delay nobody; time_ns, observations and
 * blocks are used. */
typedef struct {
    uint32_t mode;    /* ompp_whatif_mode_t; OFF: all else is 0 */
    uint32_t why;     /* string: why there is no result, 0 = there is one */
    uint64_t time_ns; /* longest duration of a rank */
    uint64_t paid_ns; /* delays, the most of a rank */
    /* synchronisations and changes of place that clocks were moved at, all threads and ranks */
    uint64_t events;
    uint64_t cost_ns; /* of these, estimated: number x measured cost of one, all threads and ranks */
    uint64_t lost;    /* waits that could not be followed */
    /* of them, in calls that only wait when somebody comes late: by which they were too long, all threads */
    uint64_t lost_ns;
    /* work of all threads and ranks, waiting left out, without that in calls of MPI; 0 = not known */
    uint64_t worked_ns;
    uint64_t outside_ns; /* of that, outside of all regions */
    /* part of the run without clocks, to save time; the most of a rank. Of work it is not part of: estimated */
    uint64_t suspended_ns;
    /* stretches with loops, tasks, locks: gone through again on each clock; not, to save time */
    uint64_t replayed, kept;
    /* of the part with clocks: longer because locks let threads pass in step with them; the most of a rank */
    uint64_t passed_ns;
    size_t nregions, aregions;
    ompp_whatif_region_t *regions; /* owned */
    ompp_whatif_clock_t control;
    /* of no region; clocks: [OMPP_WHATIF_IDEAL_NUM], permille 1000; followed_ns 0 = there are none */
    ompp_whatif_region_t ideal;
    size_t npoints, apoints;
    ompp_whatif_point_t *points; /* owned */
} ompp_whatif_t;

/**
 * \brief Joins what two ranks, or two records of one rank, say of the same region over the same time. A clock that one
 *        of them does not have saved it nothing: it took its whole time.
 * \param[in] into_ns, from_ns  time of the ranks that each stands for.
 */
void ompp_whatif_join_region(ompp_whatif_region_t *into, uint64_t into_ns, const ompp_whatif_region_t *from,
                             uint64_t from_ns);

/**
 * \brief Joins what one rank says of two parts of a region that were followed by themselves over the same time: what
 *        both save adds up, as long as the critical path stays the same. Blocks are those of into.
 */
void ompp_whatif_join_parts(ompp_whatif_region_t *into, const ompp_whatif_region_t *from);

#endif
