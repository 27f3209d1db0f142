/**
 * \file
 * Shared by the files about what-if results.
 */
#ifndef OMPP_ANALYSIS_WHATIF_PRIV_H
#define OMPP_ANALYSIS_WHATIF_PRIV_H

#include "analysis/ompp_paths.h"
#include "analysis/ompp_whatif.h"

#define OMPP_WHATIF_WHOLE_RUN 0.99 /* followed for so much of it: no correction */

/**
 * \return whether anything was observed. What is outside of regions tells nothing by itself, if nobody asks for it: it
 *         is the program.
 */
bool ompp_whatif_any(const ompp_profile_t *profile);

/** \return ns of work at a node and not below it, all locations. */
double ompp_whatif_own_work(const ompp_profile_t *profile, const ompp_node_t *node);

/** \return whether it is not of the units of a latency point. */
static inline bool ompp_whatif_is_of_program(const ompp_whatif_region_t *region) { return region->point == OMPP_NONE; }

/** \return whether the clock was used, and in experiments something was done in the region. */
bool ompp_whatif_is_seen(const ompp_whatif_region_t *region, const ompp_whatif_clock_t *clock);

/** \return whether any clock of the region is seen. */
bool ompp_whatif_is_observed(const ompp_whatif_region_t *region);

/** \return ns of the run without what it was delayed by. */
double ompp_whatif_time_without_delays(const ompp_profile_t *profile);

/** All calls of a region of MPI. */
typedef struct {
    double number, ns;
} ompp_whatif_calls_t;

/** What measuring took: parts of the run, 0 to 1, that the program has waited for. */
typedef struct {
    double beside; /* clocks included, if threads did it side by side; not what calls took that ask: that was waiting */
    double asking; /* what these took, side by side */
    double behind; /* all of it, one thread behind the other */
    double alone;  /* side by side, without clocks */
    double followed; /* of the part of the run in which ideal clocks ran: side by side, with them */
    double events;   /* of all threads */
    double own_ns;   /* of all events and threads, without clocks */
} ompp_measuring_t;

/** ns that events of a region, and of all below it, took all threads. */
typedef struct {
    double own, asking; /* asking: of own, of calls that ask whether something has come */
    double at_work;     /* of own, not of calls of MPI: clocks see these without their events */
    double events;      /* how many there were */
} ompp_whatif_in_t;

/** What measuring took, for results: found once. */
typedef struct {
    ompp_measuring_t run;
    double at_work;       /* of all regions */
    ompp_whatif_in_t *in; /* [nregions] */
} ompp_whatif_measured_t;

/** The work of the run, ns, all locations. */
typedef struct {
    bool partly;         /* clocks know a part of the run alone: all is by the profile, which knows the whole run */
    double *own, *below; /* [nnodes] of each node, without and with all below it; MPI as the clocks know it */
    uint32_t *top;       /* [nnodes] the outermost region that was tried at or above it; OMPP_NONE */
    ompp_whatif_calls_t *calls; /* [nregions] */
    ompp_paths_t paths;
    double alone;                    /* ompp_whatif_time_alone(), by who needs it */
    ompp_whatif_measured_t measured; /* the same */
    double all;                      /* what was tried, and what was not */
    double outside;                  /* of it, outside of all regions */
    bool tries_outside;              /* that was tried, too */
    double left;                     /* 0 to 1: as much of what the nodes without a top have was not tried */
    double of_threads;               /* 0 to 1: part of their time */
} ompp_whatif_sums_t;

/** \return false without memory: nothing is to be freed then. */
bool ompp_whatif_sums_init(const ompp_profile_t *profile, ompp_whatif_sums_t *sums);
void ompp_whatif_sums_fini(ompp_whatif_sums_t *sums);

/** \return ns of all work; 0 also without memory. */
double ompp_whatif_all_work(const ompp_profile_t *profile);

/** \return ns of work in a region during the run, by the profile. region: OMPP_NONE = what is outside of all. */
double ompp_whatif_region_work(const ompp_profile_t *profile, const ompp_whatif_sums_t *sums, uint32_t region);

/** \return part of all work that was done in the region and below it, 0 to 1. */
double ompp_whatif_share(const ompp_profile_t *profile, const ompp_whatif_sums_t *sums,
                         const ompp_whatif_region_t *region);

/** \return what a gain is to be multiplied with, for the part of the run that the region was followed. */
double ompp_whatif_correction(const ompp_profile_t *profile, const ompp_whatif_sums_t *sums,
                              const ompp_whatif_region_t *region);

/**
 * \return part of the run in which a region was executed, at most: the sum of all ranks, which may work in turn.
 *         Without what events took, the most that the program can gain. 1 = it is not known.
 */
double ompp_whatif_elapsed(const ompp_profile_t *profile, const ompp_whatif_sums_t *sums, uint32_t region);

/** \return whether a node has a node of this region above it. */
bool ompp_whatif_lies_in(const ompp_profile_t *profile, uint32_t node, uint32_t region);

ompp_measuring_t ompp_whatif_measuring(const ompp_profile_t *profile);

/** \return false without memory: nothing is to be freed then. */
bool ompp_whatif_measured_init(const ompp_profile_t *profile, ompp_whatif_measured_t *measured);
void ompp_whatif_measured_fini(ompp_whatif_measured_t *measured);

/** By what gains of a region are larger, or smaller, in the run without what measuring took; 1 = by nothing. */
typedef struct {
    double beside, behind; /* if threads did it side by side; one behind the other */
} ompp_whatif_factor_t;

/**
 * \brief Virtual clocks: how much of what measuring took the program has waited for is not known. Gains are told as if
 *        threads did it side by side, but for locks that threads wait for.
 * \param[in] result  share and followed are used. \param[in] all  what the share is of, ns.
 */
ompp_whatif_factor_t ompp_whatif_without_measuring(const ompp_profile_t *profile,
                                                   const ompp_whatif_measured_t *measured,
                                                   const ompp_whatif_result_t *result, double all);

/**
 * \brief A region's share of the work, without what measuring took of both: with virtual clocks, as gains are without.
 *        A region may be little but our events.
 */
double ompp_whatif_net_share(const ompp_profile_t *profile, const ompp_whatif_measured_t *measured,
                             const ompp_whatif_result_t *result, double all);

/** \brief The interval of a gain that is by `beside` reaches to that by `behind`. */
void ompp_whatif_reach(ompp_whatif_factor_t factor, ompp_gain_t *gain);

/** \brief (O - B) / (T - B); 0 when nothing is left. */
double ompp_whatif_gain_of(double time, double saved, double paid);

/**
 * \brief Scales a gain that is there already, and finds interval, low and high of what comes of that.
 * \param[in] correction  for the part of the run that the region was followed: 1 = none.
 */
void ompp_whatif_interval(const ompp_whatif_clock_t *clock, double correction, ompp_gain_t *gain);

/**
 * \brief Whoever is free, or whose message comes first, takes the next piece of work. The gain is that of the
 *        measured order. The interval reaches to where all that is saved is shared out again.
 * \param[in] share  of the region, of all work.
 */
void ompp_whatif_spread_anew(double share, ompp_gain_t *gain);

/**
 * \brief Locks let threads pass that came later, in step with them. The gain is told as if they no longer did with a
 *        faster region; the interval is made to reach to what it is if they still do.
 * \param[in] passed  part of the run, 0 to 1, that passing takes.
 */
void ompp_whatif_still_passed(double passed, ompp_gain_t *gain);

/**
 * \brief Ranks began and ended the experiments at different moments: the last may be a unit of work further on at the
 *        one than at the other. The interval is made wider by so much.
 */
void ompp_whatif_ends_unsynchronised(const ompp_whatif_clock_t *clock, ompp_gain_t *gain);

/**
 * \brief Where the order of events is not that of the program without delays: what they took in units of work, compared
 *        with units at 0 %, beyond what is known of them.
 * \return ns, may be negative; 0 when there are too few at 0 %.
 */
double ompp_whatif_excess(const ompp_whatif_clock_t *clock, const ompp_whatif_clock_t *control);

/**
 * \brief Gain, interval, low and high by units of work of the experiments against those at 0 %, COZ's formula, when
 *        there are enough of both.
 * \param[in] density  work in the region per ns of the run, by which units are to it what they are to their
 *                     experiments; 0 = not known.
 * \return false when there are not, or they differ too much to say something. With a few of both the gain is by these
 *         all the same, without an interval; otherwise it is as it was.
 */
bool ompp_whatif_by_control(const ompp_whatif_clock_t *clock, const ompp_whatif_clock_t *control, double density,
                            ompp_gain_t *gain);

/**
 * \return whether clocks took so much of the threads' time that the run was another one: threads wait for each other's
 *         clocks, so that the run may take longer by several times as much.
 */
bool ompp_whatif_clocks_disturb(const ompp_profile_t *profile);

#endif
