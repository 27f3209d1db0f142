/**
 * \file
 * Notes for the Coverage section, for who starts measurement. Notes are made by ompp_event_coverage().
 */
#ifndef OMPP_COVERAGE_H
#define OMPP_COVERAGE_H

/** \brief Measurement has started: what was said before it (notes, who measures OpenMP) goes to the arena. Once. */
void ompp_coverage_start(void);

/** \return what measures OpenMP, as ompp_event_claim_openmp() was told; "" = nothing yet. */
const char *ompp_coverage_source(void);

/** \return who has OpenMP's events, as ompp_event_openmp_left_to() was told; "" = nobody. */
const char *ompp_coverage_left_to(void);

#endif
