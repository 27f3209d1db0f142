/**
 * \file
 * The back ends of libompp-perf.so. Private to src/perf.
 */
#ifndef OMPP_BACKENDS_PRIV_H
#define OMPP_BACKENDS_PRIV_H

#include "data/ompp_data.h"
#include "runtime/ompp_component.h"

extern const ompp_component_t ompp_backend_samples, ompp_backend_breakpoints, ompp_backend_page_faults;

#endif
