/**
 * \file
 * The functions that code compiled with -finstrument-functions calls on entry and exit, as translation into
 * runtime/ompp_event.h. A function is a user region; its name is found after the run. Budget: the event's own, plus a
 * look into a table.
 *
 * The C library has functions of these names, which do nothing: programs that are not linked with libompp call those.
 */
#include "function/ompp_function_priv.h"

#define OMPP_HOOK __attribute__((visibility("default"), no_instrument_function))

static inline ompp_region_ref_t region_of(const void *code)
{
    for (uint32_t i = ompp_function_hash(code), n = 0; n < OMPP_FUNCTION_PROBES; i++, n++) {
        const ompp_function_slot_t *slot = &ompp_functions[i & (OMPP_FUNCTIONS_NUM - 1)];
        const void *found = __atomic_load_n(&slot->code, __ATOMIC_ACQUIRE);
        if (__builtin_expect(found == code, 1)) return slot->ref;
        if (!found) break;
    }
    return ompp_function_meet_slow(code);
}

__attribute__((no_instrument_function)) void ompp_function_enter(void *code, void *site)
{
    ompp_region_ref_t region = region_of(code);

    (void)site;
    if (region) ompp_event_enter_function(region, OMPP_CALLERS_STACK, __builtin_return_address(0), ompp_event_now());
}

__attribute__((no_instrument_function)) void ompp_function_exit(void *code, void *site)
{
    ompp_time_t t = ompp_event_now();
    ompp_region_ref_t region = region_of(code);
    /* Called as a jump, where the function's own frame is gone: what is seen is its caller's, just above. */
    const bool is_jump = __builtin_return_address(0) == site;

    if (region) ompp_event_exit_function(region, (const char *)OMPP_CALLERS_STACK - is_jump, t);
}

OMPP_HOOK void __cyg_profile_func_enter(void *code, void *site) __attribute__((alias("ompp_function_enter")));
OMPP_HOOK void __cyg_profile_func_exit(void *code, void *site) __attribute__((alias("ompp_function_exit")));
