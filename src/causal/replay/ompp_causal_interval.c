/*
 * What a team does between two of its barriers, where order is decided as the program runs: it is noted, and gone
 * through again when all have come to the next barrier (ompp_replay.h).
 */
#include "causal/replay/ompp_causal_interval.h"

#include "base/ompp_pages.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include <string.h>
#include <sys/mman.h>

#define REPLAYS 64u /* teams whose intervals can be gone through again */

static _Atomic unsigned nreplays;

/* There is no time for the interval that begins now: it keeps its order. */
static void keep(const ompp_causal_thread_t *self, ompp_causal_object_t *o, uint32_t generation)
{
    o->spoiled = o->kept = generation + 1;
    o->began = self->own.t;
    memset(o->overtaken, 0, sizeof o->overtaken);
}

static ompp_replay_t *replay_of(ompp_causal_object_t *o)
{
    if (o->replay || atomic_fetch_add(&nreplays, 1) >= REPLAYS) return o->replay;
    void *replay =
        ompp_mmap(NULL, sizeof *o->replay, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    o->replay = replay == MAP_FAILED ? NULL : replay;
    return o->replay;
}

bool ompp_causal_takes_part(const ompp_causal_thread_t *self, const ompp_causal_object_t *o, uint32_t generation)
{
    return o->replayed == generation + 1 && self->part.team == o->object && self->part.generation == generation;
}

/* The interval before the team's next barrier, which this thread takes part in from now on. NULL = none. */
static ompp_replay_t *interval_of(ompp_causal_thread_t *self, ompp_causal_object_t *o, uint32_t generation)
{
    ompp_replay_t *r = replay_of(o);

    if (!r) return NULL;
    if (o->replayed != generation + 1) {
        const double drawn = ompp_causal_afford(self->own.t);
        if (drawn <= 0) {
            keep(self, o, generation);
            return NULL;
        }
        ompp_replay_reset(r, self->clocks.set);
        r->drawn = drawn;
        r->ideal = ompp_causal.rule.ideal;
        memset(o->overtaken, 0, sizeof o->overtaken);
        o->replayed = generation + 1;
        o->kept = 0;
    }
    if (!ompp_causal_takes_part(self, o, generation)) {
        const int member = ompp_replay_join(r, &self->own);
        if (member < 0) return NULL;
        self->part = (ompp_causal_part_t){o->object, generation, false, (unsigned)member, r};
    }
    return r;
}

/* What the thread is in: the interval before its team's next barrier, or that of the task it runs, which may have made
 * it wait there. */
static bool place_of(ompp_causal_thread_t *self, uint64_t *team, uint32_t *generation)
{
    *team = (uint64_t)(uintptr_t)ompp_event_team();
    if (!*team) return false;
    *generation = self->task ? self->flow.generation : *ompp_causal_generation(self, *team);
    return !self->task || self->flow.team == *team;
}

/* The record of the interval, locked, and in *interval what is noted of it; NULL = nothing is. */
static ompp_causal_object_t *open_interval(ompp_causal_thread_t *self, ompp_replay_t **interval)
{
    uint64_t team;
    uint32_t generation;
    ompp_causal_object_t *o =
        place_of(self, &team, &generation) ? ompp_causal_object(OMPP_SYNC_BARRIER, team, true) : NULL;

    *interval =
        o && o->spoiled != generation + 1 && !ompp_causal_is_suspended(self) ? interval_of(self, o, generation) : NULL;
    if (!*interval && self->part.team != OMPP_CAUSAL_THREAD_GROUP) self->part.team = 0;
    return o;
}

static void close_interval(ompp_causal_object_t *o)
{
    if (o) ompp_causal_unlock(&o->lock);
}

unsigned ompp_causal_flow_of(const ompp_causal_thread_t *self)
{
    return self->task ? self->flow.flow : self->part.member;
}

/*
 * What the thread does, at the time of self->own. flag_bit: what would be another order, for these slots: that says
 * something only when the interval cannot be gone through again.
 */
void ompp_causal_note(ompp_causal_thread_t *self, ompp_replay_op_t op, uint64_t object, unsigned flag_bit,
                      uint32_t slots)
{
    ompp_replay_t *r;
    ompp_causal_object_t *o = open_interval(self, &r);

    if (r) ompp_replay_note(r, ompp_causal_flow_of(self), op, object, &self->own);
    const bool covered = r || (o && o->kept);
    if (covered) o->overtaken[flag_bit] |= slots;
    self->unit.kept = o && o->kept;
    close_interval(o);
    if (covered) return;
    if (!o && ompp_causal_thread_group_note(self, op, object, slots)) return;
    if (op != OMPP_REPLAY_UNLOCK) ompp_causal_watch(flag_bit, slots);
}

/* What it has waited for is no work. */
void ompp_causal_interval_go_on(ompp_causal_thread_t *self)
{
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, self->clocks.since);
    ompp_replay_go_on(self->part.interval, ompp_causal_flow_of(self), &self->own);
}

/* One that is kept to save time is not noted either. */
static void spoil(ompp_causal_object_t *o, uint32_t generation)
{
    if (o->kept != generation + 1) o->spoiled = generation + 1;
}

void ompp_causal_spoil_order(ompp_causal_thread_t *self)
{
    uint64_t team;
    uint32_t generation;
    const bool known = !ompp_causal.rule.delays && place_of(self, &team, &generation);
    ompp_causal_object_t *o = known ? ompp_causal_object(OMPP_SYNC_BARRIER, team, true) : NULL;

    if (!o) return;
    spoil(o, generation);
    ompp_causal_unlock(&o->lock);
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

ompp_causal_flow_t ompp_causal_note_create(ompp_causal_thread_t *self)
{
    ompp_causal_flow_t made = {0, 0, 0};
    ompp_replay_t *r;
    ompp_causal_object_t *o = open_interval(self, &r);
    const int flow = r ? ompp_replay_create(r, ompp_causal_flow_of(self), &self->own) : -1;

    if (flow >= 0) made = (ompp_causal_flow_t){o->object, self->part.generation, (uint32_t)flow};
    close_interval(o);
    return made;
}

void ompp_causal_note_arrived(ompp_causal_thread_t *self, const ompp_causal_flow_t *task)
{
    ompp_causal_object_t *o = task->team ? ompp_causal_object(OMPP_SYNC_BARRIER, task->team, true) : NULL;

    if (o && o->replayed == task->generation + 1 && !ompp_causal_takes_part(self, o, task->generation)) {
        const int member = ompp_replay_join(o->replay, &self->own);
        if (member >= 0) {
            self->part = (ompp_causal_part_t){o->object, task->generation, true, (unsigned)member, o->replay};
            ompp_replay_note(o->replay, (unsigned)member, OMPP_REPLAY_END, 0, &self->own);
        }
    }
    close_interval(o);
}

/* It is of no interval that is noted. */
static void watch_task(ompp_causal_thread_t *self, uint32_t slots)
{
    const uint64_t team = (uint64_t)(uintptr_t)ompp_event_team();
    ompp_causal_object_t *o = team ? ompp_causal_object(OMPP_SYNC_BARRIER, team, false) : NULL;
    const bool kept = o && o->kept;

    if (kept) o->overtaken[OMPP_WHATIF_BIT_TASK] |= slots;
    close_interval(o);
    if (kept) return;
    ompp_causal_spoil_order(self);
    ompp_causal_watch(OMPP_WHATIF_BIT_TASK, slots);
}

void ompp_causal_note_begin(ompp_causal_thread_t *self, int waiting, uint32_t slots)
{
    ompp_causal_object_t *o = self->flow.team ? ompp_causal_object(OMPP_SYNC_BARRIER, self->flow.team, true) : NULL;
    const bool noted = o && ompp_causal_takes_part(self, o, self->flow.generation);

    if (noted) {
        ompp_replay_begin(o->replay, self->flow.flow, waiting, &self->own);
        o->overtaken[OMPP_WHATIF_BIT_TASK] |= slots;
    } else if (o) {
        spoil(o, self->flow.generation);
    }
    close_interval(o);
    if (noted) return;
    watch_task(self, slots);
}

/* Nothing that does not belong to an interval begins one. */
static bool is_noted(const ompp_causal_thread_t *self)
{
    return self->task ? self->flow.team != 0 : self->part.team && !self->part.arrived;
}

void ompp_causal_note_end(ompp_causal_thread_t *self)
{
    if (is_noted(self)) ompp_causal_note(self, OMPP_REPLAY_END, 0, OMPP_WHATIF_BIT_TASK, 0);
}

void ompp_causal_note_wait(ompp_causal_thread_t *self)
{
    if (is_noted(self)) ompp_causal_note(self, OMPP_REPLAY_WAIT, 0, OMPP_WHATIF_BIT_TASK, 0);
}

void ompp_causal_note_waited(ompp_causal_thread_t *self)
{
    if (is_noted(self) && self->part.team) ompp_causal_interval_go_on(self);
}

/* ---- Locks ------------------------------------------------------------------------------------------------------- */

void ompp_causal_note_lock(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t mutex, bool foreign,
                           uint32_t slots)
{
    if (foreign || kind != OMPP_SYNC_MUTEX) ompp_causal_spoil_order(self);
    if (kind == OMPP_SYNC_READ) {
        ompp_causal_thread_group_spoil(self);
        ompp_causal_watch(OMPP_WHATIF_BIT_LOCK, slots);
    }
    if (kind == OMPP_SYNC_MUTEX) ompp_causal_note(self, OMPP_REPLAY_LOCK, mutex, OMPP_WHATIF_BIT_LOCK, slots);
}

void ompp_causal_note_unlock(ompp_causal_thread_t *self, uint64_t mutex)
{
    ompp_causal_note(self, OMPP_REPLAY_UNLOCK, mutex, OMPP_WHATIF_BIT_LOCK, 0);
}

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

static void watch_order(const ompp_causal_object_t *o, bool ok)
{
    for (unsigned f = 0; f < OMPP_WHATIF_FLAG_NUM; f++)
        if (f == OMPP_WHATIF_BIT_LOCK || f == OMPP_WHATIF_BIT_DYNAMIC || f == OMPP_WHATIF_BIT_TASK)
            ompp_causal_watch(f, ok ? 0 : o->overtaken[f]);
}

/* Nobody took part in noting it. */
static void estimate(ompp_causal_object_t *o, uint32_t generation)
{
    o->kept = 0;
    o->settled = generation + 1;
    watch_order(o, ompp_causal_estimate(&o->others[generation & 1], o->began));
}

/* All have come, and this is the first one that goes on. */
void ompp_causal_go_through(ompp_causal_object_t *o, uint32_t generation)
{
    if (o->kept == generation + 1) estimate(o, generation);
    if (o->replayed != generation + 1) return;
    o->replayed = 0;
    const bool spoiled = o->spoiled == generation + 1;
    if (spoiled) ompp_causal_give_up(o->replay);
    const bool right = !spoiled && ompp_causal_run_again(o->replay, &o->vector[generation & 1]);
    if (right) o->settled = generation + 1;
    watch_order(o, right && o->replay->fits);
}
