/*
 * A manager and its workers, gone through on each clock as results come.
 */
#include "causal/ompp_farm.h"

#include <stddef.h>
#include <string.h>

#define REAL OMPP_CLOCKS /* number of the clock without speed-up */

void ompp_farm_reset(ompp_farm_t *f)
{
    f->begun = f->spoiled = false;
}

static void start(ompp_farm_walk_t *w, ompp_fine_t time)
{
    w->next = 0;
    w->nopen = 0;
    w->begin = w->time = time;
}

void ompp_farm_begin(ompp_farm_t *f, const ompp_stamp_t *now)
{
    memset(f, 0, offsetof(ompp_farm_t, begin));
    f->begun = f->held = true;
    f->set = now->set;
    f->used = (unsigned)now->used;
    ompp_stamp_copy(&f->begin, now);
    ompp_stamp_copy(&f->since, now);
    for (unsigned i = 0; i < f->used; i++) start(&f->walks[i], now->v[i]);
    start(&f->walks[REAL], now->t);
}

/* ---- Lengths ---------------------------------------------------------------------------------------------------------- */

static void measure(ompp_farm_span_t *span, const ompp_stamp_t *from, const ompp_stamp_t *to)
{
    span->used = (unsigned)(from->used > to->used ? from->used : to->used);
    span->real = to->t - from->t;
    for (unsigned i = 0; i < span->used; i++) span->v[i] = ompp_stamp_v(to, i) - ompp_stamp_v(from, i);
}

static ompp_fine_t length_on(const ompp_farm_span_t *span, unsigned clock)
{
    return clock < span->used ? span->v[clock] : span->real;
}

/* ---- Going through it on one clock ------------------------------------------------------------------------------------ */

static void hand_out(ompp_farm_walk_t *w, unsigned task, ompp_fine_t since)
{
    w->open[w->nopen].task = (uint16_t)task;
    w->open[w->nopen++].since = since;
}

static int position(const ompp_farm_walk_t *w, unsigned task)
{
    for (unsigned i = 0; i < w->nopen; i++)
        if (w->open[i].task == task) return (int)i;
    return -1;
}

/* \return position of the one whose result comes first; -1 = that is not known yet, or there is none. */
static int first_result(const ompp_farm_t *f, ompp_farm_walk_t *w, unsigned clock)
{
    ompp_fine_t earliest = 0;
    int first = -1;

    for (unsigned i = 0; i < w->nopen; i++) {
        while (i < w->nopen && f->tasks[w->open[i].task].lost) w->open[i] = w->open[--w->nopen];
        if (i == w->nopen) break;
        const ompp_farm_task_t *t = &f->tasks[w->open[i].task];
        if (!t->done) return -1;
        const ompp_fine_t end = w->open[i].since + length_on(&t->length, clock);
        if (first < 0 || end < earliest) {
            earliest = end;
            first = (int)i;
        }
    }
    return first;
}

static void receive(const ompp_farm_t *f, ompp_farm_walk_t *w, unsigned i, unsigned clock)
{
    const ompp_fine_t end = w->open[i].since + length_on(&f->tasks[w->open[i].task].length, clock);

    if (end > w->time) w->time = end;
    w->open[i] = w->open[--w->nopen];
}

/* \return false = it has to wait for what is not known yet. */
static bool step(ompp_farm_t *f, ompp_farm_walk_t *w, const ompp_farm_event_t *e, unsigned clock)
{
    const ompp_fine_t begin = w->time;
    int i = -1;

    if (e->op == OMPP_FARM_ANY || e->op == OMPP_FARM_THIS) {
        i = e->op == OMPP_FARM_ANY ? first_result(f, w, clock) : position(w, e->task);
        if (e->op == OMPP_FARM_THIS && i < 0) f->spoiled = true; /* another one was taken for it */
        if (i < 0 || !f->tasks[w->open[i].task].done) return false;
    }
    w->time = begin + length_on(&e->work, clock);
    switch (e->op) {
    case OMPP_FARM_GIVE: hand_out(w, e->task, w->time); break;
    case OMPP_FARM_COME: hand_out(w, e->task, w->begin); break;
    case OMPP_FARM_MORE:
        i = position(w, e->task);
        if (i >= 0) w->open[i].since = w->time;
        else f->spoiled = true;
        break;
    case OMPP_FARM_ANY:
    case OMPP_FARM_THIS: receive(f, w, (unsigned)i, clock); break;
    default: break;
    }
    w->next++;
    return true;
}

static void walk(ompp_farm_t *f, unsigned clock)
{
    ompp_farm_walk_t *w = &f->walks[clock];

    while (!f->spoiled && w->next < f->head && step(f, w, &f->events[w->next % OMPP_FARM_EVENTS], clock)) {}
}

/* Those that reported by themselves were on their way when it began. */
static void let_go(ompp_farm_t *f)
{
    f->held = false;
    for (unsigned t = 0; t < OMPP_FARM_TASKS; t++) {
        if (!f->taken[t] || !f->tasks[t].reports) continue;
        for (unsigned i = 0; i < f->used; i++) hand_out(&f->walks[i], t, f->walks[i].begin);
        hand_out(&f->walks[REAL], t, f->walks[REAL].begin);
    }
}

static void walk_all(ompp_farm_t *f)
{
    if (f->held) let_go(f);
    for (unsigned i = 0; i < f->used; i++) walk(f, i);
    walk(f, REAL);
}

/* Clocks that nothing has been told of until now stand where the one without speed-up does. */
static void use(ompp_farm_t *f, uint64_t used)
{
    const ompp_farm_walk_t *real = &f->walks[REAL];

    for (; f->used < used; f->used++) {
        ompp_farm_walk_t *w = &f->walks[f->used];
        memcpy(w, real, offsetof(ompp_farm_walk_t, open) + real->nopen * sizeof real->open[0]);
    }
}

/* ---- Noting ----------------------------------------------------------------------------------------------------------- */

static bool has_room(const ompp_farm_t *f)
{
    uint64_t slowest = f->walks[REAL].next;

    for (unsigned i = 0; i < f->used; i++)
        if (f->walks[i].next < slowest) slowest = f->walks[i].next;
    return f->head - slowest < OMPP_FARM_EVENTS;
}

static void add(ompp_farm_t *f, ompp_farm_op_t op, unsigned task, const ompp_stamp_t *now)
{
    ompp_farm_event_t *e = &f->events[f->head % OMPP_FARM_EVENTS];

    if (!has_room(f)) {
        f->spoiled = true;
        return;
    }
    use(f, now->used);
    e->op = (uint16_t)op;
    e->task = (uint16_t)task;
    measure(&e->work, &f->since, now);
    ompp_stamp_copy(&f->since, now);
    f->head++;
}

/* Tasks that all clocks have come by are forgotten. */
static void sweep(ompp_farm_t *f)
{
    bool needed[OMPP_FARM_TASKS] = {false};

    for (unsigned i = 0; i <= OMPP_CLOCKS; i++) {
        const ompp_farm_walk_t *w = &f->walks[i];
        if (i >= f->used && i < REAL) continue;
        for (unsigned k = 0; k < w->nopen; k++) needed[w->open[k].task] = true;
        for (uint64_t e = w->next; e < f->head; e++) needed[f->events[e % OMPP_FARM_EVENTS].task] = true;
    }
    for (unsigned i = 0; i < OMPP_FARM_TASKS; i++)
        f->taken[i] = needed[i] || (f->taken[i] && (f->tasks[i].open || (f->held && f->tasks[i].reports)));
}

static ompp_farm_task_t *free_task(ompp_farm_t *f)
{
    for (unsigned tries = 0; tries < 2; tries++) {
        for (unsigned i = 0; i < OMPP_FARM_TASKS; i++) {
            const unsigned t = f->next++ % OMPP_FARM_TASKS;
            if (!f->taken[t]) return &f->tasks[t];
        }
        sweep(f);
    }
    f->spoiled = true;
    return NULL;
}

/* The one that the rank is at. */
static ompp_farm_task_t *task_of(ompp_farm_t *f, unsigned rank)
{
    ompp_farm_task_t *t = f->latest[rank] ? &f->tasks[f->latest[rank] - 1] : NULL;

    return t && t->open && t->rank == rank ? t : NULL;
}

static ompp_farm_task_t *new_task(ompp_farm_t *f, unsigned rank, bool reports, const ompp_stamp_t *given)
{
    ompp_farm_task_t *t = free_task(f);

    if (!t) return NULL;
    f->latest[rank] = (uint16_t)(t - f->tasks + 1);
    t->rank = rank;
    f->taken[t - f->tasks] = t->open = true;
    t->done = t->lost = false;
    t->reports = reports;
    t->results = f->results;
    ompp_stamp_copy(&t->given, given);
    return t;
}

static void add_for(ompp_farm_t *f, ompp_farm_op_t op, const ompp_farm_task_t *t, const ompp_stamp_t *now)
{
    if (t) add(f, op, (unsigned)(t - f->tasks), now);
}

static bool goes_on(ompp_farm_t *f, const ompp_stamp_t *now)
{
    if (now->set != f->set || (!f->results && f->head >= OMPP_FARM_TRIES)) f->spoiled = true;
    return f->begun && !f->spoiled;
}

void ompp_farm_give(ompp_farm_t *f, unsigned rank, const ompp_stamp_t *now)
{
    ompp_farm_task_t *t;

    if (rank >= OMPP_FARM_RANKS) f->spoiled = true;
    if (!goes_on(f, now)) return;
    t = task_of(f, rank);
    if (t && t->results != f->results) { /* what it was sent before had no answer; or it has, and the worker will refuse */
        t->open = false;
        t->lost = true;
        t = NULL;
    }
    if (!t) {
        add_for(f, OMPP_FARM_GIVE, new_task(f, rank, false, now), now);
        return;
    }
    add_for(f, OMPP_FARM_MORE, t, now);
    ompp_stamp_copy(&t->given, now);
}

void ompp_farm_take(ompp_farm_t *f, unsigned rank, bool any, const ompp_stamp_t *now, const ompp_stamp_t *result)
{
    ompp_farm_task_t *t;

    if (rank >= OMPP_FARM_RANKS || result->set != f->set) f->spoiled = true;
    if (!goes_on(f, now)) return;
    t = task_of(f, rank);
    if (!t && any && !f->latest[rank]) {
        t = new_task(f, rank, true, &f->begin);
        if (!f->held) add_for(f, OMPP_FARM_COME, t, now);
    }
    if (!t || f->spoiled) return; /* the rest of a result */
    use(f, result->used > t->given.used ? result->used : t->given.used);
    measure(&t->length, &t->given, result);
    t->open = false;
    t->done = true;
    f->results += any;
    add_for(f, any ? OMPP_FARM_ANY : OMPP_FARM_THIS, t, now);
    if (f->results && f->head >= OMPP_FARM_HOLD) walk_all(f);
}

void ompp_farm_go_on(ompp_farm_t *f, const ompp_stamp_t *now)
{
    if (goes_on(f, now)) ompp_stamp_copy(&f->since, now);
}

bool ompp_farm_is_one(const ompp_farm_t *f)
{
    return f->begun && !f->spoiled && f->results > 0;
}

bool ompp_farm_end(ompp_farm_t *f, ompp_stamp_t *now)
{
    const ompp_farm_walk_t *real = &f->walks[REAL];

    if (!goes_on(f, now) || !ompp_farm_is_one(f)) return false;
    for (unsigned i = 0; i < OMPP_FARM_TASKS; i++) f->tasks[i].lost |= f->taken[i] && f->tasks[i].open;
    add(f, OMPP_FARM_END, 0, now);
    walk_all(f);
    if (f->spoiled || real->next < f->head) return false;
    for (unsigned i = 0; i < f->used; i++)
        if (f->walks[i].next < f->head) return false;
    const ompp_fine_t off = real->time > now->t ? real->time - now->t : now->t - real->time;
    if (50 * off > now->t - f->begin.t) return false; /* something else was waited for, too */
    ompp_stamp_widen(now, f->used);
    for (unsigned i = 0; i < f->used; i++) now->v[i] = now->t - (real->time - f->walks[i].time);
    return true;
}
