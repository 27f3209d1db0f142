/**
 * \file
 * Functions that compilers instrument: what others tell them.
 */
#ifndef OMPP_FUNCTION_H
#define OMPP_FUNCTION_H

#include <stdint.h>

/** \brief A library is gone: functions at its addresses [low, high) are not known any more. */
void ompp_function_unloaded(uintptr_t low, uintptr_t high);

#endif
