/** \file The component of null_component.c, for a program that is measured. */
#ifndef NULL_COMPONENT_H
#define NULL_COMPONENT_H

#include "runtime/ompp_component.h"

extern const ompp_component_t null_component;

void null_tick(int n);

#endif
