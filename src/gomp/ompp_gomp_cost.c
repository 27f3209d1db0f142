/*
 * What locks and critical sections cost where these functions stand in front of libgomp's.
 */
#include "gomp/ompp_gomp_priv.h"

__attribute__((constructor)) static void at_load(void)
{
    static const ompp_calibrated_t calibrated = {ompp_gomp_calibrated_critical, ompp_gomp_calibrated_lock};

    if (ompp_gomp_on()) ompp_event_calibrate_by(&calibrated);
}
