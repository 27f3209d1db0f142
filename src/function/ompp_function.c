/*
 * What happens when an instrumented function is met first: it becomes a region, unless the user has left it out.
 */
#include "function/ompp_function.h"
#include "function/ompp_function_priv.h"

#include "base/ompp_caller.h"
#include "model/ompp_profile.h"

#include <errno.h>

ompp_function_slot_t ompp_functions[OMPP_FUNCTIONS_NUM];

/* A slot has been taken. */
static bool is_any_known;

/* This thread is inside ompp_function_meet_slow(): what that calls may be instrumented. */
static __thread bool meeting __attribute__((tls_model("initial-exec")));

/* The entry's address counts as return address, which belongs to the instruction before it. */
static ompp_region_ref_t define(const void *code)
{
    const ompp_region_def_t def = {
        .construct = OMPP_CONSTRUCT_USER_REGION, .code = (const char *)code + 1, .flags = OMPP_REGION_F_FUNCTION};

    return ompp_region_define(&def);
}

/* Takes a slot; when there is none near its place, the function is asked for again and again, at the price of a
 * lock. */
static void remember(const void *code, ompp_region_ref_t ref)
{
    for (uint32_t i = ompp_function_hash(code), n = 0; n < OMPP_FUNCTION_PROBES; i++, n++) {
        ompp_function_slot_t *slot = &ompp_functions[i & (OMPP_FUNCTIONS_NUM - 1)];
        const void *found = NULL;
        /* A reader that sees the marker goes on; one that sees the code sees the region, too. */
        if (__atomic_compare_exchange_n(&slot->code, &found, OMPP_FUNCTION_GONE, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            slot->ref = ref;
            __atomic_store_n(&is_any_known, true, __ATOMIC_RELAXED);
            __atomic_store_n(&slot->code, code, __ATOMIC_RELEASE);
            return;
        }
        if (found == code) return;
    }
}

static ompp_region_ref_t meet(const void *code)
{
    ompp_region_ref_t ref = 0;
    bool wanted;

    wanted = ompp_region_wanted(OMPP_CONSTRUCT_USER_REGION) && ompp_function_selected(code);
    if (wanted) ref = define(code);
    /* A region refused now (the profile is full, or a signal came in the middle of an event) may be had later. */
    if (ref || !wanted) remember(code, ref);
    return ref;
}

ompp_region_ref_t ompp_function_meet_slow(const void *code)
{
    ompp_region_ref_t ref;
    int saved = errno;

    if (meeting || !ompp_runtime_start()) return 0;
    const uint64_t held = ompp_signals_hold(); /* a handler that jumps would leave it so */
    meeting = true;
    ref = meet(code);
    meeting = false;
    errno = saved;
    ompp_signals_release(held);
    return ref;
}

void ompp_function_unloaded(uintptr_t low, uintptr_t high)
{
    if (!__atomic_load_n(&is_any_known, __ATOMIC_RELAXED)) return; /* the table's pages stay untouched */
    for (uint32_t i = 0; i < OMPP_FUNCTIONS_NUM; i++) {
        const void *code = __atomic_load_n(&ompp_functions[i].code, __ATOMIC_ACQUIRE);
        if ((uintptr_t)code >= low && (uintptr_t)code < high)
            __atomic_store_n(&ompp_functions[i].code, OMPP_FUNCTION_GONE, __ATOMIC_RELEASE);
    }
}
