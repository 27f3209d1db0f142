/*
 * Ranks that hand out work to whoever is free (ompp_farm.h), and those that do it. A thread that sends and then receives from any source
 * notes both. When all ranks meet, and it can say what its clocks are if order is decided on each of them, the stamp that it has for the
 * others says so. Then all exchange stamps once more: its own are those, and its workers, whose clocks keep the measured order, have none,
 * but for the time; they go on with what comes. Those that have done something else after what they had to do add that to what came, as if
 * they had been as much ahead of their manager as they really were, and all exchange stamps a third time.
 *
 * A worker is a rank that has had to do with nobody else since ranks met last, and was sent nothing while it was at work.
 */
#include "causal/ompp_causal_priv.h"
#include "causal/ompp_farm.h"

#include "runtime/ompp_whatif_record.h"

#define AT_WORK_NS 50000u /* that a worker may have done since its last message, ... */
#define AT_WORK_PART 100u /* and one part in so many of the time */

static struct {
    _Atomic(ompp_causal_thread_t *) manager; /* the thread that notes; NULL = none since ranks met last */
    _Atomic bool shared; /* another thread has had messages, too */
    bool idle;  /* nothing came of it last time, and nothing was received from any source since */
    bool ready; /* end is what is to be told */
    ompp_stamp_t end;
    ompp_farm_t farm;
} manager;

static uint64_t own_number(void)
{
    return (uint64_t)(ompp_whatif_rank() + 1);
}

static bool is_manager(const ompp_causal_thread_t *self)
{
    return atomic_load_explicit(&manager.manager, memory_order_relaxed) == self;
}

/* The thread notes what it does, from now on if nobody does. self->own is its stamp. */
static bool may_note(ompp_causal_thread_t *self)
{
    ompp_causal_thread_t *nobody = NULL;

    if (is_manager(self)) return manager.farm.begun && !manager.farm.spoiled;
    if (atomic_load_explicit(&manager.manager, memory_order_relaxed)) {
        atomic_store_explicit(&manager.shared, true, memory_order_relaxed);
        return false;
    }
    if (manager.idle || !atomic_compare_exchange_strong(&manager.manager, &nobody, self)) return false;
    atomic_store_explicit(&manager.shared, false, memory_order_relaxed);
    ompp_farm_begin(&manager.farm, &self->own);
    return true;
}

void ompp_causal_gave(unsigned to)
{
    ompp_causal_thread_t *self = ompp_causal_enter();

    if (!self) return;
    if (ompp_causal_rests(self) || ompp_causal.rule.delays) {
        if (is_manager(self)) manager.farm.spoiled = true;
        self->serves.refuses = true;
    } else {
        if (self->serves.peer && self->serves.peer != to + 1) self->serves.refuses = true;
        self->serves.gave = self->own.t;
        self->serves.since = (ompp_time_t)(self->own.t / OMPP_FINE);
        if (self->serves.managed) ompp_stamp_copy(&self->served, &self->own);
        if (may_note(self)) ompp_farm_give(&manager.farm, to, &self->own);
    }
    ompp_causal_leave(self);
}

void ompp_causal_farm_wait(ompp_causal_thread_t *self, uint64_t from, bool manages, const ompp_sync_wait_t *wait)
{
    const bool any = wait->flags & OMPP_WHATIF_F_WILDCARD, one = from > 0 && from <= OMPP_FARM_RANKS;

    if (ompp_causal.rule.delays || wait->kind == OMPP_SYNC_ALL) return;
    if (any) manager.idle = false;
    if (wait->kind != OMPP_SYNC_MESSAGE || !one) {
        self->serves.refuses = true;
        if (is_manager(self)) manager.farm.spoiled = true;
        return;
    }
    if (!self->serves.peer) self->serves.begin = wait->begin;
    if (any || (self->serves.peer && self->serves.peer != from) || self->other.t < self->serves.gave) self->serves.refuses = true;
    self->serves.peer = from;
    self->serves.since = wait->end;
    self->serves.managed = manages && !self->serves.refuses;
    if (!is_manager(self) || !may_note(self)) return;
    ompp_clocks_stamp(&ompp_causal.rule, &self->clocks, &self->own, wait->begin);
    ompp_farm_take(&manager.farm, (unsigned)from - 1, any, &self->own, &self->other);
}

void ompp_causal_farm_go_on(ompp_causal_thread_t *self, const ompp_sync_wait_t *wait)
{
    if (wait->kind == OMPP_SYNC_ALL) {
        self->serves = (ompp_causal_serves_t){0}; /* it yields no longer */
        if (is_manager(self)) {
            manager.idle = manager.farm.results == 0;
            ompp_farm_reset(&manager.farm);
            atomic_store(&manager.manager, NULL);
        }
        return;
    }
    const bool notes = is_manager(self) && may_note(self), managed = self->serves.managed && self->serves.since == wait->end;
    if (!notes && !managed) return;
    ompp_clocks_stamp(&ompp_causal.rule, &self->clocks, &self->own, wait->end);
    if (notes) ompp_farm_go_on(&manager.farm, &self->own);
    if (managed) ompp_stamp_copy(&self->served, &self->own);
}

/* ---- Meetings --------------------------------------------------------------------------------------------------------- */

uint64_t ompp_causal_farm_close(ompp_causal_thread_t *self)
{
    if (!is_manager(self)) return 0;
    manager.ready = false;
    if (atomic_load(&manager.shared)) return 0;
    ompp_stamp_copy(&manager.end, &self->own);
    manager.ready = ompp_farm_end(&manager.farm, &manager.end);
    return manager.ready ? own_number() : 0;
}

const ompp_stamp_t *ompp_causal_farm_told(const ompp_causal_thread_t *self, uint64_t by)
{
    return by == own_number() && is_manager(self) && manager.ready ? &manager.end : NULL;
}

bool ompp_causal_farm_manages(const ompp_causal_thread_t *self)
{
    return is_manager(self) && ompp_farm_is_one(&manager.farm);
}

bool ompp_causal_farm_serves(const ompp_causal_thread_t *self, uint64_t manager_number, bool *late)
{
    const ompp_time_t t = (ompp_time_t)(self->own.t / OMPP_FINE), since = self->serves.since, begin = self->serves.begin;

    if (self->serves.refuses || self->serves.peer != manager_number || t < since || since < begin) return false;
    *late = t - since >= AT_WORK_NS + (t - begin) / AT_WORK_PART;
    return !*late || (self->serves.managed && self->served.set == self->own.set);
}
