/*
 * What is kept of a thread between events, and what is rarely needed of it.
 */
#include "ompt/ompp_ompt_self.h"

#include "model/ompp_whatif_profile.h"
#include "ompt/ompp_ompt_code.h"

__thread ompp_ompt_self_t ompp_ompt_self;

bool ompp_ompt_has_untied;

ompp_region_ref_t ompp_ompt_region_at_slow(ompp_construct_t construct, const void *code)
{
    return ompp_region_at(construct, ompp_code_of(construct, code), NULL);
}

void ompp_ompt_flush_failed_lock_slow(void)
{
    const ompp_time_t t = ompp_ompt_self.lock_since ? ompp_ompt_self.lock_since : ompp_event_now();

    ompp_event_enter(ompp_ompt_self.lock, t);
    ompp_event_exit(ompp_ompt_self.lock, t);
    ompp_sync_flag(OMPP_WHATIF_F_POLLING, true);
    ompp_ompt_self.lock = 0;
}
