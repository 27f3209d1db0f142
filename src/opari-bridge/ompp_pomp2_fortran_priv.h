/**
 * \file
 * What ompp_pomp2_fortran_hot.c calls rarely: regions of Fortran code, whose descriptions are not strings.
 */
#ifndef OMPP_POMP2_FORTRAN_PRIV_H
#define OMPP_POMP2_FORTRAN_PRIV_H

#include "opari-bridge/ompp_pomp2_priv.h"

#include <stddef.h>

/**
 * \brief Gives the handle a region, as ompp_pomp2_region_slow() does, so that the text is not needed any more.
 * \param[in] text  length characters, not terminated. Ignored when the handle's region forks: OPARI2 passes none for
 *                  the sections of a parallel sections construct, whose fork came before.
 */
void ompp_pomp2_fortran_region_slow(POMP2_Region_handle *handle, const char *text, size_t length);

/** \brief The same, and then the event. */
void ompp_pomp2_fortran_enter_slow(void (*event)(POMP2_Region_handle *, const char *), POMP2_Region_handle *handle,
                                   const char *text, size_t length);
void ompp_pomp2_fortran_old_enter_slow(void (*event)(POMP2_Region_handle *, POMP2_Task_handle *, const char *),
                                       POMP2_Region_handle *handle, POMP2_Task_handle *old_task, const char *text,
                                       size_t length);

#endif
