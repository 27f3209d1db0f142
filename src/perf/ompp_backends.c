/*
 * Start of libompp-perf.so: back ends for data structures that need nothing but the kernel's perf events.
 */
#include "perf/ompp_backends_priv.h"

__attribute__((visibility("default"))) void ompp_perf_start(void);

void ompp_perf_start(void)
{
    static const ompp_data_backend_t *const all[] = {&ompp_backend_samples, &ompp_backend_breakpoints,
                                                     &ompp_backend_page_faults};

    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        if (ompp_data_wants(all[i]->name)) ompp_data_offer(all[i]);
}
