/*
 * What threads do between two barriers, noted in pieces while they do it.
 */
#include "causal/replay/ompp_replay.h"

#include <stddef.h>
#include <string.h>

void ompp_replay_reset(ompp_replay_t *r, uint64_t set)
{
    memset(r, 0, offsetof(ompp_replay_t, members));
    r->set = set;
    r->grain = OMPP_REPLAY_GRAIN;
}

/* Loops and tasks take longer to be gone through, and their pieces can be joined. */
static unsigned room(const ompp_replay_t *r)
{
    return r->any_loop || r->ntasks ? OMPP_REPLAY_MIXED : OMPP_REPLAY_PIECES;
}

static void set_since(ompp_replay_t *r, unsigned flow, const ompp_clock_vector_t *now)
{
    ompp_clock_vector_copy(&r->flows[flow].since, now);
    if (now->used > r->used) r->used = (unsigned)now->used;
}

int ompp_replay_join(ompp_replay_t *r, const ompp_clock_vector_t *now)
{
    if (r->nmembers == OMPP_REPLAY_MEMBERS || now->set != r->set) {
        r->spoiled = true;
        return -1;
    }
    const unsigned m = r->nmembers++;
    ompp_clock_vector_copy(&r->members[m].begin, now);
    set_since(r, m, now);
    r->members[m].loops = 0;
    r->members[m].in_loop = r->flows[m].ended = false;
    if (r->npieces + r->nmembers + r->nopen + 1 >= room(r)) r->spoiled = true; /* no room for all ends */
    return (int)m;
}

/* ---- Noting ------------------------------------------------------------------------------------------------------ */

static void add(ompp_replay_t *r, unsigned flow, ompp_replay_op_t op, uint64_t object, const ompp_clock_vector_t *now)
{
    const ompp_clock_vector_t *since = &r->flows[flow].since;
    ompp_piece_t *p = &r->pieces[r->npieces++];

    *p = (ompp_piece_t){.flow = (uint16_t)flow, .op = (uint16_t)op, .object = object, .real = now->t - since->t};
    for (unsigned i = 0; i < now->used; i++) p->v[i] = now->v[i] - ompp_clock_vector_at(since, i);
    for (unsigned i = (unsigned)now->used; i < r->used; i++) p->v[i] = now->t - ompp_clock_vector_at(since, i);
    for (unsigned i = now->used > r->used ? (unsigned)now->used : r->used; i < OMPP_CLOCKS; i++) p->v[i] = p->real;
    set_since(r, flow, now);
}

/* Two pieces of iterations that a member had one after the other become one. */
static void coarsen(ompp_replay_t *r)
{
    uint16_t open[OMPP_REPLAY_FLOWS] = {0};              /* a CHUNK that is to go, + 1 */
    uint64_t gone[(OMPP_REPLAY_PIECES + 63) / 64] = {0}; /* bits */
    unsigned kept = 0;

    for (unsigned i = 0; i < r->npieces; i++) {
        ompp_piece_t *p = &r->pieces[i];
        const unsigned before = open[p->flow];
        open[p->flow] = 0;
        if (before) {
            const ompp_piece_t *q = &r->pieces[before - 1];
            gone[(before - 1) / 64] |= UINT64_C(1) << (before - 1) % 64;
            p->real += q->real;
            for (unsigned k = 0; k < OMPP_CLOCKS; k++) p->v[k] += q->v[k];
        } else if (p->op == OMPP_REPLAY_CHUNK) {
            open[p->flow] = (uint16_t)(i + 1);
        }
    }
    for (unsigned i = 0; i < r->npieces; i++)
        if (!(gone[i / 64] >> i % 64 & 1)) r->pieces[kept++] = r->pieces[i];
    r->npieces = kept;
    r->grain *= 2;
}

/* Also for the ends of all that has begun. */
static bool has_room(ompp_replay_t *r)
{
    const unsigned ends = r->nmembers + r->nopen;

    if (r->npieces + r->nmembers + ends + 1 >= room(r)) coarsen(r);
    if (r->npieces + ends + 1 >= room(r)) r->spoiled = true;
    return !r->spoiled;
}

static ompp_time_t whole(ompp_fine_t t) { return (ompp_time_t)(t / OMPP_FINE); }

/* Loops are worked on by members alone. \return whether there is a piece to be noted. */
static bool note_loop(ompp_replay_t *r, unsigned m, ompp_replay_op_t op, uint64_t *object,
                      const ompp_clock_vector_t *now)
{
    const ompp_time_t t = whole(now->t);

    switch (op) {
    case OMPP_REPLAY_LOOP:
        if (r->members[m].in_loop) add(r, m, OMPP_REPLAY_LOOP_END, 0, now);
        *object = r->members[m].loops++;
        r->members[m].in_loop = true;
        r->members[m].unit = t;
        return true;
    case OMPP_REPLAY_CHUNK:
        if (t - r->members[m].unit < r->grain) return false;
        r->members[m].unit = t;
        return true;
    default:
        if (!r->members[m].in_loop) add(r, m, OMPP_REPLAY_LOOP, r->members[m].loops++, now); /* it got none */
        r->members[m].in_loop = false;
        return true;
    }
}

/* Of this interval, and not of one that the record was taken from meanwhile. */
static bool is_going_on(const ompp_replay_t *r, unsigned flow)
{
    if (flow < OMPP_REPLAY_MEMBERS) return flow < r->nmembers && !r->flows[flow].ended;
    return flow < OMPP_REPLAY_MEMBERS + r->ntasks && r->flows[flow].begun && !r->flows[flow].ended;
}

/* Threads get a lock one after the other, in this order. */
static void note_lock(ompp_replay_t *r, uint64_t object, ompp_fine_t since)
{
    unsigned i = 0;

    r->nlocked++;
    while (i < r->nasked && r->asked[i].object != object) i++;
    if (i == OMPP_REPLAY_LOCKS) return;
    if (i == r->nasked) r->asked[r->nasked++].object = object;
    else if (since < r->asked[i].since) r->npassed++;
    r->asked[i].since = since;
}

void ompp_replay_note(ompp_replay_t *r, unsigned flow, ompp_replay_op_t op, uint64_t object,
                      const ompp_clock_vector_t *now)
{
    const bool loops = op == OMPP_REPLAY_LOOP || op == OMPP_REPLAY_CHUNK || op == OMPP_REPLAY_LOOP_END;

    if ((loops && flow >= OMPP_REPLAY_MEMBERS) || !is_going_on(r, flow)) r->spoiled = true;
    if (now->set != r->set) r->spoiled = true;
    r->any_loop |= loops;
    if (r->spoiled || (op != OMPP_REPLAY_END && !has_room(r))) return;
    if (op == OMPP_REPLAY_CHUNK && !r->members[flow].in_loop) op = OMPP_REPLAY_LOOP; /* nobody has told of the loop */
    if (loops && !note_loop(r, flow, op, &object, now)) return;
    if (op == OMPP_REPLAY_END) {
        r->flows[flow].ended = true;
        r->nopen -= flow >= OMPP_REPLAY_MEMBERS;
    }
    add(r, flow, op, object, now);
    if (op == OMPP_REPLAY_LOCK) note_lock(r, object, now->t);
}

void ompp_replay_go_on(ompp_replay_t *r, unsigned flow, const ompp_clock_vector_t *now)
{
    if (now->set != r->set) r->spoiled = true;
    set_since(r, flow, now);
}

int ompp_replay_create(ompp_replay_t *r, unsigned flow, const ompp_clock_vector_t *now)
{
    const unsigned task = OMPP_REPLAY_MEMBERS + r->ntasks;

    if (r->ntasks == OMPP_REPLAY_TASKS) r->spoiled = true;
    ompp_replay_note(r, flow, OMPP_REPLAY_CREATE, task, now);
    if (r->spoiled) return -1;
    r->ntasks++;
    r->nopen++;
    r->flows[task].parent = (uint16_t)flow;
    r->flows[task].begun = 0;
    r->flows[task].ended = false;
    return (int)task;
}

void ompp_replay_begin(ompp_replay_t *r, unsigned task, int waiting, const ompp_clock_vector_t *now)
{
    if (now->set != r->set) r->spoiled = true;
    if (waiting >= 0 && r->flows[task].parent != waiting) r->any_task = true;
    r->flows[task].begun = (uint16_t)++r->nbegun;
    set_since(r, task, now);
}
