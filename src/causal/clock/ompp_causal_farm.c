/*
 * Ranks that hand out work to whoever is free (ompp_farm.h), and those that do it. A thread that sends and then
 * receives from any source notes both. When all ranks meet, and it can say what its clocks are if order is decided on
 * each of them, the clock vector that it has for the others says so. Then all exchange clock vectors once more: its own
 * are those, and its workers, whose clocks keep the measured order, have none, but for the time; they go on with what
 * comes. Those that have done something else after what they had to do add that to what came, as if they had been as
 * much ahead of their manager as they really were, and all exchange clock vectors a third time.
 *
 * A worker is a rank that has had messages of nobody else since ranks met last, and has told its manager of all work
 * that it did before messages of that one, or waited for these.
 */
#define _GNU_SOURCE
#include "base/ompp_pages.h"
#include "base/ompp_prefault.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/replay/ompp_farm.h"

#include "runtime/ompp_whatif_record.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define AT_WORK_NS 50000u /* that a worker may have done since its last message, ... */
#define AT_WORK_PART 100u /* and one part in so many of the time */
#define FIRST_SEATS 2u    /* a rank with two neighbours notes so much before it is given up as a manager */
#define FIRST_TASKS OMPP_FARM_TRY
#define FIRST_EVENTS (OMPP_FARM_TRY * (FIRST_SEATS + 1))
#define IN_VAIN 8u /* so often it was noted for nothing, one meeting after the other: no more of it */

static struct {
    _Atomic(ompp_causal_thread_t *) talker;  /* the thread that has messages; NULL = none since ranks met last */
    _Atomic bool shared;                     /* another one has had some, too */
    _Atomic bool depends;                    /* a thread of the rank does: see OMPP_CAUSAL_DEPENDS */
    _Atomic(ompp_causal_thread_t *) manager; /* it notes them; NULL = nobody does */
    bool idle;     /* nothing came of it last time, and nothing was received from any source since */
    bool closed;   /* all ranks are about to meet, and have been told whether there is something to be told */
    bool ready;    /* end is what is to be told */
    unsigned vain; /* meetings at which there was nothing to be told of a farm */
    struct {
        _Atomic uint64_t overtaken[OMPP_CLOCKS_SLOTS + 1]; /* by slot; how many they were */
    } open; /* messages from any source that it has noted, and whose order may be another one with a faster region */
    ompp_clock_vector_t end;
    ompp_farm_t farm;
} own;

static bool is_manager(const ompp_causal_thread_t *self)
{
    return atomic_load_explicit(&own.manager, memory_order_relaxed) == self;
}

/* Pages of the beginnings of what is noted; the table has many, and no need of large ones. */
void ompp_causal_farm_prefault(void)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)&own + page - 1) & ~(page - 1);
    const int saved = errno;

    ompp_madvise((void *)begin, ((uintptr_t)(&own + 1) - begin) & ~(page - 1), MADV_NOHUGEPAGE);
    ompp_prefault(&own, (uintptr_t)&own.farm.seat_of[FIRST_SEATS] - (uintptr_t)&own);
    ompp_prefault(own.farm.seats, FIRST_SEATS * sizeof own.farm.seats[0]);
    ompp_prefault(own.farm.events, FIRST_EVENTS * sizeof own.farm.events[0]);
    ompp_prefault(own.farm.tasks, FIRST_TASKS * sizeof own.farm.tasks[0]);
    errno = saved;
}

/* The thread has a message. */
static void talk(ompp_causal_thread_t *self)
{
    ompp_causal_thread_t *nobody = NULL, *talker = atomic_load_explicit(&own.talker, memory_order_relaxed);

    if (talker == self || (!talker && atomic_compare_exchange_strong(&own.talker, &nobody, self))) return;
    atomic_store_explicit(&own.shared, true, memory_order_relaxed);
}

/* The thread notes what it does, from now on if nobody does. self->own is its clock vector. */
static bool may_note(ompp_causal_thread_t *self)
{
    ompp_causal_thread_t *nobody = NULL;

    if (is_manager(self)) return own.farm.begun && !own.farm.spoiled;
    if (own.idle || own.vain >= IN_VAIN || !atomic_compare_exchange_strong(&own.manager, &nobody, self)) return false;
    ompp_farm_begin(&own.farm, &self->own);
    return true;
}

bool ompp_causal_farm_puts_by(ompp_causal_thread_t *self, unsigned slots)
{
    if (!is_manager(self) || !may_note(self)) return false;
    atomic_fetch_add_explicit(&own.open.overtaken[OMPP_CLOCKS_SLOTS], 1, memory_order_relaxed);
    for (; slots; slots &= slots - 1)
        atomic_fetch_add_explicit(&own.open.overtaken[__builtin_ctz(slots)], 1, memory_order_relaxed);
    return true;
}

uint64_t ompp_causal_farm_open(unsigned slot)
{
    return atomic_load_explicit(&own.open.overtaken[slot], memory_order_relaxed);
}

/* gone_through: order was decided on each clock. */
static void watch_open(bool gone_through)
{
    atomic_fetch_add(&ompp_causal.watched[OMPP_WHATIF_BIT_WILDCARD],
                     atomic_exchange(&own.open.overtaken[OMPP_CLOCKS_SLOTS], 0));
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const uint64_t overtaken = atomic_exchange(&own.open.overtaken[s], 0);
        if (!overtaken || gone_through) continue;
        atomic_store(&ompp_causal.flagged, true);
        atomic_fetch_add(&ompp_causal.overtaken[OMPP_WHATIF_BIT_WILDCARD][s], overtaken);
    }
}

void ompp_causal_farm_watch(void) { watch_open(false); }

/* Something that is not noted. */
static void refuse(ompp_causal_thread_t *self)
{
    self->serves.refuses = self->serves.waits = true;
    if (is_manager(self)) own.farm.spoiled = true;
}

static void forget_interval(ompp_causal_thread_t *self)
{
    self->serves = (ompp_causal_serves_t){0};
    if (!is_manager(self)) return;
    watch_open(false);
    ompp_farm_reset(&own.farm);
    atomic_store(&own.manager, NULL);
}

void ompp_causal_farm_forget(ompp_causal_thread_t *self)
{
    ompp_causal_thread_t *me = self;

    forget_interval(self);
    atomic_compare_exchange_strong(&own.talker, &me, NULL);
}

/* Whoever gets the message, it says all that the thread has done. */
static void tell_peer(ompp_causal_thread_t *self)
{
    ompp_causal_serves_t *s = &self->serves;

    s->since = (ompp_time_t)(self->own.t / OMPP_FINE);
    s->owes = false;
    s->owed = 0;
    s->gave = true;
    if (s->managed) ompp_clock_vector_copy(&self->served, &self->own);
}

void ompp_causal_note_sent(unsigned to)
{
    ompp_causal_thread_t *self = ompp_causal_enter();

    if (!self) return;
    talk(self);
    if (ompp_causal_is_suspended(self)) {
        refuse(self);
    } else {
        if (!self->serves.peer) self->serves.to = to + 1;
        if (!self->serves.peer || self->serves.peer == to + 1) tell_peer(self);
        if (may_note(self)) ompp_farm_give(&own.farm, to, &self->own);
    }
    ompp_causal_leave(self);
}

static bool is_much(ompp_time_t work, ompp_time_t time) { return work >= AT_WORK_NS + time / AT_WORK_PART; }

static const ompp_clock_vector_t *own_at(ompp_causal_thread_t *self, ompp_time_t t)
{
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    return &self->own;
}

/* Since the latest wait for a message. */
static ompp_time_t work_until(const ompp_causal_serves_t *s, ompp_time_t t)
{
    const ompp_time_t last = s->last ? s->last : s->begin;

    return t > last ? t - last : 0;
}

/* A message of the peer. */
static void note_peer(ompp_causal_thread_t *self, uint64_t from, uint64_t role, const ompp_sync_wait_t *wait)
{
    ompp_causal_serves_t *s = &self->serves;
    const ompp_fine_t begin = (ompp_fine_t)wait->begin * OMPP_FINE;

    if (!s->begin) s->begin = ompp_meter_since();
    if (!s->since) s->since = s->begin;
    if ((s->peer && s->peer != from) || (s->to && s->to != from)) s->refuses = true;
    s->peer = from;
    if (self->other.t >= begin) s->owed = 0;
    else if (wait->begin > s->since) s->owed += wait->begin - s->since;
    s->owes = is_much(s->owed, wait->begin > s->begin ? wait->begin - s->begin : 0);
    s->gave = false;
    s->since = wait->end;
    s->worked += work_until(s, wait->begin);
    s->last = wait->end;
    s->managed = role & OMPP_CAUSAL_MANAGES && !s->refuses;
}

void ompp_causal_farm_wait(ompp_causal_thread_t *self, uint64_t from, uint64_t role, const ompp_sync_wait_t *wait)
{
    const bool any = wait->flags & OMPP_WHATIF_F_WILDCARD;

    if (wait->kind == OMPP_SYNC_ALL) return;
    if (role) {
        self->serves.depends = true;
        atomic_store_explicit(&own.depends, true, memory_order_relaxed);
    }
    if (wait->kind == OMPP_SYNC_ACKNOWLEDGEMENT) {
        if (is_manager(self) && may_note(self)) ompp_farm_work(&own.farm, own_at(self, wait->begin));
        return;
    }
    if (any) own.idle = false;
    if (wait->kind != OMPP_SYNC_MESSAGE || from == 0 || from > OMPP_FARM_RANKS) {
        refuse(self);
        return;
    }
    talk(self);
    note_peer(self, from, role, wait);
    if (is_manager(self) && may_note(self))
        ompp_farm_take(&own.farm, (unsigned)from - 1, any, own_at(self, wait->begin), &self->other);
}

/* What it has come to begins anew. */
static void meet(ompp_causal_thread_t *self, bool astray, ompp_time_t t)
{
    if (is_manager(self)) {
        watch_open(own.ready && self->serves.yields && !astray);
        own.idle = own.farm.results == 0;
        if (own.closed && own.farm.results) own.vain = own.ready ? 0 : own.vain + 1;
        own.ready = own.closed = false;
    }
    forget_interval(self); /* it yields no longer */
    self->serves.begin = self->serves.since = self->serves.last = t;
    atomic_store(&own.talker, NULL);
    atomic_store(&own.shared, false);
    atomic_store(&own.depends, false);
}

void ompp_causal_farm_go_on(ompp_causal_thread_t *self, const ompp_sync_wait_t *wait, bool astray)
{
    if (wait->kind == OMPP_SYNC_ALL) {
        meet(self, astray, wait->end);
        return;
    }
    const bool notes = is_manager(self) && may_note(self),
               managed = self->serves.managed && self->serves.since == wait->end;
    if (!notes && !managed) return;
    const ompp_clock_vector_t *now = own_at(self, wait->end);
    if (notes) ompp_farm_go_on(&own.farm, now);
    if (managed) ompp_clock_vector_copy(&self->served, now);
}

/* ---- Meetings ---------------------------------------------------------------------------------------------------- */

uint64_t ompp_causal_farm_contribute(ompp_causal_thread_t *self)
{
    const bool manages = is_manager(self);

    self->serves.yields = false;
    if (manages) {
        ompp_clock_vector_copy(&own.end, &self->own);
        own.ready = !atomic_load(&own.shared) && ompp_farm_end(&own.farm, &own.end);
        own.closed = true;
    }
    if (manages && own.ready) return (uint64_t)(ompp_whatif_rank() + 1);
    /* Messages of one rank do not overtake each other. */
    watch_open(self->serves.peer && !self->serves.refuses && !atomic_load(&own.shared));
    return 0;
}

bool ompp_causal_farm_hints(const ompp_causal_thread_t *self)
{
    return is_manager(self) && own.ready && (!own.farm.fits || ompp_farm_is_of_ranks(&own.farm));
}

const ompp_clock_vector_t *ompp_causal_farm_reported(const ompp_causal_thread_t *self)
{
    return is_manager(self) && own.ready ? &own.end : NULL;
}

uint64_t ompp_causal_farm_role(const ompp_causal_thread_t *self)
{
    const bool manages = is_manager(self) && ompp_farm_is_one(&own.farm);

    const bool depends = self->serves.depends || (is_manager(self) && own.farm.results > 0);

    return (manages ? OMPP_CAUSAL_MANAGES : 0) | (depends ? OMPP_CAUSAL_DEPENDS : 0);
}

bool ompp_causal_farm_depends(void) { return atomic_load(&own.depends); }

bool ompp_causal_farm_only_waits(const ompp_causal_thread_t *self)
{
    const ompp_causal_serves_t *s = &self->serves;
    const ompp_time_t t = (ompp_time_t)(self->own.t / OMPP_FINE);

    if (!s->peer || s->waits || t < s->begin || atomic_load(&own.shared)) return false;
    return !is_much(s->worked + work_until(s, t), t - s->begin);
}

bool ompp_causal_farm_serves(const ompp_causal_thread_t *self, bool *late)
{
    const ompp_time_t t = (ompp_time_t)(self->own.t / OMPP_FINE), since = self->serves.since,
                      begin = self->serves.begin;

    if (self->serves.refuses || self->serves.owes || atomic_load(&own.shared)) return false;
    if (t < since || since < begin) return false;
    *late = is_much(t - since, t - begin);
    return !*late || (self->serves.managed && self->served.set == self->own.set);
}

bool ompp_causal_farm_misses(const ompp_causal_thread_t *self, ompp_fine_t ns)
{
    const ompp_time_t t = (ompp_time_t)(self->own.t / OMPP_FINE), begin = self->serves.begin;

    return self->serves.gave && ns > 0 && is_much((ompp_time_t)(ns / OMPP_FINE), t > begin ? t - begin : 0);
}
