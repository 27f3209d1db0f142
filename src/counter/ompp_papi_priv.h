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
    unsigned n;
    const char *names[OMPP_ENV_LIST_MAX]; /* not codes: PAPI changes those of native events when events are enumerated */
    unsigned column[OMPP_ENV_LIST_MAX]; /* of the value, in the order of the variables */
} ompp_papi_part_t;

/** \brief An event set with the part's events, assigned to its component, not started. \return PAPI_OK; else *set is PAPI_NULL. */
int ompp_papi_set_new(const ompp_papi_part_t *part, int *set);

/** \brief Frees a set that does not run; *set becomes PAPI_NULL. */
void ompp_papi_set_drop(int *set);

/** \return true when the event alone can be added and started. */
bool ompp_papi_works(const char *name);

/**
 * \brief Says why, and what could be counted instead.
 * \param[in] error      of PAPI.  \param[in] beside  other events of the same component are counted already.
 * \param[out] reason    one line, shape [n].
 */
void ompp_papi_why(const char *name, int error, bool beside, char *reason, size_t n);

/* ---- Data address ranges: ompp_papi_range.c ------------------------------------------------------------------------- */

/**
 * \brief Offers the back end "papi", and tries whether the processor counts for ranges of addresses: PAPI's word is not taken for it,
 *        a loop of known loads must give the right counts.
 * \param[in]  parts       shape [nparts].
 * \param[out] restricted  by column: counts for the range alone when one is set; shape [columns].
 * \return true when at least one column does.
 */
bool ompp_papi_range_start(const ompp_papi_part_t *parts, unsigned nparts, bool restricted[]);

/** \brief Whether sets of this component are restricted, when there is a range. */
bool ompp_papi_range_of(int component);

/** \brief Changes whenever the range does. */
unsigned ompp_papi_range_generation(void);

/** \brief Restricts a set to the range there is. \return the structure, 0 = no range, or it was refused: then all data is counted. */
uint32_t ompp_papi_range_apply(int set);

#endif
