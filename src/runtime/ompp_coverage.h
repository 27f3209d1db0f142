/**
 * \file
 * Notes for the Coverage section, for who starts measurement. Notes are made by ompp_event_coverage().
 */
#ifndef OMPP_COVERAGE_H
#define OMPP_COVERAGE_H

/** \brief Measurement has started: what was said before it (notes, who measures OpenMP) goes to the arena. Once. */
void ompp_coverage_start(void);

#endif
