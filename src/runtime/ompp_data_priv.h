/**
 * \file
 * Between the register of data structures and the search for names. Private to src/runtime.
 */
#ifndef OMPP_DATA_PRIV_H
#define OMPP_DATA_PRIV_H

#include "runtime/ompp_data.h"

/** \brief Whether anybody counts for structures. */
bool ompp_data_has_backend(void);

/** \brief Notes names of OMPP_DATA that were never found, for Coverage. */
void ompp_data_note_missing(void);

#endif
