/*
 * Threads outside of teams that one thread creates and joins: a thread group. What they do with locks from their
 * creation until the last is joined is gone through again like the interval of a team. When they wait for each other in
 * another way, or create threads of their own, the order stays as it was measured.
 */
#include "base/ompp_pages.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/replay/ompp_replay.h"
#include "causal/result/ompp_causal_result_priv.h"

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
    uint64_t threads[MAX_MEMBERS];       /* objects that are waited for when they are joined */
    ompp_time_t gone_on;                 /* after the last join; 0 = none yet */
    ompp_fine_t began;                   /* first note */
    ompp_clock_vector_t members, others; /* at their ends: those that take part in what is noted, and the rest */
    uint32_t overtaken;                  /* slots; put by until it is known whether this can be gone through again */
} thread_group;

static bool is_there(void)
{
    return thread_group.created > thread_group.ended || thread_group.joined < thread_group.created;
}

/* Nothing more is gone through again: what the measured order hides is told like that of locks that belong to no
 * thread group. */
static void hand_on(void)
{
    if (thread_group.noted) ompp_causal_watch(OMPP_WHATIF_BIT_LOCK, thread_group.overtaken);
    thread_group.noted = false;
    __atomic_store_n(&thread_group.overtaken, 0, __ATOMIC_RELAXED);
}

static void spoil(void)
{
    if (thread_group.noted && thread_group.replay && !thread_group.kept) ompp_causal_give_up(thread_group.replay);
    thread_group.spoiled = true;
    hand_on();
}

static void begin_thread_group(const ompp_causal_thread_t *creator)
{
    spoil();
    thread_group.creator = creator;
    thread_group.number++;
    thread_group.created = thread_group.ended = thread_group.joined = thread_group.nthreads = 0;
    thread_group.spoiled = thread_group.kept = false;
    thread_group.gone_on = 0;
    thread_group.members.t = thread_group.others.t = 0;
}

/* Of the thread group: its creator, and who was created in it. */
static bool belongs(const ompp_causal_thread_t *self)
{
    return is_there() && (self == thread_group.creator || self->thread_group == thread_group.number);
}

static void create(ompp_causal_thread_t *self)
{
    if (thread_group.created == thread_group.ended) begin_thread_group(self); /* also when some were never joined */
    if (thread_group.creator != self || thread_group.joined) spoil();
    thread_group.created++;
}

static void not_created(ompp_causal_thread_t *self)
{
    if (belongs(self)) thread_group.created--;
}

static void begin(ompp_causal_thread_t *self)
{
    self->thread_group = thread_group.number;
    if (thread_group.nthreads < MAX_MEMBERS) thread_group.threads[thread_group.nthreads++] = (uint64_t)pthread_self();
    else spoil();
}

static bool takes_part(const ompp_causal_thread_t *self)
{
    return self->part.team == OMPP_CAUSAL_THREAD_GROUP && self->part.generation == thread_group.number;
}

/* ---- Noting ------------------------------------------------------------------------------------------------------ */

static bool open_replay(const ompp_causal_thread_t *self)
{
    if (!thread_group.replay) {
        void *replay = ompp_mmap(NULL, sizeof *thread_group.replay, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        thread_group.replay = replay == MAP_FAILED ? NULL : replay;
    }
    if (!thread_group.noted) {
        thread_group.noted = true;
        thread_group.began = self->own.t;
        if (thread_group.replay) {
            ompp_replay_reset(thread_group.replay, self->clocks.set);
            thread_group.replay->ideal = ompp_causal.rule.ideal;
            thread_group.replay->drawn = ompp_causal_afford(self->own.t);
            thread_group.kept = thread_group.replay->drawn <= 0;
        }
    }
    return thread_group.replay && !thread_group.kept;
}

static bool take_part(ompp_causal_thread_t *self)
{
    if (takes_part(self)) return true;
    const int member = ompp_replay_join(thread_group.replay, &self->own);
    if (member < 0) return false;
    self->part = (ompp_causal_part_t){OMPP_CAUSAL_THREAD_GROUP, thread_group.number, false, (unsigned)member,
                                      thread_group.replay};
    return true;
}

bool ompp_causal_thread_group_note(ompp_causal_thread_t *self, unsigned op, uint64_t lock, uint32_t slots)
{
    bool noted = false, covered = false;

    ompp_causal_lock(&thread_group.lock);
    if (belongs(self) && !thread_group.spoiled && !(self == thread_group.creator && thread_group.gone_on)) {
        noted = open_replay(self) && take_part(self);
        if (noted) ompp_replay_note(thread_group.replay, self->part.member, (ompp_replay_op_t)op, lock, &self->own);
        covered = noted || thread_group.kept;
        if (covered) __atomic_store_n(&thread_group.overtaken, thread_group.overtaken | slots, __ATOMIC_RELAXED);
        if (covered && slots) atomic_store_explicit(&ompp_causal.flagged, true, memory_order_relaxed);
        if (thread_group.replay && thread_group.replay->spoiled) spoil();
    }
    if (!noted) self->part.team = 0;
    ompp_causal_unlock(&thread_group.lock);
    return covered;
}

static void end_part(ompp_causal_thread_t *self)
{
    const bool part = takes_part(self);

    if (part) ompp_replay_note(thread_group.replay, self->part.member, OMPP_REPLAY_END, 0, &self->own);
    ompp_clocks_combine(part ? &thread_group.members : &thread_group.others, &self->own);
    self->part.team = 0;
}

static void end(ompp_causal_thread_t *self)
{
    if (self->thread_group != thread_group.number) return;
    end_part(self);
    thread_group.ended++;
    self->thread_group = 0;
}

void ompp_causal_thread(ompp_sync_thread_t what)
{
    static void (*const events[OMPP_SYNC_THREAD_NUM])(ompp_causal_thread_t *) = {
        [OMPP_SYNC_THREAD_CREATE] = create,
        [OMPP_SYNC_THREAD_NOT_CREATED] = not_created,
        [OMPP_SYNC_THREAD_BEGIN] = begin,
        [OMPP_SYNC_THREAD_END] = end,
    };
    ompp_causal_thread_t *const self = ompp_causal_enter();

    if (!self) return;
    ompp_causal_lock(&thread_group.lock);
    events[what](self);
    ompp_causal_unlock(&thread_group.lock);
    ompp_causal_leave(self);
}

void ompp_causal_thread_group_spoil(ompp_causal_thread_t *self)
{
    ompp_causal_lock(&thread_group.lock);
    if (belongs(self)) spoil();
    ompp_causal_unlock(&thread_group.lock);
}

uint32_t ompp_causal_thread_group_overtaken(void) { return __atomic_load_n(&thread_group.overtaken, __ATOMIC_RELAXED); }

void ompp_causal_thread_group_turn(void)
{
    ompp_causal_lock(&thread_group.lock);
    __atomic_store_n(&thread_group.overtaken, 0, __ATOMIC_RELAXED);
    ompp_causal_unlock(&thread_group.lock);
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

static bool is_known(uint64_t object)
{
    for (unsigned i = 0; i < thread_group.nthreads; i++)
        if (thread_group.threads[i] == object) return true;
    return false;
}

/* All have ended, and are joined. \return whether self->other says what the creator goes on with. */
static bool finish(ompp_causal_thread_t *self)
{
    const bool again = thread_group.noted && !thread_group.spoiled && !thread_group.kept && thread_group.members.t > 0;
    bool right = again && ompp_causal_run_again(thread_group.replay, &thread_group.members);

    bool ok = right && thread_group.replay->fits;

    if (thread_group.kept && !thread_group.spoiled) {
        ok = ompp_causal_estimate(&thread_group.others, thread_group.began);
        right = true;
    }
    if (ok) __atomic_store_n(&thread_group.overtaken, 0, __ATOMIC_RELAXED);
    hand_on();
    if (!right) return false;
    ompp_clock_vector_copy(&self->other, &thread_group.members);
    ompp_clocks_combine(&self->other, &thread_group.others);
    ompp_clocks_yield(&self->clocks, &self->other);
    return true;
}

static void note_join(ompp_causal_thread_t *creator, ompp_time_t begin, ompp_time_t t)
{
    ompp_clocks_publish(&ompp_causal.rule, &creator->clocks, &creator->own, begin);
    if (!thread_group.gone_on) end_part(creator);
    else if (begin > thread_group.gone_on + BETWEEN_JOINS) spoil();
    thread_group.gone_on = t;
}

bool ompp_causal_thread_group_join(ompp_causal_thread_t *self, uint64_t object, ompp_time_t t)
{
    const ompp_time_t begin = self->clocks.waiting ? self->clocks.waiting : t;
    bool done = false;

    ompp_causal_lock(&thread_group.lock);
    if (belongs(self)) {
        const bool known = is_known(object);
        if (self != thread_group.creator || !known) spoil();
        else note_join(self, begin, t);
        thread_group.joined += known;
        if (known && thread_group.joined == thread_group.created && thread_group.ended == thread_group.created)
            done = finish(self);
    }
    ompp_causal_unlock(&thread_group.lock);
    return done;
}
