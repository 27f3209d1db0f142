/**
 * \file
 * Event sets, data address ranges, and why an event is not counted, in words. Private to src/counter.
 */
#ifndef OMPP_PAPI_PRIV_H
#define OMPP_PAPI_PRIV_H

#include "base/ompp_env.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The events of one component, which can be counted together. */
typedef struct {
    int component;
    bool turns; /* they take turns: PAPI multiplexes */
    unsigned n;
    const char **names; /* [n] not codes: PAPI changes those of native events when events are enumerated */
    unsigned *column;   /* [n] of the value, in the order of the variables */
} ompp_papi_part_t;

/**
 * \brief An event set with the part's events, assigned to its component, not started.
 * \return PAPI_OK; else *set is PAPI_NULL.
 */
int ompp_papi_set_new(const ompp_papi_part_t *part, int *set);

/** \brief Frees a set that does not run; *set becomes PAPI_NULL. */
void ompp_papi_set_drop(int *set);

/** \brief Adds the events and starts them, for a moment. \return PAPI_OK, or why not. */
int ompp_papi_try(const ompp_papi_part_t *part);

/** \return true when the event alone can be added and started. */
bool ompp_papi_works(const char *name);

/** \return whether the system has a performance monitoring unit. */
bool ompp_papi_has_pmu(void);

/**
 * \brief Says why, and what could be counted instead.
 * \param[in] error      of PAPI.  \param[in] beside  other events of the same component are counted already.
 * \param[out] reason    one line, shape [n].
 */
void ompp_papi_why(const char *name, int error, bool beside, char *reason, size_t n);

/* ---- Counters that take turns: ompp_papi_turns.c ----------------------------------------------------------------- */

/** What the turns of one counter come to. */
typedef struct {
    uint64_t wanted_ns, counted_ns; /* it was to be counted, and was */
    uint64_t error;                 /* standard error of its value, in its unit */
} ompp_papi_share_t;

/** The turns of an event set's counters on a thread. */
typedef struct ompp_papi_turns ompp_papi_turns_t;

/**
 * \brief Around the start of an event set on this thread: before it, and after it has counted since a moment.
 *
 * PAPI does not tell how long an event was counted; the kernel does, in the files of perf events that PAPI has opened
 * for the set. In between no other thread may open files of them: a lock is held.
 */
void ompp_papi_turns_before(void);

/**
 * \param[in] n  events of the set.
 * \return owned, ompp_papi_turns_free(); NULL when the set's turns cannot be known.
 */
ompp_papi_turns_t *ompp_papi_turns_after(unsigned n);

/** \brief One more piece of time, if enough of it has passed since the last one. No lock, no allocation. */
void ompp_papi_turns_see(ompp_papi_turns_t *turns);

/**
 * \brief What they come to until now.
 * \param[in] value  of event i, as PAPI tells it.
 */
ompp_papi_share_t ompp_papi_turns_share(const ompp_papi_turns_t *turns, unsigned i, uint64_t value);

void ompp_papi_turns_free(ompp_papi_turns_t *turns);

/* ---- Data address ranges: ompp_papi_range.c ---------------------------------------------------------------------- */

/**
 * \brief Offers the back end "papi", and tries whether the processor counts for ranges of addresses: PAPI's word is not
 *        taken for it, a loop of known loads must give the right counts.
 * \param[in]  parts       shape [nparts].
 * \param[out] restricted  by column: counts for the range alone when one is set; shape [columns].
 * \return true when at least one column does.
 */
bool ompp_papi_range_start(const ompp_papi_part_t *parts, unsigned nparts, bool restricted[]);

/** \brief Whether sets of this component are restricted, when there is a range. */
bool ompp_papi_range_of(int component);

/** \brief Changes whenever the range does. */
unsigned ompp_papi_range_generation(void);

/**
 * \brief Restricts a set to the range there is.
 * \return the structure, 0 = no range, or it was refused: then all data is counted.
 */
uint32_t ompp_papi_range_apply(int set);

#endif
