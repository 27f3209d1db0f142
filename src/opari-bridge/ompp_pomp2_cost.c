/*
 * What locks and critical sections cost in instrumented programs.
 */
#define _GNU_SOURCE
#include "opari-bridge/ompp_pomp2_priv.h"

#include "base/ompp_dl.h"

/*
 * With the first region, not at load: a symbol that libompp finds in a plug-in then would keep the plug-in for ever.
 * Programs without an OpenMP library have no locks.
 */
void ompp_pomp2_calibrate(void)
{
    static const ompp_calibrated_t calibrated = {ompp_pomp2_calibrated_critical, ompp_pomp2_calibrated_lock};
    static bool told;

    if (__atomic_exchange_n(&told, true, __ATOMIC_RELAXED)) return;
    if (ompp_dl_symbol(RTLD_DEFAULT, "omp_get_max_threads")) ompp_event_calibrate_by(&calibrated);
}
