/*
 * What locks and critical sections cost in instrumented programs.
 */
#define _GNU_SOURCE
#include "opari-bridge/ompp_pomp2_priv.h"

#include "base/ompp_dl.h"

/*
 * Of the program and what it was loaded with: a symbol that libompp finds in a plug-in would keep that for ever.
 * Programs without an OpenMP library have no locks.
 */
__attribute__((constructor)) static void at_load(void)
{
    static const ompp_calibrated_t calibrated = {ompp_pomp2_calibrated_critical, ompp_pomp2_calibrated_lock};
    void *program = ompp_dl_open(NULL, RTLD_LAZY | RTLD_NOLOAD);

    if (program && ompp_dl_symbol(program, "ompp_opari_linked") && ompp_dl_symbol(program, "omp_get_max_threads"))
        ompp_event_calibrate_by(&calibrated);
}
