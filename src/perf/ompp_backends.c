/*
 * What libompp-perf.so has: back ends for data structures that need nothing but the kernel's perf events.
 */
#include "perf/ompp_backends_priv.h"
#include "process/ompp_plugin.h"

const ompp_component_t *const ompp_components[] = {&ompp_backend_samples, &ompp_backend_breakpoints,
                                                   &ompp_backend_page_faults, NULL};
