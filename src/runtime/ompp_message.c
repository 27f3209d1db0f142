#include "runtime/ompp_message.h"

#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_state.h"

ompp_a_message_t *ompp_message_new(uint32_t to)
{
    ompp_a_message_t *record = NULL;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return NULL;
    const ompp_locked_t locked = ompp_lock();
    const ompp_off_t off = ompp_arena_take(&ompp_process.arena, sizeof *record);
    if (off) {
        record = (ompp_a_message_t *)(ompp_process.arena.base + off);
        record->to = to;
        record->next = atomic_load_explicit(&ompp_process.header->messages, memory_order_relaxed);
        atomic_store_explicit(&ompp_process.header->messages, off, memory_order_release);
    }
    ompp_unlock(locked);
    if (!record)
        ompp_event_coverage(OMPP_COVERAGE_DROPPED, "the message matrix", "memory for the profile is full: OMPP_MEMORY");
    return record;
}
