/*
 * What threads of the process wait for: teams, locks, condition variables; what it means for their clocks. Records:
 * ompp_causal_object.h. What is noted of teams, to be gone through again: ompp_causal_interval.c.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/replay/ompp_causal_interval.h"
#include "causal/replay/ompp_causal_object.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

/* who tells so late that it waits for a lock has it by now: others are not to wait while it pauses */
#define REPORTED_LATE_NS 20000u
#define HANDED_NS 50000u /* of what passes from lock to lock: whoever takes longer has had no processor */
#define SPARSE 16u       /* times as long until a thread is looked at again, in one that is not */

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

/*
 * Two generations are enough: who arrives at the next but one knows that all have left this one, but for workers whose
 * leaving is told when they begin with another team, which gives them its clocks.
 */
static void arrive(ompp_causal_thread_t *self, uint64_t team, uint32_t generation, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_BARRIER, team, true);
    const unsigned side = generation & 1;

    if (!o) return;
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    if (o->generation[side] != generation) o->vector[side].t = o->others[side].t = 0;
    o->generation[side] = generation;
    const bool part = ompp_causal_takes_part(self, o, generation);
    if (part && !self->part.arrived) ompp_replay_note(o->replay, self->part.member, OMPP_REPLAY_END, 0, &self->own);
    if (part) self->part.arrived = true;
    else self->part.team = 0;
    ompp_clocks_combine(part ? &o->vector[side] : &o->others[side], &self->own);
    o->used = t;
    ompp_causal_unlock(&o->lock);
}

void ompp_causal_arrive_again(ompp_causal_thread_t *self, ompp_time_t t)
{
    arrive(self, self->wait.object, self->wait.generation, t);
}

static bool left_barrier(ompp_causal_thread_t *self, uint64_t team)
{
    const uint32_t generation = self->wait.generation;
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_BARRIER, team, false);
    const unsigned side = generation & 1;
    const bool found = o && o->generation[side] == generation;

    if (found) {
        ompp_causal_go_through(o, generation);
        ompp_clock_vector_copy(&self->other, &o->vector[side]);
        ompp_clocks_combine(&self->other, &o->others[side]);
        if (o->settled == generation + 1) ompp_clocks_yield(&self->clocks, &self->other);
    }
    if (o) ompp_causal_unlock(&o->lock);
    return found && self->other.t > 0;
}

/* ---- Barriers of threads that belong to no team ------------------------------------------------------------------ */

/* Who comes there is up to the program; so it is the barrier that counts how often all have met. */
static void come_to_posix_barrier(ompp_causal_thread_t *self, uint64_t barrier, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_POSIX_BARRIER, barrier, true);

    if (!o) return;
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    ompp_clocks_combine(&o->vector[o->generation[0] & 1], &self->own);
    self->wait.generation = o->generation[0];
    o->used = t;
    ompp_causal_unlock(&o->lock);
}

/* The first one that goes on has seen that all were there: whoever comes now comes to the next one. */
static bool left_posix_barrier(ompp_causal_thread_t *self, uint64_t barrier)
{
    const uint32_t generation = self->wait.generation;
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_POSIX_BARRIER, barrier, false);

    if (o && o->generation[0] == generation) o->vector[++o->generation[0] & 1].t = 0;
    const bool found = o && o->generation[0] == generation + 1 && o->vector[generation & 1].t > 0;
    if (found) ompp_clock_vector_copy(&self->other, &o->vector[generation & 1]);
    else self->lost++;
    if (o) ompp_causal_unlock(&o->lock);
    return found;
}

/* ---- Locks ------------------------------------------------------------------------------------------------------- */

/* The holder of before has unlocked, and not told yet: its clocks as they are now. It may be at work, which is seen
 * too. */
static void vector_of_holder(const ompp_causal_thread_t *holder, ompp_clock_vector_t *vector, ompp_time_t t)
{
    const ompp_clocks_t *c = &holder->clocks;
    const ompp_time_t since = c->since, more = t > since && !c->waiting && !c->idle ? t - since : 0;

    vector->t = (ompp_fine_t)(int64_t)t * OMPP_FINE;
    vector->set = c->set;
    vector->used = c->used < OMPP_CLOCKS ? c->used : OMPP_CLOCKS;
    for (unsigned i = 0; i < vector->used; i++) {
        const bool in_it = c->mask >> (i / OMPP_WHATIF_SPEEDUPS) & 1;
        vector->v[i] = vector->t - ompp_clocks_offset(&ompp_causal.rule, c, i) -
                       (in_it ? ompp_causal.rule.percent[i % OMPP_WHATIF_SPEEDUPS] * (ompp_fine_t)more : 0);
    }
    vector->debt = vector->t - ompp_clock_vector_at(vector, OMPP_CLOCKS_EXPERIMENT);
}

/*
 * Who would come to the lock before one that was here already? Readers may come in any order. They pass writers that
 * wait: one that came after a writer had the lock may come before that.
 */
static uint32_t come_to_lock(ompp_causal_thread_t *self, ompp_causal_object_t *o, bool reads, ompp_time_t t)
{
    const ompp_time_t begin = self->clocks.waiting ? self->clocks.waiting : t;
    const bool passes = reads && o->had.t > 0 && (ompp_fine_t)begin * OMPP_FINE >= o->had.t;
    const ompp_clock_vector_t *const before[] = {&o->vector[1], reads ? &o->had : &o->others[1]};
    const unsigned n = reads ? passes ? 2 : 1 : o->others[1].t > 0 ? 2 : 1;
    uint32_t slots = 0;

    for (unsigned i = 0; i < n; i++) {
        if (ompp_causal.mode->locked) slots |= ompp_causal.mode->overtakes(self, before[i]);
        else ompp_causal.mode->watch(self, before[i], OMPP_WHATIF_BIT_LOCK);
    }
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, begin);
    ompp_clocks_combine(reads ? &o->others[1] : &o->vector[1], &self->own);
    return slots;
}

/* What the new owner goes on with, in self->other: readers wait for who had it alone, and are waited for by who has it
 * alone next. */
static bool locked(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t mutex, ompp_time_t t)
{
    const bool reads = kind == OMPP_SYNC_READ;

    if (kind != OMPP_SYNC_ORDERED) self->clocks.waits_for = OMPP_CLOCKS_FOR_LOCK;
    ompp_causal_object_t *o = ompp_causal_object(reads ? OMPP_SYNC_MUTEX : kind, mutex, true);
    const uint64_t team = (uint64_t)(uintptr_t)ompp_event_team();
    uint32_t slots = 0;

    if (!o) return false;
    const bool is_known = !atomic_load(&ompp_causal.suspension) || o->locked_set + 1 >= self->clocks.set;
    if (o->holder && o->holder != self && is_known) vector_of_holder(o->holder, &o->vector[0], t);
    if (kind != OMPP_SYNC_ORDERED) slots = come_to_lock(self, o, reads, t);
    ompp_clock_vector_copy(&self->other, &o->vector[0]);
    if (!reads) ompp_clocks_combine(&self->other, &o->others[0]);
    if (!reads && o->others[1].t > 0) {
        ompp_clock_vector_copy(&o->had, &self->own);
        ompp_clocks_combine(&o->had, &self->other);
    }
    const bool found = self->other.t > 0, foreign = o->team && o->team != team;
    o->team = team;
    o->holder = reads ? NULL : self;
    o->locked_set = self->clocks.set;
    o->used = t;
    ompp_causal_unlock(&o->lock);
    if (ompp_causal.mode->locked) ompp_causal.mode->locked(self, kind, mutex, foreign, slots);
    return found;
}

/* ---- Iterations -------------------------------------------------------------------------------------------------- */

/* Iterations of before belong to the same piece. */
static bool arrived_lately(ompp_causal_thread_t *self, uint64_t team, ompp_time_t t)
{
    const ompp_causal_unit_t *last = &self->unit;

    const ompp_time_t grain = (last->kept ? SPARSE : 1) * OMPP_REPLAY_GRAIN;

    return last->team == team && t < last->t + grain && last->generation == *ompp_causal_generation(self, team);
}

/* The thread comes to a loop, or for more iterations, or has found that there are none: would it come before one that
 * was here already? */
void ompp_causal_loop(ompp_causal_thread_t *self, unsigned op, ompp_time_t t)
{
    const uint64_t team = (uint64_t)(uintptr_t)ompp_event_team();
    uint32_t slots = 0;

    if (op == OMPP_REPLAY_CHUNK && arrived_lately(self, team, t)) return;
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_CHUNK, team, true);
    if (o) {
        slots = ompp_causal_overtakes_clocks(self, &o->vector[0]);
        ompp_clocks_combine(&o->vector[0], &self->own);
        o->used = t;
        ompp_causal_unlock(&o->lock);
    }
    ompp_causal_note(self, (ompp_replay_op_t)op, 0, OMPP_WHATIF_BIT_DYNAMIC, slots);
    self->unit = (ompp_causal_unit_t){team, *ompp_causal_generation(self, team), self->unit.kept, t};
}

/* It keeps up before it is handed out more. It may find that there are no more before the one that had the last. */
void ompp_causal_delay_loop(ompp_causal_thread_t *self, unsigned op, ompp_time_t t)
{
    const uint64_t team = (uint64_t)(uintptr_t)ompp_event_team();
    const bool more = op == OMPP_REPLAY_CHUNK;

    if (op == OMPP_REPLAY_LOOP) self->chases = true;
    if (more) ompp_causal_chase(self);
    ompp_causal_object_t *o = op == OMPP_REPLAY_LOOP ? NULL : ompp_causal_object(OMPP_SYNC_CHUNK, team, more);
    if (!o) return;
    if (more) ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, self->clocks.since);
    else ompp_clocks_count(&self->clocks, t);
    ompp_causal_watch_order(self, &o->vector[0], OMPP_WHATIF_BIT_DYNAMIC);
    if (more) ompp_clocks_combine(&o->vector[0], &self->own);
    if (more) o->used = t;
    ompp_causal_unlock(&o->lock);
}

/* Who comes first executes a single construct, or gets the next section. Not gone through again, but it shows where it
 * would be another. */
static void come_to_single(ompp_causal_thread_t *self, uint64_t team, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_FIRST, team, true);

    if (!o) return;
    ompp_clocks_count(&self->clocks, t);
    ompp_causal.mode->watch(self, &o->vector[0], OMPP_WHATIF_BIT_DYNAMIC);
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    ompp_clocks_combine(&o->vector[0], &self->own);
    o->used = t;
    ompp_causal_unlock(&o->lock);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void put(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(kind == OMPP_SYNC_READ ? OMPP_SYNC_MUTEX : kind, object, true);

    if (!o) return;
    const bool reads = kind == OMPP_SYNC_READ && o->holder != self; /* whoever holds it writes */
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    if (reads || kind == OMPP_SYNC_EVENT) ompp_clocks_combine(reads ? &o->others[0] : &o->vector[0], &self->own);
    else ompp_clock_vector_copy(&o->vector[0], &self->own);
    if (kind == OMPP_SYNC_FORK) {
        o->generation[0]++;
    } else if (o->holder == self) {
        o->holder = NULL;
        o->others[0].t = 0; /* it has waited for readers of before */
    }
    o->used = t;
    ompp_causal_unlock(&o->lock);
}

static __attribute__((noinline)) void publish(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t object,
                                              ompp_time_t t)
{
    if (kind == OMPP_SYNC_BARRIER || kind == OMPP_SYNC_POSIX_BARRIER || kind == OMPP_SYNC_CHUNK) self->chases = false;
    if (kind == OMPP_SYNC_BARRIER) arrive(self, object, (*ompp_causal_generation(self, object))++, t);
    else if (kind == OMPP_SYNC_POSIX_BARRIER) come_to_posix_barrier(self, object, t);
    else if (kind == OMPP_SYNC_CHUNK) ompp_causal.mode->loop(self, OMPP_REPLAY_LOOP_END, t);
    else if (kind == OMPP_SYNC_FIRST) come_to_single(self, object, t);
    else if (kind == OMPP_SYNC_SEMAPHORE) ompp_causal_post(self, object, t);
    else put(self, kind, object, t);
    if (kind == OMPP_SYNC_MUTEX && ompp_causal.mode->unlocked) ompp_causal.mode->unlocked(self, object);
    if (kind == OMPP_SYNC_MUTEX || kind == OMPP_SYNC_CHUNK) ompp_causal_measure(self, t);
}

/* ---- While clocks are suspended ---------------------------------------------------------------------------------- */

/* Threads that end say who has come to be joined, and barriers how often all have met, while clocks are suspended,
 * too. */
static bool is_let_pass(ompp_sync_object_t kind) { return kind != OMPP_SYNC_EVENT && kind != OMPP_SYNC_POSIX_BARRIER; }

#define FORKED_SUSPENDED 0x8000u
#define SUSPENSION_NUMBERS 0x7fffu

/*
 * All threads of a team count its barriers, and know them by the same number when clocks go on. Which number they begin
 * with tells the team from others: of those that are forked during a suspension, only the last one is there when that
 * ends.
 */
static inline void count_barriers(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t object, bool arrives)
{
    if (kind == OMPP_SYNC_FORK)
        *ompp_causal_generation(self, object) = (uint32_t)(FORKED_SUSPENDED | (self->clocks.set & SUSPENSION_NUMBERS))
                                                << 16;
    if (kind == OMPP_SYNC_BARRIER && arrives) (*ompp_causal_generation(self, object))++;
}

/* \return whether that is all there is to do. A thread that is not settled yet has more to do. */
static inline bool passes(const ompp_causal_thread_t *self, ompp_sync_object_t kind)
{
    return ompp_causal_stays_suspended(self) && is_let_pass(kind);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

void ompp_causal_publish(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    ompp_causal_thread_t *self = object ? ompp_causal_enter() : NULL;

    if (!self) return;
    const ompp_time_t begin = ompp_causal_time_event(self);
    self->syncs++;
    ompp_causal_settle(self);
    if (kind == OMPP_SYNC_FORK) self->forked = object;
    if (passes(self, kind)) count_barriers(self, kind, object, true);
    else publish(self, kind, object, t);
    ompp_causal_timed(self, begin);
    ompp_causal_leave(self);
}

static __attribute__((noinline)) void wait(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t object,
                                           ompp_time_t t)
{
    if (kind == OMPP_SYNC_CHUNK) {
        ompp_causal.mode->loop(self, OMPP_REPLAY_LOOP, t);
        return;
    }
    if ((kind == OMPP_SYNC_MUTEX || kind == OMPP_SYNC_READ) && ompp_causal_experiment.slot >= 0 &&
        ompp_event_now() < t + REPORTED_LATE_NS) {
        ompp_causal_chase(self);
        t = ompp_event_now();
    }
    ompp_clocks_wait(&self->clocks, t);
    self->wait = (ompp_causal_wait_t){kind, object, kind == OMPP_SYNC_POSIX_BARRIER ? self->wait.generation : 0};
    if (kind == OMPP_SYNC_BARRIER) self->wait.generation = *ompp_causal_generation(self, object) - 1;
    ompp_causal_race_tell(self);
}

void ompp_causal_wait(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    if (ompp_causal_self && passes(ompp_causal_self, kind)) return;
    ompp_causal_thread_t *self = object ? ompp_causal_enter() : NULL;
    if (!self) return;
    ompp_causal_settle(self);
    if (!passes(self, kind)) wait(self, kind, object, t);
    ompp_causal_leave(self);
}

/* A member of the team begins; the one that forked it goes on as it is. Generations of all teams are told apart by the
 * fork's number. */
static void begin_member(ompp_causal_thread_t *self, uint64_t team, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_FORK, team, false);

    if (!o) {
        self->lost++;
        return;
    }
    *ompp_causal_generation(self, team) = o->generation[0] << 16;
    if (self->forked != team && o->vector[0].t > 0) {
        ompp_clock_vector_copy(&self->other, &o->vector[0]);
        ompp_clocks_start(&ompp_causal.rule, &self->clocks, &self->other, t);
    }
    ompp_causal_unlock(&o->lock);
}

static bool found_vector(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    bool found = false;
    ompp_causal_object_t *o;

    switch (kind) {
    case OMPP_SYNC_BARRIER: return left_barrier(self, object);
    case OMPP_SYNC_POSIX_BARRIER: return left_posix_barrier(self, object);
    case OMPP_SYNC_READ:
    case OMPP_SYNC_ORDERED: return locked(self, kind, object, t);
    case OMPP_SYNC_SEMAPHORE: return ompp_causal_take(self, object, t);
    default:
        o = ompp_causal_object(kind, object, false);
        found = o && o->vector[0].t > 0;
        if (found) ompp_clock_vector_copy(&self->other, &o->vector[0]);
        if (o) ompp_causal_unlock(&o->lock);
        if (!found && kind == OMPP_SYNC_EVENT) self->lost++;
        return (kind == OMPP_SYNC_EVENT && ompp_causal_thread_group_join(self, object, t)) || found;
    }
}

/*
 * Without delays: from when the lock was free until the thread has it, no work is done. That passes in a program with
 * faster work under the lock, too, but not where there is no lock: it is saved on clocks of regions that take no time,
 * of those that the thread asks for the lock in. vector: of the one that had it before.
 */
static void take_over(ompp_causal_thread_t *self, const ompp_clock_vector_t *vector, ompp_time_t begin, ompp_time_t t)
{
    const ompp_time_t free = vector ? (ompp_time_t)(vector->t / OMPP_FINE) : 0, from = free > begin ? free : begin;
    ompp_clocks_t *c = &self->clocks;

    if (!begin || t <= from || c->used < OMPP_WHATIF_SPEEDUPS) return;
    const ompp_time_t handed = t - from < HANDED_NS ? t - from : HANDED_NS;
    const ompp_fine_t taken = (ompp_fine_t)handed * OMPP_FINE;
    ompp_clocks_hand_over(&ompp_causal.rule, c, OMPP_CLOCKS_FOR_LOCK, handed);
    for (unsigned m = c->mask; m; m &= m - 1)
        c->o[(unsigned)__builtin_ctz(m) * OMPP_WHATIF_SPEEDUPS + OMPP_WHATIF_SPEEDUPS - 1] += taken;
}

/* In self->other is what it has waited for, if that was found. */
static void resume_locked(ompp_causal_thread_t *self, uint64_t mutex, ompp_time_t t)
{
    const ompp_time_t begin = self->clocks.waiting;
    const ompp_clock_vector_t *vector = locked(self, OMPP_SYNC_MUTEX, mutex, t) ? &self->other : NULL;

    ompp_causal_go_on(self, vector, t);
    take_over(self, vector, begin, t);
}

static __attribute__((noinline)) void resume(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t object,
                                             ompp_time_t t)
{
    if (kind == OMPP_SYNC_FORK) begin_member(self, object, t);
    else if (kind == OMPP_SYNC_CHUNK) ompp_causal.mode->loop(self, OMPP_REPLAY_CHUNK, t);
    else if (kind == OMPP_SYNC_MUTEX) resume_locked(self, object, t);
    else ompp_causal_go_on(self, found_vector(self, kind, object, t) ? &self->other : NULL, t);
    ompp_causal_settle(self);
    if (kind == OMPP_SYNC_MUTEX && self->part.team) ompp_causal_interval_go_on(self);
    if (kind == OMPP_SYNC_MUTEX || kind == OMPP_SYNC_CHUNK) ompp_causal_measure(self, t);
    if (kind == OMPP_SYNC_POSIX_BARRIER || kind == OMPP_SYNC_SEMAPHORE) ompp_causal_thread_group_spoil(self);
}

void ompp_causal_resume(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    ompp_causal_thread_t *self = object ? ompp_causal_enter() : NULL;

    if (!self) return;
    const ompp_time_t begin = ompp_causal_time_event(self);
    self->syncs++;
    /* What was waited for belongs to the set of regions of before. */
    if (kind == OMPP_SYNC_FORK) ompp_causal_settle(self);
    /* Who forks goes on with its task in the team: a worker has none yet. */
    if (kind == OMPP_SYNC_FORK && self->forked != object) self->depth = self->task = self->group = 0;
    if (passes(self, kind)) {
        count_barriers(self, kind, object, false);
        ompp_causal_pass(self, t);
    } else {
        resume(self, kind, object, t);
        ompp_causal_race_tell(self);
    }
    if ((kind == OMPP_SYNC_BARRIER || kind == OMPP_SYNC_POSIX_BARRIER) && self->main)
        ompp_causal_left_barrier(self, self->clocks.since);
    ompp_causal_timed(self, begin);
    ompp_causal_leave(self);
}
