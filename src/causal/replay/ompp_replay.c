/*
 * What threads did between two barriers, gone through again on each clock: a simulation whose events are the ends of
 * pieces.
 */
#include "causal/replay/ompp_replay.h"

#include <string.h>

#define REAL OMPP_CLOCKS /* number of the clock without speed-up */
#define WAKE 50000u      /* ns until who is woken for a lock is there: whoever comes meanwhile passes it */
#define IN_STEP 2        /* times as many do so as by chance */
#define STEP 100000u     /* ns from lock to lock: with so much less a thread comes no longer in step */
#define FEW 10u          /* one task in so many may begin in another place than measured */

/* ---- What follows what ------------------------------------------------------------------------------------------- */

static void link_pieces(ompp_replay_t *r)
{
    for (unsigned f = 0; f < OMPP_REPLAY_MEMBERS + r->ntasks; f++) r->flows[f].first = r->flows[f].last = 0;
    for (unsigned i = 0; i < r->npieces; i++) {
        ompp_piece_t *p = &r->pieces[i];
        uint16_t *last = &r->flows[p->flow].last;
        if (*last) r->pieces[*last - 1].next = (uint16_t)(i + 1);
        else r->flows[p->flow].first = (uint16_t)(i + 1);
        *last = (uint16_t)(i + 1);
        p->next = p->after = 0;
    }
}

/* Iterations by loop, in the order in which they were handed out; and where each member goes on behind its loops. */
static void find_units(ompp_replay_t *r)
{
    uint16_t n = 0, in[OMPP_REPLAY_MEMBERS];

    r->nloops = 0;
    for (unsigned m = 0; m < r->nmembers; m++)
        if (r->members[m].loops > r->nloops) r->nloops = r->members[m].loops;
    for (unsigned loop = 0; loop < r->nloops; loop++) {
        memset(in, 0, sizeof in);
        r->loop_begin[loop] = n;
        for (unsigned i = 0; i < r->npieces; i++) {
            const ompp_piece_t *p = &r->pieces[i];
            if (p->flow >= OMPP_REPLAY_MEMBERS) continue;
            if (p->op == OMPP_REPLAY_LOOP && p->object == loop) in[p->flow] = (uint16_t)(i + 1);
            if (!in[p->flow]) continue;
            if (p->op == OMPP_REPLAY_LOOP_END) {
                r->pieces[in[p->flow] - 1].after = p->next;
                in[p->flow] = 0;
            } else if ((p->op == OMPP_REPLAY_LOOP || p->op == OMPP_REPLAY_CHUNK) && p->next) {
                r->units[n++] = p->next;
            }
        }
    }
    r->loop_begin[r->nloops] = n;
}

static int lock_of(ompp_replay_t *r, uint64_t object)
{
    unsigned i = 0;

    while (i < r->nlocks && r->locks[i].object != object) i++;
    if (i == OMPP_REPLAY_LOCKS) return -1;
    if (i == r->nlocks) r->locks[r->nlocks++].object = object;
    return (int)i;
}

/* From now on the lock of a piece is its number. */
static bool number_locks(ompp_replay_t *r)
{
    r->nlocks = 0;
    for (unsigned i = 0; i < r->npieces; i++) {
        ompp_piece_t *p = &r->pieces[i];
        if (p->op != OMPP_REPLAY_LOCK && p->op != OMPP_REPLAY_UNLOCK) continue;
        const int lock = lock_of(r, p->object);
        if (lock < 0) return false;
        p->object = (uint64_t)lock;
    }
    return true;
}

static bool prepare(ompp_replay_t *r)
{
    for (unsigned m = 0; m < r->nmembers; m++)
        if (!r->flows[m].ended) return false;
    if (r->nopen) return false;
    link_pieces(r);
    find_units(r);
    return number_locks(r);
}

/* ---- Going through it on one clock ------------------------------------------------------------------------------- */

static ompp_fine_t duration(const ompp_piece_t *p, unsigned clock) { return clock == REAL ? p->real : p->v[clock]; }

/* The member is at work on a piece, and comes to its end; without one, it is at the barrier. */
static void go_to(ompp_replay_t *r, ompp_replayer_t *m, uint16_t piece, unsigned clock)
{
    m->at = piece;
    if (piece) m->time += duration(&r->pieces[piece - 1], clock);
}

/* More iterations of its loop; when there are none it goes on behind it. */
static void hand_out(ompp_replay_t *r, ompp_replayer_t *m, unsigned clock)
{
    uint16_t *next = &r->loop_next[m->loop];

    if (*next < r->loop_begin[m->loop + 1]) {
        go_to(r, m, r->units[(*next)++], clock);
    } else {
        m->loop = -1;
        go_to(r, m, m->after, clock);
    }
}

static void lock(ompp_replay_t *r, unsigned member, const ompp_piece_t *p, unsigned clock)
{
    ompp_replayer_t *m = &r->replayers[member];

    if (r->ideal && clock == OMPP_WHATIF_NO_LOCKS) {
        go_to(r, m, p->next, clock);
    } else if (r->locks[p->object].holder < 0) {
        r->locks[p->object].holder = (int)member;
        go_to(r, m, p->next, clock);
    } else {
        m->waits = (uint16_t)(p->object + 1);
        r->locks[p->object].queue[r->locks[p->object].nqueue++] = (uint16_t)member;
    }
}

/* The lock goes to the one that has waited for longest. */
static void unlock(ompp_replay_t *r, unsigned member, const ompp_piece_t *p, unsigned clock)
{
    ompp_replayer_t *m = &r->replayers[member];

    if (r->locks[p->object].holder == (int)member) {
        r->locks[p->object].holder = -1;
        if (r->locks[p->object].nqueue) {
            const unsigned other = r->locks[p->object].queue[0];
            memmove(r->locks[p->object].queue, r->locks[p->object].queue + 1,
                    --r->locks[p->object].nqueue * sizeof r->locks[0].queue[0]);
            r->locks[p->object].holder = (int)other;
            r->replayers[other].waits = 0;
            r->waited += m->time - r->replayers[other].time;
            r->replayers[other].time = m->time;
            go_to(r, &r->replayers[other], r->pieces[r->replayers[other].at - 1].next, clock);
        }
    }
    go_to(r, m, p->next, clock);
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

/* Who waits for its tasks runs these, or any; who is at the barrier, any. */
static bool may_run(const ompp_replay_t *r, const ompp_replayer_t *m, unsigned task)
{
    if (m->depth == 0 || r->any_task) return true;
    return r->flows[task].parent == r->pieces[m->waiting[m->depth - 1] - 1].flow;
}

/* Whether the member takes a rather than b, which is older. */
static bool prefers(const ompp_replay_t *r, unsigned member, unsigned a, unsigned b)
{
    switch (r->policy) {
    case OMPP_REPLAY_OWN_NEWEST: return r->states[a].maker == member;
    case OMPP_REPLAY_AS_MEASURED: return r->flows[a].begun < r->flows[b].begun;
    default: return false;
    }
}

/* \return position among those that are ready; -1 = none that it may run. */
static int choose(const ompp_replay_t *r, unsigned member)
{
    int best = -1;

    for (unsigned i = 0; i < r->nready; i++)
        if (may_run(r, &r->replayers[member], r->ready[i]) &&
            (best < 0 || prefers(r, member, r->ready[i], r->ready[best])))
            best = (int)i;
    return best;
}

static bool waits_no_longer(const ompp_replay_t *r, const ompp_replayer_t *m)
{
    return m->depth > 0 && r->states[r->pieces[m->waiting[m->depth - 1] - 1].flow].children == 0;
}

/* The member, which is free, goes on with what it waited to do, or with a task. */
static void find_work(ompp_replay_t *r, unsigned member, unsigned clock)
{
    ompp_replayer_t *m = &r->replayers[member];
    int i;

    if (waits_no_longer(r, m)) {
        go_to(r, m, r->pieces[m->waiting[--m->depth] - 1].next, clock);
        return;
    }
    i = choose(r, member);
    if (i < 0) return;
    const unsigned task = r->ready[i];
    memmove(&r->ready[i], &r->ready[i + 1], (--r->nready - (unsigned)i) * sizeof r->ready[0]);
    r->nswaps += r->flows[task].begun != ++r->nstarted;
    go_to(r, m, r->flows[task].first, clock);
}

/* At the barrier, or waiting for tasks. */
static bool is_free(const ompp_replayer_t *m) { return !m->at; }

static void wake(ompp_replay_t *r, unsigned member, ompp_fine_t now, unsigned clock)
{
    if (r->replayers[member].time < now) r->replayers[member].time = now;
    find_work(r, member, clock);
}

/* Of those that are free and may run it, the one that has been for longest. */
static void offer(ompp_replay_t *r, unsigned task, ompp_fine_t now, unsigned clock)
{
    int first = -1;

    for (unsigned i = 0; i < r->nmembers; i++) {
        const ompp_replayer_t *m = &r->replayers[i];
        if (is_free(m) && may_run(r, m, task) && (first < 0 || m->time < r->replayers[first].time)) first = (int)i;
    }
    if (first >= 0) wake(r, (unsigned)first, now, clock);
}

static void create(ompp_replay_t *r, unsigned member, const ompp_piece_t *p, unsigned clock)
{
    ompp_replayer_t *m = &r->replayers[member];
    const unsigned task = (unsigned)p->object;
    const ompp_fine_t now = m->time;

    r->states[task].maker = (uint16_t)member;
    r->states[p->flow].children++;
    r->ready[r->nready++] = (uint16_t)task;
    go_to(r, m, p->next, clock);
    offer(r, task, now, clock);
}

static bool wait_for_tasks(ompp_replay_t *r, unsigned member, unsigned clock)
{
    ompp_replayer_t *m = &r->replayers[member];

    if (m->depth == OMPP_REPLAY_DEPTH) return false;
    m->waiting[m->depth++] = m->at;
    m->at = 0;
    find_work(r, member, clock);
    return true;
}

/* A task is over: whoever waited for it goes on, and the thread is free. */
static void end_task(ompp_replay_t *r, unsigned member, const ompp_piece_t *p, unsigned clock)
{
    const ompp_fine_t now = r->replayers[member].time;

    r->states[r->flows[p->flow].parent].children--;
    r->replayers[member].at = 0;
    for (unsigned i = 0; i < r->nmembers; i++)
        if (i != member && is_free(&r->replayers[i]) && waits_no_longer(r, &r->replayers[i])) wake(r, i, now, clock);
    find_work(r, member, clock);
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

/* \return false when this cannot be gone through. */
static bool act(ompp_replay_t *r, unsigned member, unsigned clock)
{
    ompp_replayer_t *m = &r->replayers[member];
    const ompp_piece_t *p = &r->pieces[m->at - 1];

    switch (p->op) {
    case OMPP_REPLAY_LOCK: lock(r, member, p, clock); break;
    case OMPP_REPLAY_UNLOCK: unlock(r, member, p, clock); break;
    case OMPP_REPLAY_LOOP:
        m->loop = (int)p->object;
        m->after = p->after;
        hand_out(r, m, clock);
        break;
    case OMPP_REPLAY_CREATE: create(r, member, p, clock); break;
    case OMPP_REPLAY_WAIT: return wait_for_tasks(r, member, clock);
    default: /* the end of a task, or of iterations, whoever had them in the measured program */
        if (p->flow >= OMPP_REPLAY_MEMBERS) {
            end_task(r, member, p, clock);
        } else if (m->loop >= 0) {
            hand_out(r, m, clock);
        } else {
            m->at = 0;
            find_work(r, member, clock);
        }
    }
    return true;
}

static void start(ompp_replay_t *r, unsigned clock)
{
    for (unsigned m = 0; m < r->nmembers; m++) {
        r->replayers[m] = (ompp_replayer_t){.loop = -1};
        r->replayers[m].time =
            clock == REAL ? r->members[m].begin.t : ompp_clock_vector_at(&r->members[m].begin, clock);
        go_to(r, &r->replayers[m], r->flows[m].first, clock);
    }
    for (unsigned f = 0; f < OMPP_REPLAY_MEMBERS + r->ntasks; f++) r->states[f].children = 0;
    r->nready = r->nstarted = r->nswaps = 0;
    r->waited = 0;
    for (unsigned i = 0; i < r->nlocks; i++) {
        r->locks[i].holder = -1;
        r->locks[i].nqueue = 0;
    }
    memcpy(r->loop_next, r->loop_begin, r->nloops * sizeof r->loop_next[0]);
}

/* \return when all are at the barrier, and free; negative = some wait for locks that nobody gives back, or for tasks
 * that nobody runs. */
static ompp_fine_t end_on(ompp_replay_t *r, unsigned clock)
{
    ompp_fine_t last = 0;

    start(r, clock);
    for (;;) {
        int first = -1;
        for (unsigned m = 0; m < r->nmembers; m++) {
            const ompp_replayer_t *p = &r->replayers[m];
            if (p->at && !p->waits && (first < 0 || p->time < r->replayers[first].time)) first = (int)m;
        }
        if (first < 0) break;
        if (!act(r, (unsigned)first, clock)) return -1;
    }
    if (r->nready) return -1;
    for (unsigned m = 0; m < r->nmembers; m++) {
        if (r->replayers[m].waits || r->replayers[m].depth) return -1;
        if (r->replayers[m].time > last) last = r->replayers[m].time;
    }
    return last;
}

/* All began with the same offset, and nothing was saved since. \param[out] o  that offset. */
static bool is_untouched(const ompp_replay_t *r, unsigned slot, ompp_fine_t o[OMPP_WHATIF_SPEEDUPS])
{
    const unsigned clock = slot * OMPP_WHATIF_SPEEDUPS;

    if (r->ideal && slot == OMPP_CLOCKS_IDEAL && r->nlocks) return false;
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        o[k] = r->members[0].begin.t - ompp_clock_vector_at(&r->members[0].begin, clock + k);
        for (unsigned m = 1; m < r->nmembers; m++)
            if (r->members[m].begin.t - ompp_clock_vector_at(&r->members[m].begin, clock + k) != o[k]) return false;
        for (unsigned i = 0; i < r->npieces; i++)
            if (r->pieces[i].v[clock + k] != r->pieces[i].real) return false;
    }
    return true;
}

static ompp_fine_t distance(ompp_fine_t a, ompp_fine_t b) { return a > b ? a - b : b - a; }

ompp_fine_t ompp_replay_length(const ompp_replay_t *r, ompp_fine_t end)
{
    ompp_fine_t begin = end;

    for (unsigned m = 0; m < r->nmembers; m++)
        if (r->members[m].begin.t < begin) begin = r->members[m].begin.t;
    return end - begin;
}

/*
 * Goes through what was measured. Which task a thread takes is as most of them began then; if no rule gives that, as it
 * comes nearest to the measured end. Whether it fits: locks and runtimes do other things, too. \return its end;
 * negative = none.
 */
static ompp_fine_t end_of_model(ompp_replay_t *r, ompp_fine_t measured)
{
    ompp_fine_t ends[OMPP_REPLAY_POLICIES];
    unsigned swaps[OMPP_REPLAY_POLICIES], best = 0;
    const unsigned n = r->ntasks ? OMPP_REPLAY_POLICIES : 1;

    for (unsigned i = 0; i < n; i++) {
        r->policy = (ompp_replay_policy_t)i;
        ends[i] = end_on(r, REAL);
        swaps[i] = r->nswaps;
    }
    if (n > 1 && swaps[OMPP_REPLAY_OWN_NEWEST] < swaps[OMPP_REPLAY_OLDEST]) best = OMPP_REPLAY_OWN_NEWEST;
    for (unsigned i = 0; i < n && FEW * swaps[best] > r->ntasks; i++)
        if (ends[best] < 0 || (ends[i] >= 0 && distance(ends[i], measured) < distance(ends[best], measured))) best = i;
    r->policy = (ompp_replay_policy_t)best;
    r->fits = ends[best] >= 0 && 50 * distance(ends[best], measured) <= ompp_replay_length(r, measured);
    return ends[best];
}

/*
 * Threads come to a lock just when others leave it, and pass who is woken for it: more often than by chance, for what
 * they do in between takes as long as what others do with the lock.
 */
static bool are_in_step(const ompp_replay_t *r, ompp_fine_t end)
{
    /* x 1 / length */
    const double length = ompp_replay_length(r, end) / OMPP_FINE, chance = (double)r->nlocked * r->nlocked * WAKE;

    return r->npassed > 0 && r->npassed * length > IN_STEP * chance;
}

/* \return by how much what a thread does between two locks is shorter on a clock, 1 = so much that it comes no longer
 * in step. */
static double out_of_step(const ompp_replay_t *r, unsigned clock)
{
    double shorter = 0;

    for (unsigned i = 0; i < r->npieces; i++) {
        const ompp_piece_t *p = &r->pieces[i];
        const bool between = p->op == OMPP_REPLAY_LOCK || p->op == OMPP_REPLAY_UNLOCK;
        if (between && r->flows[p->flow].first != i + 1) shorter += p->real - duration(p, clock);
    }
    shorter /= (double)r->nlocked * STEP * OMPP_FINE;
    return shorter < 0 ? 0 : shorter < 1 ? shorter : 1;
}

/*
 * The measured program takes longer than the model, where locks take time to be handed over, or let threads pass that
 * did not come first. So much of that remains on a clock as remains of the waiting for locks; of passing, nothing where
 * threads come no longer in step.
 */
static ompp_fine_t remains(const ompp_replay_t *r, unsigned clock, ompp_fine_t excess, ompp_fine_t waited)
{
    const double still = waited > 0 && r->waited < waited ? r->waited / waited : 1;
    const double left = excess - (r->passed > 0 ? r->passed * out_of_step(r, clock) : 0);

    return (ompp_fine_t)(int64_t)(left < excess * still ? left : excess * still);
}

bool ompp_replay_run(ompp_replay_t *r, ompp_clock_vector_t *vector)
{
    ompp_fine_t o[OMPP_WHATIF_SPEEDUPS], saved[OMPP_CLOCKS];

    if (r->spoiled || !r->nmembers || vector->set != r->set || !prepare(r)) return false;
    const ompp_fine_t end = end_of_model(r, vector->t), excess = vector->t - end;
    if (end < 0) return false;
    const ompp_fine_t waited = r->nlocks && end_on(r, REAL) >= 0 ? r->waited : 0;
    r->passed = r->fits || excess <= 0 || !are_in_step(r, vector->t) ? 0 : excess < waited ? excess : waited;
    for (unsigned s = 0; s < r->used / OMPP_WHATIF_SPEEDUPS; s++) {
        const bool untouched = is_untouched(r, s, o);
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
            const unsigned clock = s * OMPP_WHATIF_SPEEDUPS + k;
            const ompp_fine_t then = untouched ? end - o[k] : end_on(r, clock);
            if (then < 0) return false;
            saved[clock] = end - then + (untouched ? 0 : excess - remains(r, clock, excess, waited));
        }
    }
    ompp_clock_vector_widen(vector, r->used);
    for (unsigned i = 0; i < r->used; i++) vector->v[i] = vector->t - saved[i];
    return true;
}
