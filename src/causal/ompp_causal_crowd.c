/*
 * Threads outside of teams that one thread creates and joins: a crowd. What they do with locks from their creation
 * until the last is joined is gone through again like the interval of a team. When they wait for each other in another
 * way, or create threads of their own, the order stays as it was measured.
 */
#include "causal/ompp_causal_priv.h"
#include "causal/ompp_replay.h"

#include <pthread.h>
#include <sys/mman.h>

#define BETWEEN_JOINS 50000u /* ns: who is away from joining for longer works */
#define MAX_MEMBERS OMPP_REPLAY_MEMBERS

/* One at a time: while one of its threads is there, further ones belong to it. */
static struct {
    _Atomic uint32_t lock;
    ompp_replay_t *replay;
    const ompp_causal_thread_t *creator;
    uint32_t number; /* generation of parts */
    unsigned created, ended, joined;
    bool spoiled, noted, kept;
    unsigned nthreads;
    uint64_t threads[MAX_MEMBERS]; /* objects that are waited for when they are joined */
    ompp_time_t gone_on;           /* after the last join; 0 = none yet */
    ompp_fine_t began;             /* first note */
    ompp_stamp_t members, others;  /* at their ends: those that take part in what is noted, and the rest */
    uint16_t overtaken;            /* slots; put by until it is known whether this can be gone through again */
} crowd;

static bool is_there(void) { return crowd.created > crowd.ended || crowd.joined < crowd.created; }

/* Nothing more is gone through again: what the measured order hides is told like that of locks that belong to no
 * crowd. */
static void hand_on(void)
{
    if (crowd.noted) ompp_causal_watch(OMPP_WHATIF_BIT_LOCK, crowd.overtaken);
    crowd.noted = false;
    __atomic_store_n(&crowd.overtaken, 0, __ATOMIC_RELAXED);
}

static void spoil(void)
{
    if (crowd.noted && crowd.replay && !crowd.kept) ompp_causal_give_up(crowd.replay);
    crowd.spoiled = true;
    hand_on();
}

static void begin_crowd(const ompp_causal_thread_t *creator)
{
    spoil();
    crowd.creator = creator;
    crowd.number++;
    crowd.created = crowd.ended = crowd.joined = crowd.nthreads = 0;
    crowd.spoiled = crowd.kept = false;
    crowd.gone_on = 0;
    crowd.members.t = crowd.others.t = 0;
}

/* Of the crowd: its creator, and who was created in it. */
static bool belongs(const ompp_causal_thread_t *self)
{
    return is_there() && (self == crowd.creator || self->crowd == crowd.number);
}

void ompp_causal_crowd_create(ompp_causal_thread_t *self)
{
    if (ompp_causal.rule.delays) return;
    ompp_causal_lock(&crowd.lock);
    if (crowd.created == crowd.ended) begin_crowd(self); /* also when some were never joined */
    if (crowd.creator != self || crowd.joined) spoil();
    crowd.created++;
    ompp_causal_unlock(&crowd.lock);
}

void ompp_causal_crowd_not_created(ompp_causal_thread_t *self)
{
    if (ompp_causal.rule.delays) return;
    ompp_causal_lock(&crowd.lock);
    if (belongs(self)) crowd.created--;
    ompp_causal_unlock(&crowd.lock);
}

void ompp_causal_crowd_begin(ompp_causal_thread_t *self)
{
    if (ompp_causal.rule.delays) ompp_causal_was_made(self);
    if (ompp_causal.rule.delays) return;
    ompp_causal_lock(&crowd.lock);
    self->crowd = crowd.number;
    if (crowd.nthreads < MAX_MEMBERS) crowd.threads[crowd.nthreads++] = (uint64_t)pthread_self();
    else spoil();
    ompp_causal_unlock(&crowd.lock);
}

static bool takes_part(const ompp_causal_thread_t *self)
{
    return self->part.team == OMPP_CAUSAL_CROWD && self->part.generation == crowd.number;
}

/* ---- Noting ------------------------------------------------------------------------------------------------------ */

static bool open_replay(const ompp_causal_thread_t *self)
{
    if (!crowd.replay) {
        void *replay = mmap(NULL, sizeof *crowd.replay, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        crowd.replay = replay == MAP_FAILED ? NULL : replay;
    }
    if (!crowd.noted) {
        crowd.noted = true;
        crowd.began = self->own.t;
        if (crowd.replay) {
            ompp_replay_reset(crowd.replay, self->clocks.set);
            crowd.replay->drawn = ompp_causal_afford(self->own.t);
            crowd.kept = crowd.replay->drawn <= 0;
        }
    }
    return crowd.replay && !crowd.kept;
}

static bool take_part(ompp_causal_thread_t *self)
{
    if (takes_part(self)) return true;
    const int member = ompp_replay_join(crowd.replay, &self->own);
    if (member < 0) return false;
    self->part = (ompp_causal_part_t){OMPP_CAUSAL_CROWD, crowd.number, false, (unsigned)member, crowd.replay};
    return true;
}

bool ompp_causal_crowd_note(ompp_causal_thread_t *self, unsigned op, uint64_t lock, uint16_t slots)
{
    bool noted = false, told = false;

    ompp_causal_lock(&crowd.lock);
    if (belongs(self) && !crowd.spoiled && !(self == crowd.creator && crowd.gone_on)) {
        noted = open_replay(self) && take_part(self);
        if (noted) ompp_replay_note(crowd.replay, self->part.member, (ompp_replay_op_t)op, lock, &self->own);
        told = noted || crowd.kept;
        if (told) __atomic_store_n(&crowd.overtaken, crowd.overtaken | slots, __ATOMIC_RELAXED);
        if (told && slots) atomic_store_explicit(&ompp_causal.flagged, true, memory_order_relaxed);
        if (crowd.replay && crowd.replay->spoiled) spoil();
    }
    if (!noted) self->part.team = 0;
    ompp_causal_unlock(&crowd.lock);
    return told;
}

static void end_part(ompp_causal_thread_t *self)
{
    const bool part = takes_part(self);

    if (part) ompp_replay_note(crowd.replay, self->part.member, OMPP_REPLAY_END, 0, &self->own);
    ompp_clocks_combine(part ? &crowd.members : &crowd.others, &self->own);
    self->part.team = 0;
}

void ompp_causal_crowd_end(ompp_causal_thread_t *self)
{
    if (ompp_causal.rule.delays) return;
    ompp_causal_lock(&crowd.lock);
    if (self->crowd == crowd.number) {
        end_part(self);
        crowd.ended++;
        self->crowd = 0;
    }
    ompp_causal_unlock(&crowd.lock);
}

void ompp_causal_crowd_spoil(ompp_causal_thread_t *self)
{
    if (ompp_causal.rule.delays) return;
    ompp_causal_lock(&crowd.lock);
    if (belongs(self)) spoil();
    ompp_causal_unlock(&crowd.lock);
}

uint16_t ompp_causal_crowd_overtaken(void) { return __atomic_load_n(&crowd.overtaken, __ATOMIC_RELAXED); }

void ompp_causal_crowd_turn(void)
{
    ompp_causal_lock(&crowd.lock);
    __atomic_store_n(&crowd.overtaken, 0, __ATOMIC_RELAXED);
    ompp_causal_unlock(&crowd.lock);
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

static bool is_known(uint64_t object)
{
    for (unsigned i = 0; i < crowd.nthreads; i++)
        if (crowd.threads[i] == object) return true;
    return false;
}

/* All have ended, and are joined. \return whether self->other says what the creator goes on with. */
static bool finish(ompp_causal_thread_t *self)
{
    const bool again = crowd.noted && !crowd.spoiled && !crowd.kept && crowd.members.t > 0;
    bool right = again && ompp_causal_run_again(crowd.replay, &crowd.members);

    bool good = right && crowd.replay->fits;

    if (crowd.kept && !crowd.spoiled) {
        good = ompp_causal_estimate(&crowd.others, crowd.began);
        right = true;
    }
    if (good) __atomic_store_n(&crowd.overtaken, 0, __ATOMIC_RELAXED);
    hand_on();
    if (!right) return false;
    ompp_stamp_copy(&self->other, &crowd.members);
    ompp_clocks_combine(&self->other, &crowd.others);
    ompp_clocks_yield(&self->clocks, &self->other);
    return true;
}

static void note_join(ompp_causal_thread_t *creator, ompp_time_t begin, ompp_time_t t)
{
    ompp_clocks_stamp(&ompp_causal.rule, &creator->clocks, &creator->own, begin);
    if (!crowd.gone_on) end_part(creator);
    else if (begin > crowd.gone_on + BETWEEN_JOINS) spoil();
    crowd.gone_on = t;
}

bool ompp_causal_crowd_join(ompp_causal_thread_t *self, uint64_t object, ompp_time_t t)
{
    const ompp_time_t begin = self->clocks.waiting ? self->clocks.waiting : t;
    bool done = false;

    if (ompp_causal.rule.delays) return false;
    ompp_causal_lock(&crowd.lock);
    if (belongs(self)) {
        const bool known = is_known(object);
        if (self != crowd.creator || !known) spoil();
        else note_join(self, begin, t);
        crowd.joined += known;
        if (known && crowd.joined == crowd.created && crowd.ended == crowd.created) done = finish(self);
    }
    ompp_causal_unlock(&crowd.lock);
    return done;
}
