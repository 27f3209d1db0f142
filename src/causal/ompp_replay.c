/*
 * What threads did between two barriers, gone through again on each clock: a simulation whose events are the ends of pieces.
 */
#include "causal/ompp_replay.h"

#include <stddef.h>
#include <string.h>

#define REAL OMPP_CLOCKS /* number of the clock without speed-up */

void ompp_replay_reset(ompp_replay_t *r, uint64_t set)
{
    memset(r, 0, offsetof(ompp_replay_t, members));
    r->set = set;
    r->grain = OMPP_REPLAY_GRAIN;
}

int ompp_replay_join(ompp_replay_t *r, const ompp_stamp_t *now)
{
    if (r->nmembers == OMPP_REPLAY_MEMBERS || now->set != r->set) {
        r->spoiled = true;
        return -1;
    }
    const unsigned m = r->nmembers++;
    r->members[m].begin = r->members[m].since = *now;
    r->members[m].first = r->members[m].last = 0;
    r->members[m].loops = 0;
    r->members[m].in_loop = r->members[m].ended = false;
    return (int)m;
}

/* ---- Noting ----------------------------------------------------------------------------------------------------------- */

static void add(ompp_replay_t *r, unsigned m, ompp_replay_op_t op, uint64_t object, const ompp_stamp_t *now)
{
    const ompp_stamp_t *since = &r->members[m].since;
    ompp_piece_t *p = &r->pieces[r->npieces++];

    *p = (ompp_piece_t){.member = (uint16_t)m, .op = (uint16_t)op, .object = object, .real = now->t - since->t};
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) p->v[i] = now->v[i] - since->v[i];
    r->members[m].since = *now;
}

/* Two pieces of iterations that a member had one after the other become one. */
static void coarsen(ompp_replay_t *r)
{
    uint16_t open[OMPP_REPLAY_MEMBERS] = {0}; /* a CHUNK that is to go, + 1 */
    bool gone[OMPP_REPLAY_PIECES] = {false};
    unsigned kept = 0;

    for (unsigned i = 0; i < r->npieces; i++) {
        ompp_piece_t *p = &r->pieces[i];
        const unsigned before = open[p->member];
        open[p->member] = 0;
        if (before) {
            const ompp_piece_t *q = &r->pieces[before - 1];
            gone[before - 1] = true;
            p->real += q->real;
            for (unsigned k = 0; k < OMPP_CLOCKS; k++) p->v[k] += q->v[k];
        } else if (p->op == OMPP_REPLAY_CHUNK) {
            open[p->member] = (uint16_t)(i + 1);
        }
    }
    for (unsigned i = 0; i < r->npieces; i++)
        if (!gone[i]) r->pieces[kept++] = r->pieces[i];
    r->npieces = kept;
    r->grain *= 2;
}

static bool has_room(ompp_replay_t *r)
{
    if (r->npieces + 2 * r->nmembers + 1 >= OMPP_REPLAY_PIECES) coarsen(r);
    if (r->npieces + r->nmembers + 1 >= OMPP_REPLAY_PIECES) r->spoiled = true;
    return !r->spoiled;
}

static ompp_time_t whole(ompp_fine_t t)
{
    return (ompp_time_t)(t / OMPP_FINE);
}

void ompp_replay_note(ompp_replay_t *r, unsigned member, ompp_replay_op_t op, uint64_t object, const ompp_stamp_t *now)
{
    const ompp_time_t t = whole(now->t);

    if (op == OMPP_REPLAY_CHUNK && !r->members[member].in_loop) op = OMPP_REPLAY_LOOP; /* nobody has told of the loop */
    if (now->set != r->set) r->spoiled = true;
    if (r->spoiled || (op != OMPP_REPLAY_END && !has_room(r))) return;
    switch (op) {
    case OMPP_REPLAY_LOOP:
        if (r->members[member].in_loop) add(r, member, OMPP_REPLAY_LOOP_END, 0, now);
        object = r->members[member].loops++;
        r->members[member].in_loop = true;
        r->members[member].unit = t;
        break;
    case OMPP_REPLAY_CHUNK:
        if (t - r->members[member].unit < r->grain) return;
        r->members[member].unit = t;
        break;
    case OMPP_REPLAY_LOOP_END:
        if (!r->members[member].in_loop) add(r, member, OMPP_REPLAY_LOOP, r->members[member].loops++, now); /* it got none */
        r->members[member].in_loop = false;
        break;
    case OMPP_REPLAY_END:
        r->members[member].ended = true;
        break;
    default:
        break;
    }
    add(r, member, op, object, now);
}

void ompp_replay_go_on(ompp_replay_t *r, unsigned member, const ompp_stamp_t *now)
{
    if (now->set != r->set) r->spoiled = true;
    r->members[member].since = *now;
}

/* ---- What follows what ------------------------------------------------------------------------------------------------ */

static void link_pieces(ompp_replay_t *r)
{
    for (unsigned m = 0; m < r->nmembers; m++) r->members[m].first = r->members[m].last = 0;
    for (unsigned i = 0; i < r->npieces; i++) {
        ompp_piece_t *p = &r->pieces[i];
        uint16_t *last = &r->members[p->member].last;
        if (*last) r->pieces[*last - 1].next = (uint16_t)(i + 1);
        else r->members[p->member].first = (uint16_t)(i + 1);
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
            if (p->op == OMPP_REPLAY_LOOP && p->object == loop) in[p->member] = (uint16_t)(i + 1);
            if (!in[p->member]) continue;
            if (p->op == OMPP_REPLAY_LOOP_END) {
                r->pieces[in[p->member] - 1].after = p->next;
                in[p->member] = 0;
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
        if (!r->members[m].ended) return false;
    link_pieces(r);
    find_units(r);
    return number_locks(r);
}

/* ---- Going through it on one clock ------------------------------------------------------------------------------------ */

static ompp_fine_t duration(const ompp_piece_t *p, unsigned clock)
{
    return clock == REAL ? p->real : p->v[clock];
}

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

    if (r->locks[p->object].holder < 0) {
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
            memmove(r->locks[p->object].queue, r->locks[p->object].queue + 1, --r->locks[p->object].nqueue * sizeof r->locks[0].queue[0]);
            r->locks[p->object].holder = (int)other;
            r->replayers[other].waits = 0;
            r->replayers[other].time = m->time;
            go_to(r, &r->replayers[other], r->pieces[r->replayers[other].at - 1].next, clock);
        }
    }
    go_to(r, m, p->next, clock);
}

static void act(ompp_replay_t *r, unsigned member, unsigned clock)
{
    ompp_replayer_t *m = &r->replayers[member];
    const ompp_piece_t *p = &r->pieces[m->at - 1];

    switch (p->op) {
    case OMPP_REPLAY_LOCK:
        lock(r, member, p, clock);
        break;
    case OMPP_REPLAY_UNLOCK:
        unlock(r, member, p, clock);
        break;
    case OMPP_REPLAY_LOOP:
        m->loop = (int)p->object;
        m->after = p->after;
        hand_out(r, m, clock);
        break;
    default: /* the end of iterations, whoever had them in the measured program */
        if (m->loop >= 0) hand_out(r, m, clock);
        else m->at = 0;
    }
}

static void start(ompp_replay_t *r, unsigned clock)
{
    for (unsigned m = 0; m < r->nmembers; m++) {
        r->replayers[m] = (ompp_replayer_t){.loop = -1};
        r->replayers[m].time = clock == REAL ? r->members[m].begin.t : r->members[m].begin.v[clock];
        go_to(r, &r->replayers[m], r->members[m].first, clock);
    }
    for (unsigned i = 0; i < r->nlocks; i++) {
        r->locks[i].holder = -1;
        r->locks[i].nqueue = 0;
    }
    memcpy(r->loop_next, r->loop_begin, sizeof r->loop_next);
}

/* \return when the last one is at the barrier; negative = some wait for locks that nobody gives back. */
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
        act(r, (unsigned)first, clock);
    }
    for (unsigned m = 0; m < r->nmembers; m++) {
        if (r->replayers[m].waits) return -1;
        if (r->replayers[m].time > last) last = r->replayers[m].time;
    }
    return last;
}

/* All began with the same offset, and nothing was saved since. \param[out] o  that offset. */
static bool is_untouched(const ompp_replay_t *r, unsigned slot, ompp_fine_t o[OMPP_WHATIF_SPEEDUPS])
{
    const unsigned clock = slot * OMPP_WHATIF_SPEEDUPS;

    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        o[k] = r->members[0].begin.t - r->members[0].begin.v[clock + k];
        for (unsigned m = 1; m < r->nmembers; m++)
            if (r->members[m].begin.t - r->members[m].begin.v[clock + k] != o[k]) return false;
        for (unsigned i = 0; i < r->npieces; i++)
            if (r->pieces[i].v[clock + k] != r->pieces[i].real) return false;
    }
    return true;
}

/* Whether the model, which ends at end, makes of the measured program what it was: locks, too, may let others pass. */
static bool fits(const ompp_replay_t *r, ompp_fine_t end, ompp_fine_t measured)
{
    ompp_fine_t begin = measured;

    for (unsigned m = 0; m < r->nmembers; m++)
        if (r->members[m].begin.t < begin) begin = r->members[m].begin.t;
    return 50 * (end > measured ? end - measured : measured - end) <= measured - begin;
}

bool ompp_replay_run(ompp_replay_t *r, ompp_stamp_t *stamp)
{
    ompp_fine_t o[OMPP_WHATIF_SPEEDUPS], saved[OMPP_CLOCKS];

    if (r->spoiled || !r->nmembers || stamp->set != r->set || !prepare(r)) return false;
    const ompp_fine_t end = end_on(r, REAL);
    if (end < 0) return false;
    r->fits = fits(r, end, stamp->t);
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const bool untouched = is_untouched(r, s, o);
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
            const ompp_fine_t then = untouched ? end - o[k] : end_on(r, s * OMPP_WHATIF_SPEEDUPS + k);
            if (then < 0) return false;
            saved[s * OMPP_WHATIF_SPEEDUPS + k] = end - then;
        }
    }
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) stamp->v[i] = stamp->t - saved[i];
    return true;
}
