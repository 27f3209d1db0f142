/*
 * Clock vectors for other processes: the clocks by the keys of their regions, in terms of the common clock. What a
 * clock vector does not name has never been made faster on the way here: its virtual time is the real one.
 */
#include "causal/clock/ompp_causal_remote_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <stddef.h>
#include <string.h>

#define SPEEDUPS OMPP_WHATIF_SPEEDUPS

/* Of another size in the other mode: so ranks notice that they have not the same. */
size_t ompp_causal_remote_vector_size(void) { return sizeof(ompp_causal_remote_t); }
size_t ompp_causal_delay_vector_size(void) { return sizeof(ompp_causal_remote_t) + sizeof(uint64_t); }

void ompp_causal_clock(const ompp_sync_clock_t *clock)
{
    ompp_causal.clock = *clock;
    if (clock->error_ns) atomic_fetch_or(&ompp_causal.flags, OMPP_WHATIF_F_CLOCK);
}

static uint64_t present_set(void) { return atomic_load_explicit(&ompp_causal.set, memory_order_relaxed); }

static void put_experiment(ompp_causal_remote_t *remote)
{
    remote->experiment = ompp_causal_experiment.number;
    remote->key = ompp_causal_experiment.slot >= 0 ? ompp_causal_key((unsigned)ompp_causal_experiment.slot) : 0;
    remote->percent = ompp_causal_experiment.percent;
    remote->settles = ompp_causal_experiment.settles;
}

static void put_delays(ompp_causal_remote_t *remote, const ompp_clock_vector_t *own, ompp_fine_t shift)
{
    put_experiment(remote);
    for (unsigned i = 0; i < 2; i++) remote->delays.v[i] = own->v[i] + shift;
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        remote->delays.work[s] = remote->keys[s] ? ompp_causal_work(s) : 0;
        if (remote->delays.work[s]) ompp_causal_shared_tell(remote->keys[s], remote->delays.work[s]);
    }
}

static void put_clocks(ompp_causal_remote_t *remote, const ompp_clock_vector_t *own, ompp_fine_t shift)
{
    remote->used = own->used;
    for (unsigned i = 0; i < own->used; i++) remote->v[i] = own->v[i] + shift;
}

/* While clocks are suspended: the number of the set says so, and that they go on when it is a later one. */
static size_t put_suspended(ompp_causal_remote_t *remote, ompp_time_t t)
{
    const ompp_fine_t now = (ompp_fine_t)t * OMPP_FINE;

    remote->t = now + ompp_causal_shift(now);
    remote->set = present_set();
    return offsetof(ompp_causal_remote_t, keys);
}

static void put_flags(ompp_causal_remote_t *remote)
{
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS && ompp_causal_any_flags(); s++)
        remote->flags[s] = remote->keys[s] ? ompp_causal_result_flags(s, false) : 0;
}

/* What the calling thread says. \return NULL = nothing. */
static ompp_causal_thread_t *begin_vector(ompp_causal_remote_t *remote, size_t size)
{
    ompp_causal_thread_t *self = ompp_causal_enter();

    memset(remote, 0, size);
    if (!self) return NULL;
    ompp_causal_settle(self);
    self->syncs++;
    return self;
}

/* \return the common time less that of the thread's clock vector, self->own, at t. */
static ompp_fine_t put_vector(ompp_causal_thread_t *self, ompp_causal_remote_t *remote, uint64_t set, ompp_time_t t)
{
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    const ompp_fine_t shift = ompp_causal_shift(self->own.t);
    remote->t = self->own.t + shift;
    remote->debt = self->own.debt;
    remote->set = set;
    remote->from = (uint64_t)(ompp_whatif_rank() + 1);
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) remote->keys[s] = ompp_causal_key(s);
    put_flags(remote);
    return shift;
}

size_t ompp_causal_remote_vector(void *vector, ompp_time_t t)
{
    ompp_causal_remote_t *remote = vector;
    ompp_causal_thread_t *self = begin_vector(remote, ompp_causal_remote_vector_size());
    size_t bytes;

    if (!self) return 0;
    if (ompp_causal_is_suspended(self)) {
        bytes = put_suspended(remote, t);
    } else {
        const ompp_fine_t shift = put_vector(self, remote, present_set(), t);
        remote->role = ompp_causal_farm_role(self);
        put_clocks(remote, &self->own, shift);
        bytes = offsetof(ompp_causal_remote_t, v) + remote->used * sizeof remote->v[0];
    }
    ompp_causal_leave(self);
    return bytes;
}

size_t ompp_causal_delay_vector(void *vector, ompp_time_t t)
{
    ompp_causal_thread_t *self = begin_vector(vector, ompp_causal_delay_vector_size());

    if (!self) return 0;
    if (ompp_causal_is_overdue(t)) ompp_causal_may_end_unit(self, 0, t);
    ompp_causal_note_message();
    const ompp_fine_t shift = put_vector(self, vector, ompp_causal_origin(), t);
    put_delays(vector, &self->own, shift);
    ompp_causal_leave(self);
    return ompp_causal_delay_vector_size();
}

/* To all ranks, which go over to it where they adopt the vector. */
void ompp_causal_propose_set(void *vector, ompp_time_t t)
{
    ompp_causal_thread_t *self = ompp_causal_enter();
    ompp_causal_remote_t *remote = vector;

    if (!self) return;
    ompp_causal_propose_turn(self, &remote->turn.number, remote->turn.keys, t);
    ompp_causal_leave(self);
}

void ompp_causal_delay_propose(void *vector, ompp_time_t t)
{
    ompp_causal_thread_t *self = ompp_causal_enter();
    ompp_causal_remote_t *remote = vector;
    ompp_causal_experiment_t next;

    if (!self) return;
    remote->delays.visits = ompp_whatif_rank() == 0 ? ompp_progress_visits(t) : 0;
    if (ompp_causal_propose(remote->delays.visits, t, &next)) {
        remote->delays.next.number = next.number;
        remote->delays.next.key = next.slot >= 0 ? ompp_causal_key((unsigned)next.slot) : 0;
        remote->delays.next.percent = next.percent;
    }
    ompp_causal_leave(self);
}

/* Before an exchange among all ranks. */
bool ompp_causal_contribute(void *vector)
{
    ompp_causal_thread_t *self = ompp_causal_enter();
    ompp_causal_remote_t *remote = vector;

    if (!self) return false;
    if (!ompp_causal_is_suspended(self)) remote->farms[0] = ompp_causal_farm_contribute(self);
    if (!remote->farms[0]) put_flags(remote); /* some were put by until now */
    remote->reported = remote->farms[0] ? remote->t : 0;
    ompp_causal_leave(self);
    return remote->farms[0] != 0;
}

static void put_reported(ompp_causal_remote_t *remote, const ompp_clock_vector_t *reported)
{
    const ompp_fine_t shift = ompp_causal_shift(reported->t);

    put_clocks(remote, reported, shift);
    remote->reported = reported->t + shift;
}

static bool has_farm(const ompp_causal_remote_t *all, uint64_t number)
{
    bool found = false;

    for (unsigned i = 0; i < OMPP_CAUSAL_FARMS; i++) found |= number && all->farms[i] == number;
    return found;
}

/* The first exchange said which ranks can tell more: this one says it in the second. */
static void revise_first(ompp_causal_thread_t *self, ompp_causal_remote_t *mine, const ompp_causal_remote_t *all)
{
    const ompp_clock_vector_t *reported =
        has_farm(all, (uint64_t)(ompp_whatif_rank() + 1)) ? ompp_causal_farm_reported(self) : NULL;
    const bool same = !ompp_causal_is_suspended(self) && all->set == mine->set &&
                      !ompp_causal_farm_misses(self, mine->t - all->reported);
    bool late = false;

    mine->reported = 0;
    if (!reported) ompp_causal_farm_watch();
    put_flags(mine);
    for (unsigned s = 0; reported && s < OMPP_CLOCKS_SLOTS; s++)
        mine->flags[s] |= (ompp_causal_result_flags(s, true) & OMPP_WHATIF_F_WILDCARD) << OMPP_CAUSAL_OPEN;
    if (reported) put_reported(mine, reported);
    else if (same && has_farm(all, self->serves.peer)) mine->serves = ompp_causal_farm_serves(self, &late);
    if (late && all->farms[1]) mine->serves = late = false; /* what came is of several */
    if (!reported && same && !mine->serves) mine->serves = ompp_causal_farm_only_waits(self);
    mine->astray = reported ? ompp_causal_farm_hints(self)
                            : !mine->serves && (has_farm(all, self->serves.peer) || ompp_causal_farm_depends());
    mine->late = mine->serves && late;
    mine->served = mine->serves && !late ? mine->t : 0;
    self->serves.yields = reported || mine->serves;
}

static void translate(const ompp_causal_thread_t *self, const ompp_causal_remote_t *remote,
                      ompp_clock_vector_t *vector);

static ompp_fine_t sooner(ompp_fine_t a, ompp_fine_t b) { return a < b ? a : b; }

/* The second exchange said what the rank that hands out work knows of this one: its last message came so much earlier
 * on each clock, and it goes on from there. */
static void revise_late(ompp_causal_thread_t *self, ompp_causal_remote_t *mine, const ompp_causal_remote_t *all)
{
    ompp_clock_vector_t *other = &self->other;
    ompp_causal_remote_t then = *all;

    if (!mine->late) return;
    mine->late = mine->serves = 0;
    then.t = all->reported; /* where clocks are that nobody tells of */
    then.served = 0;
    translate(self, &then, other);
    const ompp_fine_t shift = ompp_causal_shift(self->own.t), earlier = other->t - self->served.t;
    ompp_clock_vector_widen(&self->own, other->used);
    for (unsigned i = 0; i < self->own.used; i++)
        self->own.v[i] =
            sooner(ompp_clock_vector_at(other, i) - earlier + self->own.v[i] - ompp_clock_vector_at(&self->served, i),
                   self->own.t);
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) mine->keys[s] = ompp_causal_key(s); /* some may be new here */
    put_clocks(mine, &self->own, shift);
}

/* After the first exchange among all ranks, and after the second one. */
bool ompp_causal_revise(void *mine, const void *all_bytes)
{
    const ompp_causal_remote_t *all = all_bytes;
    ompp_causal_thread_t *self = ompp_causal_enter();
    ompp_causal_remote_t *remote = mine;

    memset(remote->farms, 0, sizeof remote->farms);
    if (!self) {
        remote->late = 0;
        return false;
    }
    if (all->farms[0]) revise_first(self, remote, all);
    else revise_late(self, remote, all);
    ompp_causal_leave(self);
    return remote->late;
}

/* Ranks mostly have the same regions in the same slots. */
static int slot_of(unsigned there, uint64_t key)
{
    return ompp_causal_key(there) == key ? (int)there : ompp_causal_give_slot(key);
}

/* Later by so much, but not behind t that is not so already. */
static ompp_fine_t put_back(ompp_fine_t v, ompp_fine_t by, ompp_fine_t t)
{
    return ompp_clocks_later(v, v + by < t ? v + by : t);
}

/* The clock vector in terms of this process: its clock, its slots. \param[in] set  the present one. */
static ompp_fine_t translate_time(const ompp_causal_thread_t *self, const ompp_causal_remote_t *remote, uint64_t set,
                                  ompp_clock_vector_t *vector)
{
    const ompp_fine_t about = remote->t - (ompp_fine_t)ompp_causal.clock.offset_ns * OMPP_FINE;
    const ompp_fine_t shift = ompp_causal_shift(about);

    vector->t = ompp_clocks_later(remote->t, remote->served) - shift;
    vector->debt = remote->debt;
    vector->set = remote->set && remote->set == set ? self->clocks.set : 0;
    vector->used = 0;
    return shift;
}

static void translate(const ompp_causal_thread_t *self, const ompp_causal_remote_t *remote, ompp_clock_vector_t *vector)
{
    /* Workers come a little later than their manager, on all clocks. */
    const ompp_fine_t behind =
        remote->reported > 0 && remote->served > remote->reported ? remote->served - remote->reported : 0;
    const ompp_fine_t shift = translate_time(self, remote, present_set(), vector);

    for (unsigned s = 0; s < remote->used / SPEEDUPS; s++) {
        const int to = remote->keys[s] ? slot_of(s, remote->keys[s]) : -1;
        if (to < 0) continue;
        ompp_clock_vector_widen(vector, (uint64_t)(to + 1) * SPEEDUPS);
        for (unsigned k = 0; k < SPEEDUPS; k++)
            vector->v[(unsigned)to * SPEEDUPS + k] =
                put_back(remote->v[s * SPEEDUPS + k], behind, vector->t + shift) - shift;
    }
}

static void translate_delays(const ompp_causal_thread_t *self, const ompp_causal_remote_t *remote,
                             ompp_clock_vector_t *vector)
{
    const ompp_fine_t shift = translate_time(self, remote, ompp_causal_origin(), vector);

    ompp_clock_vector_widen(vector, SPEEDUPS);
    vector->v[OMPP_CLOCKS_EXPERIMENT] = remote->delays.v[OMPP_CLOCKS_EXPERIMENT] - shift;
    vector->v[OMPP_CLOCKS_BASELINE] = remote->delays.v[OMPP_CLOCKS_BASELINE] - shift;
}

static bool differ(ompp_fine_t a, ompp_fine_t b)
{
    return a - b > OMPP_CAUSAL_TOLERANCE * OMPP_FINE || b - a > OMPP_CAUSAL_TOLERANCE * OMPP_FINE;
}

/* In the optimised program it would have come before the one that was received before it. */
static bool overtakes(const ompp_clock_vector_t *before, const ompp_clock_vector_t *other, unsigned clock)
{
    return before->set == other->set && before->t > 0 &&
           ompp_clock_vector_at(other, clock) + OMPP_CAUSAL_TOLERANCE * OMPP_FINE < ompp_clock_vector_at(before, clock);
}

/* With delays, where ranks have kept up with each other: without them messages would have come in another order. */
static void watch_baseline(const ompp_causal_thread_t *self)
{
    const int slot = ompp_causal_experiment.slot;

    if (slot >= 0 && self->percent > 0)
        ompp_causal_watch(OMPP_WHATIF_BIT_BASELINE,
                          overtakes(&self->before, &self->other, OMPP_CLOCKS_BASELINE) ? 1u << slot : 0);
}

/* What happens first is open, and a region matters if it moves the receiver and what it receives against each other, or
 * that and what it received before. */
static bool moves(const ompp_causal_thread_t *self, unsigned clock)
{
    const ompp_clock_vector_t *other = &self->other;

    return differ(other->t - ompp_clock_vector_at(other, clock),
                  ompp_clocks_offset(&ompp_causal.rule, &self->clocks, clock)) ||
           overtakes(&self->before, other, clock);
}

static void watch_flags(ompp_causal_thread_t *self, unsigned flags, bool may_put_by)
{
    const ompp_clock_vector_t *other = &self->other;
    unsigned slots = 0;

    for (unsigned i = 0; i < OMPP_CLOCKS && other->t > 0; i++)
        if (moves(self, i)) slots |= 1u << i / SPEEDUPS;
    if (other->t > 0) ompp_clock_vector_copy(&self->before, other);
    for (; flags; flags &= flags - 1) {
        const unsigned f = (unsigned)__builtin_ctz(flags);
        if (f != OMPP_WHATIF_BIT_WILDCARD || !may_put_by || !ompp_causal_farm_puts_by(self, slots))
            ompp_causal_watch(f, slots);
    }
}

static void watch_experiment(ompp_causal_thread_t *self, unsigned flags)
{
    const ompp_clock_vector_t *other = &self->other;
    const int slot = ompp_causal_experiment.slot;
    const bool matters = slot >= 0 && other->t > 0 && moves(self, OMPP_CLOCKS_EXPERIMENT);

    if (flags & OMPP_WHATIF_F_WILDCARD && ompp_causal_races()) watch_baseline(self);
    if (other->t > 0) ompp_clock_vector_copy(&self->before, other);
    for (; flags; flags &= flags - 1) ompp_causal_watch((unsigned)__builtin_ctz(flags), matters ? 1u << slot : 0);
}

static void hear_flags(const ompp_causal_remote_t *remote)
{
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const uint32_t flags = (remote->flags[s] & ((1u << OMPP_CAUSAL_OPEN) - 1)) |
                               (remote->astray ? remote->flags[s] >> OMPP_CAUSAL_OPEN : 0);
        const int slot = remote->keys[s] && flags ? slot_of(s, remote->keys[s]) : -1;
        if (slot >= 0) ompp_causal_result_heard((unsigned)slot, flags);
    }
}

static void learn(ompp_causal_thread_t *self, const ompp_causal_remote_t *remote, ompp_sync_remote_t kind)
{
    const bool unsynchronised = kind != OMPP_SYNC_ALL || !remote->delays.next.number;

    ompp_causal_take_origin(self, remote->set);
    ompp_causal_note_message();
    self->proposed.unsynchronised = unsynchronised;
    self->proposed.visits = remote->delays.visits;
    self->proposed.number = unsynchronised ? remote->experiment : remote->delays.next.number;
    self->proposed.key = unsynchronised ? remote->key : remote->delays.next.key;
    self->proposed.settles = unsynchronised && remote->settles;
    self->proposed.percent = unsynchronised ? remote->percent : remote->delays.next.percent;
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) ompp_causal_heard_of(remote->keys[s], remote->delays.work[s]);
}

/* With delays: the thread goes on at t after it has heard of other processes, with nothing left to pay. */
static void go_over(ompp_causal_thread_t *self, ompp_sync_remote_t kind, ompp_time_t t)
{
    ompp_causal_follow(self, t);
    if (kind == OMPP_SYNC_ALL) {
        ompp_causal_visited_since_met(self->proposed.visits);
        ompp_causal_may_end_unit(self, ompp_meter_region(ompp_causal_place(self)), t);
        return;
    }
    if (kind == OMPP_SYNC_GROUP) ompp_progress_candidate(ompp_meter_region(ompp_causal_place(self)), false, t);
    if (ompp_causal_is_overdue(t)) ompp_causal_may_end_unit(self, 0, t);
}

/* Where all ranks have met they go on together, with another set of regions if that was proposed. */
static void after_meeting(ompp_causal_thread_t *self, const ompp_causal_remote_t *remote, const ompp_sync_wait_t *wait)
{
    if (wait->kind == OMPP_SYNC_ALL && remote) {
        ompp_causal_note_meeting(wait->end);
        if (remote->turn.number > present_set())
            ompp_causal_follow_turn(self, remote->turn.number, remote->turn.keys, wait->end);
    }
    if (wait->kind == OMPP_SYNC_ALL || wait->kind == OMPP_SYNC_GROUP)
        ompp_causal_may_end_unit(self, ompp_meter_region(ompp_causal_place(self)), wait->end);
}

/*
 * What it waited for came at the moment in the clock vector, or before the call began; what passed from then to the end
 * of the call is work. With a limit, a longer time is a wait for something else, and what gains by that is not known.
 */
static void count_remainder(ompp_causal_thread_t *self, const ompp_sync_wait_t *wait)
{
    const ompp_fine_t arrived = self->other.t / OMPP_FINE;
    const ompp_time_t since = arrived > (ompp_fine_t)wait->begin ? (ompp_time_t)arrived : wait->begin;
    const bool waited = wait->limit && arrived < (ompp_fine_t)wait->end && wait->end - since > wait->limit;

    if (waited) {
        ompp_causal_stall(since + wait->limit, wait->end);
    } else if (arrived < (ompp_fine_t)wait->end) {
        self->clocks.since = since;
        ompp_clocks_count(&self->clocks, wait->end);
    }
}

static ompp_causal_thread_t *begin_join(void)
{
    ompp_causal_thread_t *self = ompp_causal_enter();

    if (!self) return NULL;
    ompp_causal_settle(self);
    self->syncs++;
    self->other.t = 0;
    return self;
}

/* It waited for what remote says, or nobody says. */
static void wait_for(ompp_causal_thread_t *self, const ompp_causal_remote_t *remote, const ompp_sync_wait_t *wait)
{
    if (remote && remote->t > 0) hear_flags(remote);
    else if (!wait->limit) self->lost++;
    else if (wait->end - wait->begin > wait->limit) ompp_causal_stall(wait->begin + wait->limit, wait->end);
    self->clocks.waits_for = OMPP_CLOCKS_FOR_RANKS;
    ompp_clocks_wait(&self->clocks, wait->begin);
}

/* It waited until what it waited for was there; the remainder of the call is work. \return what is to be paid. */
static ompp_time_t go_on(ompp_causal_thread_t *self, const ompp_sync_wait_t *wait)
{
    const ompp_time_t pause = ompp_clocks_join(&ompp_causal.rule, &self->clocks, &self->other, 0, wait->end);

    if (self->other.t > 0) count_remainder(self, wait);
    return pause;
}

void ompp_causal_join_clock(const void *bytes, const ompp_sync_wait_t *wait)
{
    ompp_causal_thread_t *self = begin_join();
    const ompp_causal_remote_t *remote = bytes;

    if (!self) return;
    if (remote && remote->set > present_set()) ompp_causal_follow_turn(self, remote->set, remote->keys, wait->begin);
    if (ompp_causal_is_suspended(self)) {
        ompp_causal_pass(self, wait->end);
        ompp_causal_farm_go_on(self, wait, false);
    } else {
        if (remote && remote->t > 0) translate(self, remote, &self->other);
        wait_for(self, remote, wait);
        if (wait->flags) watch_flags(self, wait->flags, wait->kind == OMPP_SYNC_MESSAGE);
        ompp_causal_farm_wait(self, self->other.t > 0 ? remote->from : 0, remote ? remote->role : 0, wait);
        if (self->serves.yields && wait->kind == OMPP_SYNC_ALL) ompp_clocks_yield(&self->clocks, &self->other);
        go_on(self, wait);
        ompp_causal_farm_go_on(self, wait, remote && remote->astray);
    }
    after_meeting(self, remote, wait);
    ompp_causal_leave(self);
}

void ompp_causal_delay_join(const void *bytes, const ompp_sync_wait_t *wait)
{
    ompp_causal_thread_t *self = begin_join();
    const ompp_causal_remote_t *remote = bytes;

    if (!self) return;
    self->proposed.number = self->proposed.visits = 0;
    if (remote && remote->t > 0) {
        learn(self, remote, wait->kind);
        translate_delays(self, remote, &self->other);
    }
    wait_for(self, remote, wait);
    self->arrival = ompp_causal_here(self, self->clocks.since);
    if (wait->flags) watch_experiment(self, wait->flags);
    const ompp_time_t pause = go_on(self, wait);
    if (wait->flags & OMPP_WHATIF_F_WILDCARD) ompp_causal_race_begin();
    ompp_causal_race_tell(self);
    if (wait->kind == OMPP_SYNC_ALL && remote) ompp_causal_note_meeting(wait->end);
    if (pause) ompp_causal_pay(self, wait->end + pause);
    go_over(self, wait->kind, pause ? self->clocks.since : wait->end);
    ompp_causal_leave(self);
}
