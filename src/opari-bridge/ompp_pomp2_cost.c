/*
 * What locks and critical sections cost in instrumented programs.
 */
#define _GNU_SOURCE
#include "opari-bridge/ompp_pomp2_priv.h"

#include "base/ompp_dl.h"

#include <dlfcn.h>

/* Programs without an OpenMP library have no locks. */
__attribute__((constructor)) static void at_load(void)
{
    static const ompp_calibrated_t calibrated = {ompp_pomp2_calibrated_critical, ompp_pomp2_calibrated_lock};

    if (ompp_dl_symbol(RTLD_DEFAULT, "ompp_opari_linked") && ompp_dl_symbol(RTLD_DEFAULT, "omp_get_max_threads"))
        ompp_event_calibrate_by(&calibrated);
}
