/**
 * \file
 * What the program would gain if a region were faster: from the observations of virtual clocks or experiments
 * (model/ompp_whatif.h) to gains with intervals, their shape over the speed-up, and the order in which regions are
 * worth the work.
 *
 * Gain: part of the program's run time that is saved, (O - B) / (T - B): 0.05 = 5 %. May be negative.
 */
#ifndef OMPP_ANALYSIS_WHATIF_H
#define OMPP_ANALYSIS_WHATIF_H

#include "model/ompp_profile.h"

/** What is known of an interval. */
typedef enum {
    OMPP_INTERVAL_KNOWN = 1,
    OMPP_INTERVAL_FEW,           /* not determined: fewer than OMPP_WHATIF_ENOUGH blocks */
    OMPP_INTERVAL_WIDE,          /* not determined: blocks differ so much that it would say nothing */
    OMPP_INTERVAL_UNSYNCHRONISED /* not determined: ranks end experiments so far apart that it would say nothing */
} ompp_interval_t;

typedef struct {
    uint32_t permille; /* speed-up of the region; 0 = not observed, all else is 0 */
    ompp_interval_t interval;
    double correction;      /* that the gain is multiplied with, already: for the part of the run that was seen */
    double gain, low, high; /* low, high: 95 % interval, bootstrap over blocks; when it is known */
    bool by_control;        /* against units of work in experiments at 0 %, not their own without the delays */
    /* with delays: of fewer than OMPP_WHATIF_ENOUGH experiments, or these differ so much that it may be chance */
    bool chance;
    uint64_t observations;
} ompp_gain_t;

#define OMPP_WHATIF_ENOUGH 4u /* blocks for an interval */

/** What stands out when a region's share of the time and the program's gain are compared. */
typedef enum {
    OMPP_WHATIF_AGREES,
    OMPP_WHATIF_BUSY_FOR_NOTHING,  /* takes much time, and the program would gain hardly anything */
    OMPP_WHATIF_SMALL_BUT_CRITICAL /* the program would gain much more than the region's share */
} ompp_whatif_verdict_t;

typedef struct {
    uint32_t region;   /* index; OMPP_NONE: what is outside of all regions */
    uint32_t flags;    /* OMPP_WHATIF_F_* */
    double share;      /* part of the time in which threads worked that was spent in it and below it */
    double of_threads; /* the same time, as part of the time that threads were there: to be compared with gains */
    double followed;   /* part of the run */
    /* part of its work that is in no other region listed: little in one that only holds others together */
    double own;
    /* COZ's equation 8, of MPI calls by their number, and to the run without what measuring took with virtual clocks:
     * gains were multiplied with it, if not compared with the control */
    double correction;
    double slope; /* gain of the program per gain of the region, least squares through the origin */
    /* permille: the program gains (almost) nothing more above it; 0 = it does up to the end, or gains nothing */
    uint32_t knee;
    bool contention; /* the program would become slower, and that is no chance */
    uint32_t inside; /* region that contains this one on all call paths, the innermost listed; OMPP_NONE */
    ompp_whatif_verdict_t verdict;
    ompp_gain_t gains[OMPP_WHATIF_SPEEDUPS];
} ompp_whatif_result_t;

/** A region is worth looking at by itself when so much of its work is its own; below it, it is the sum of others. */
#define OMPP_WHATIF_OWN 0.25

/**
 * \brief Results of all regions that were followed, by what the program gains: of half their time first, then of all of
 *        it. Those that are little more than others together (OMPP_WHATIF_OWN) come after the rest. None when the
 *        profile says why there is none.
 * \param[out] results  owned by the caller, free(); shape [*n]; NULL and 0 when there is none.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_whatif(const ompp_profile_t *profile, ompp_whatif_result_t **results, size_t *n);

/**
 * \brief The gain that regions are ordered by: of half their time, or of the next speed-up that was observed, and that
 *        is no chance if there is one. Never NULL.
 */
const ompp_gain_t *ompp_whatif_main(const ompp_whatif_result_t *result);

/** \brief The largest speed-up that was observed. Never NULL. */
const ompp_gain_t *ompp_whatif_most(const ompp_whatif_result_t *result);

/** The work of the whole program, and what of it is in none of the results. */
typedef struct {
    /* part of the time of all threads; the rest is waiting and the runtime's management. 0 = not known */
    double of_threads;
    double outside;  /* part of the work: outside of all regions, when that was not followed */
    double left_out; /* part of the work: in regions that were not followed, and in none that was */
} ompp_whatif_work_t;

/** \return what is known of it; all 0 without causal profiling. */
ompp_whatif_work_t ompp_whatif_work(const ompp_profile_t *profile);

/** A region that nothing is known of. */
typedef struct {
    uint32_t region;
    double share; /* of all work, in no region that is known; 0 = it cannot be told */
} ompp_whatif_untried_t;

/**
 * \brief Regions that had no clock, or no experiment, those with most of the work first; where threads of the program's
 *        own may wait unseen, those that could have been tried, by number.
 * \param[out] untried  [n]. \param[out] count that there are, also beyond n: those with a part of the work worth a
 *                      word.
 * \return how many are in untried; 0 also when there is no memory.
 */
size_t ompp_whatif_untried(const ompp_profile_t *profile, ompp_whatif_untried_t *untried, size_t n, size_t *count);

#define OMPP_WHATIF_HIDDEN 0.05 /* of the work: a region without a clock of its own is worth a word */

/**
 * \brief Regions without a clock of their own that lie in one that had some, those with most of the work first.
 * \param[in] results, nresults  of ompp_analysis_whatif(). \param[out] hidden  [n]. \param[out] count  also beyond n.
 * \return how many are in hidden; 0 also when there is no memory.
 */
size_t ompp_whatif_hidden(const ompp_profile_t *profile, const ompp_whatif_result_t *results, size_t nresults,
                          ompp_whatif_untried_t *hidden, size_t n, size_t *count);

/**
 * \brief Functions whose calls take no longer than measuring them, as far as clocks know what that costs.
 * \param[out] regions  [n]. \param[out] share  of the threads' time, that measuring them took at least.
 * \return how many are in regions.
 */
size_t ompp_whatif_probes(const ompp_profile_t *profile, uint32_t *regions, size_t n, double *share);

/** \return whether clocks took more of the threads' time than they may (OMPP_CAUSAL_BUDGET); both in percent. */
bool ompp_whatif_over_budget(const ompp_profile_t *profile, double *percent, double *budget);

/**
 * \brief The throughput point that blocks and experiments end at.
 * \return index; OMPP_NONE when there is none, or it is not known.
 */
uint32_t ompp_whatif_leader(const ompp_whatif_t *whatif);

/** What the units of a latency point would gain if a region were faster: of the time from begin to end. */
typedef struct {
    uint32_t region, point;                  /* indices; region OMPP_NONE: what is outside of all regions */
    ompp_gain_t gains[OMPP_WHATIF_SPEEDUPS]; /* no intervals */
    /* false: no unit has begun and ended while the region was followed, or within an experiment with it; no gains */
    bool known;
} ompp_whatif_unit_t;

/**
 * \brief Gains of the units of all latency points that tell of each begin and end; by point, largest gain first.
 * \param[out] units  owned by the caller, free(); shape [*n].
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_units(const ompp_profile_t *profile, ompp_whatif_unit_t **units, size_t *n);

/**
 * Experiments are compared with their own time without the delays. Whether that is the program's time is seen from some
 * that make nothing faster: a unit of work has to take as long in them. Where delays change the order of events it is
 * not, and units at 0 % are what the others are compared with (by_control); those are not judged here.
 */
typedef struct {
    uint64_t experiments; /* that make nothing faster */
    bool units;           /* progress points were visited in them */
    bool compared;        /* gains of a region that delays make another order for may be by_control */
    bool others;          /* there are experiments that are judged by them */
    ompp_interval_t interval;
    double inflation; /* by what part a unit takes longer in the others, delays subtracted; FEW: not known */
    double low, high; /* 95 % interval */
    bool disturbed;   /* that is no chance: delays do more to the program than to make it wait */
} ompp_whatif_control_t;

/**
 * \return what the run would have taken without delays, ns; where these have made another order of events, by units of
 *         work in experiments at 0 %.
 */
double ompp_whatif_time_alone(const ompp_profile_t *profile);

/**
 * \return part of the run, 0 to 1, that it is longer because locks let threads pass that are in step with them; with
 *         virtual clocks.
 */
double ompp_whatif_passed(const ompp_whatif_t *whatif);

/** \return false when there were none. */
bool ompp_whatif_control(const ompp_whatif_t *whatif, ompp_whatif_control_t *control);

/**
 * \brief Mean time between begin and end of a latency point, ns, by Little's law: L / lambda.
 * \return false when there was no end.
 */
bool ompp_whatif_latency(const ompp_whatif_point_t *point, double *ns);

/**
 * \brief Why there is nothing to tell, in words, for runs of which causal profiling was wanted.
 * \return NULL when there are results.
 */
const char *ompp_whatif_why(const ompp_profile_t *profile);

/**
 * \brief What is said beside the report: why there is no result, with a name for OMPP_CAUSAL_REGION that would do, or
 *        which setting has no effect. One line.
 * \param[out] text  "" when there is nothing to say.
 */
void ompp_whatif_notice(const ompp_profile_t *profile, char *text, size_t size);

/**
 * \brief The region that OMPP_CAUSAL_REGION names, as the user wrote it.
 * \return NULL when all regions have their turn.
 */
const char *ompp_whatif_chosen(const ompp_profile_t *profile);

/**
 * \brief The region that OMPP_CAUSAL_REGION means, where it is no name of any: by its number in reports, a line in it,
 *        or the letters.
 * \param[out] text  how it is to be written in a shell. \param[out] region  index; OMPP_NONE = what is outside of all.
 * \return false when none comes near.
 */
bool ompp_whatif_meant(const ompp_profile_t *profile, char *text, size_t size, uint32_t *region);

/** What OMPP_CAUSAL_REGION takes. */
#define OMPP_WHATIF_REGION_FORMS                                                                                   \
    "the name of a user region or MPI function, file:line of a begin as OPARI2 knows it, module+0xaddress (XML), " \
    "or '" OMPP_WHATIF_OUTSIDE "'"

/**
 * \brief Settings that have no effect, since they are for another mode.
 * \param[in,out] next  0 at the begin. \param[out] mode  that it is for, as OMPP_CAUSAL has it.
 * \return name; NULL = no further one.
 */
const char *ompp_whatif_unused(const ompp_profile_t *profile, size_t *next, const char **mode);

/**
 * \brief Why no gain has an interval, in words.
 * \param[in] results, n  of ompp_analysis_whatif().
 * \return NULL when one has, or when there are no gains.
 */
const char *ompp_whatif_no_interval(const ompp_profile_t *profile, const ompp_whatif_result_t *results, size_t n);

#endif
