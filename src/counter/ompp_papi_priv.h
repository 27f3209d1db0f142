/**
 * \file
 * Why an event is not counted, in words. Private to src/counter.
 */
#ifndef OMPP_PAPI_PRIV_H
#define OMPP_PAPI_PRIV_H

#include <stdbool.h>
#include <stddef.h>

/** \return true when the event alone can be added and started. */
bool ompp_papi_works(const char *name);

/**
 * \brief Says why, and what could be counted instead.
 * \param[in] error      of PAPI.  \param[in] beside  other events of the same component are counted already.
 * \param[out] reason    one line, shape [n].
 */
void ompp_papi_why(const char *name, int error, bool beside, char *reason, size_t n);

#endif
