#include "runtime/ompp_sync.h"

#include "base/ompp_env.h"

#include <string.h>

const ompp_sync_subscriber_t *ompp_sync_subscriber;
uint64_t ompp_sync_suspension_number;

bool ompp_sync_wanted(void)
{
    ompp_env_read();
    return strcmp(ompp_env.causal, "off") != 0 || strcmp(ompp_env.efficiency, "full") == 0;
}

/* Nanoseconds from the reference's time 0 to this process's, by the counter that both read: t + that is common time. */
bool ompp_sync_clock_on_node(const ompp_clock_t *reference, ompp_sync_clock_t *clock)
{
    if (reference->use_tsc != ompp_clock.use_tsc) return false;
    *clock = (ompp_sync_clock_t){0};
    if (ompp_clock.use_tsc) {
        const int64_t ticks = (int64_t)(ompp_clock.origin_ticks - reference->origin_ticks);
        clock->offset_ns = (int64_t)(((__int128)ticks * (int64_t)reference->scale) >> 32);
        clock->drift = (double)((int64_t)reference->scale - (int64_t)ompp_clock.scale) / (double)ompp_clock.scale;
    } else {
        clock->offset_ns = (int64_t)(ompp_clock.origin_ns - reference->origin_ns);
    }
    return true;
}
