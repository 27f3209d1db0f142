/*
 * OMPT's events of mutexes: critical, ordered, atomic, and locks. What the translation rests on: ompp_ompt.c.
 */
#include "ompt/ompp_ompt_events.h"

#include "model/ompp_whatif_profile.h"
#include "ompt/ompp_ompt_code.h"
#include "ompt/ompp_ompt_self.h"

static ompp_construct_t mutex_construct(ompt_mutex_t kind)
{
    switch (kind) {
    case ompt_mutex_critical: return OMPP_CONSTRUCT_CRITICAL;
    case ompt_mutex_ordered: return OMPP_CONSTRUCT_ORDERED;
    case ompt_mutex_atomic: return OMPP_CONSTRUCT_ATOMIC;
    default: return OMPP_CONSTRUCT_LOCK;
    }
}

static ompp_sync_object_t mutex_kind(ompt_mutex_t kind)
{
    return kind == ompt_mutex_ordered ? OMPP_SYNC_ORDERED : OMPP_SYNC_MUTEX;
}

/* It comes back with the lock, or not at all; a nest lock that the thread has already is not waited for, and one that
 * is tested neither. */
static bool waits_for_lock(ompt_mutex_t kind) { return kind == ompt_mutex_lock; }

void ompp_ompt_on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void *code)
{
    ompp_construct_t construct = mutex_construct(kind);

    (void)hint, (void)impl;
    ompp_ompt_flush_failed_lock();
    if (construct == OMPP_CONSTRUCT_LOCK) {
        ompp_ompt_self.lock = ompp_region_lock((const void *)(uintptr_t)wait);
        ompp_ompt_self.lock_since = ompp_event_is_counted(ompp_ompt_self.lock) ? 0 : ompp_event_now();
        /* Told here, not when it is over: with delays a thread waits for its turn before it has the lock, not while
         * others wait for it. */
        if (waits_for_lock(kind)) ompp_sync_wait(OMPP_SYNC_MUTEX, wait, ompp_ompt_self.lock_since);
    } else {
        ompp_ompt_self.mutex = ompp_ompt_region_at(construct, code);
        ompp_event_enter_brief(ompp_ompt_self.mutex);
        if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_sync_wait(mutex_kind(kind), wait, ompp_event_now());
    }
}

void ompp_ompt_on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code)
{
    ompp_construct_t construct = mutex_construct(kind);

    (void)code;
    if (construct == OMPP_CONSTRUCT_LOCK && !waits_for_lock(kind)) {
        ompp_sync_wait(OMPP_SYNC_MUTEX, wait, ompp_ompt_self.lock_since);
        ompp_sync_flag(OMPP_WHATIF_F_POLLING, false);
    }
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) /* may delay it */
        ompp_sync_resume(mutex_kind(kind), wait, ompp_event_now());
    if (construct != OMPP_CONSTRUCT_LOCK) {
        ompp_event_phase_brief(ompp_ompt_self.mutex, OMPP_PHASE_BODY);
        ompp_ompt_self.mutex = 0;
    } else if (ompp_ompt_self.lock) {
        if (ompp_ompt_self.lock_since) ompp_event_enter(ompp_ompt_self.lock, ompp_ompt_self.lock_since);
        else ompp_event_enter_brief(ompp_ompt_self.lock);
        ompp_event_phase_brief(ompp_ompt_self.lock, OMPP_PHASE_BODY);
        ompp_ompt_self.lock = 0;
    }
}

/* A nest lock that the thread holds already: its acquire event was no acquisition, and no failed one either. */
void ompp_ompt_on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait, const void *code)
{
    (void)wait, (void)code;
    if (endpoint == ompt_scope_begin) ompp_ompt_self.lock = 0;
}

void ompp_ompt_on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code)
{
    ompp_construct_t construct = mutex_construct(kind);
    ompp_region_ref_t region;

    ompp_ompt_flush_failed_lock();
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_sync_publish(mutex_kind(kind), wait, ompp_event_now());
    if (construct == OMPP_CONSTRUCT_LOCK) {
        region = ompp_region_lock((const void *)(uintptr_t)wait);
    } else {
        region = ompp_event_innermost(construct);
        if (!ompp_region_has_end(region)) {
            ompp_region_locked_by(region, (const void *)(uintptr_t)wait);
            ompp_region_ends_at(region, ompp_code_by_stack(code));
        }
    }
    ompp_event_released_brief(region);
}
