/*
 * A manager and its workers, gone through on each clock as results come.
 */
#include "causal/replay/ompp_farm.h"

#include <stddef.h>
#include <string.h>

#define ALIKE 0.05  /* of a task: what differs by less is the same */
#define CHANCE 10.0 /* times as much as by chance, and */
#define MUCH 0.2    /* so much of what tasks differ by: it goes by ranks */
#define FITS 50     /* one part in so many: the model may be off by that; */
#define HINTS 10    /* by more than this it says nothing */
#define KNOWN 4     /* messages: what is usual is known; */
#define ODD 8       /* so many times as long, and so much at least, is odd */
#define ODD_NS 200000
#define TICK 16                    /* 1/100 ns: what comes later */
#define HALF 2                     /* of the time that a message may have taken was waited for */
#define REAL OMPP_CLOCKS           /* number of the clock without speed-up */
#define BEFORE (10000 * OMPP_FINE) /* clocks of ranks may differ by that, 1/100 ns */

void ompp_farm_reset(ompp_farm_t *f) { f->begun = f->spoiled = false; }

static void start(const ompp_farm_t *f, ompp_farm_walk_t *w, ompp_fine_t time)
{
    memset(w->seats, 0, f->nseats * sizeof w->seats[0]);
    w->next = 0;
    w->latest = -1;
    w->begin = w->time = time;
}

void ompp_farm_begin(ompp_farm_t *f, const ompp_clock_vector_t *now)
{
    for (unsigned i = 0; i < f->nseats; i++) f->seat_of[f->seats[i].rank] = 0;
    f->nseats = f->nanswers = 0;
    memset(f, 0, offsetof(ompp_farm_t, begin));
    f->begun = f->held = true;
    f->latest = f->gave = f->got = -1;
    f->set = now->set;
    f->used = (unsigned)now->used;
    ompp_clock_vector_copy(&f->begin, now);
    ompp_clock_vector_copy(&f->since, now);
}

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

static void measure(ompp_farm_span_t *span, const ompp_clock_vector_t *from, const ompp_clock_vector_t *to)
{
    span->used = (unsigned)(from->used > to->used ? from->used : to->used);
    span->real = to->t - from->t;
    for (unsigned i = 0; i < span->used; i++) span->v[i] = ompp_clock_vector_at(to, i) - ompp_clock_vector_at(from, i);
}

static ompp_fine_t length_on(const ompp_farm_span_t *span, unsigned clock)
{
    return clock < span->used ? span->v[clock] : span->real;
}

/* ---- Going through it on one clock ------------------------------------------------------------------------------- */

static void append(ompp_farm_queue_t *queue, uint16_t *after_last, unsigned task)
{
    if (queue->last) *after_last = (uint16_t)(task + 1);
    else queue->first = (uint16_t)(task + 1);
    queue->last = (uint16_t)(task + 1);
}

static void hand_out(ompp_farm_walk_t *w, unsigned seat, unsigned task, ompp_fine_t since)
{
    ompp_farm_queue_t *queue = &w->seats[seat].queue;

    w->since[task] = since;
    w->after[task] = 0;
    append(queue, queue->last ? &w->after[queue->last - 1] : NULL, task);
}

static void drop_first(ompp_farm_walk_t *w, unsigned seat)
{
    ompp_farm_queue_t *queue = &w->seats[seat].queue;

    queue->first = w->after[queue->first - 1];
    if (!queue->first) queue->last = 0;
}

/* \return the oldest task there that somebody will end, + 1; 0 = none. */
static unsigned oldest(const ompp_farm_t *f, ompp_farm_walk_t *w, unsigned seat)
{
    const ompp_farm_queue_t *queue = &w->seats[seat].queue;

    while (queue->first && f->tasks[queue->first - 1].lost) drop_first(w, seat);
    return queue->first;
}

/* When the oldest task there, whose length is known, ends. */
static ompp_fine_t end_of(const ompp_farm_t *f, const ompp_farm_walk_t *w, unsigned seat, unsigned clock)
{
    const unsigned task = w->seats[seat].queue.first - 1u;
    const ompp_fine_t since = w->since[task], free = w->seats[seat].free;

    return (since > free ? since : free) + length_on(&f->tasks[task].length, clock);
}

/* \return seat whose result comes first; -1 = that is not known yet, or there is none. */
static int first_result(const ompp_farm_t *f, ompp_farm_walk_t *w, unsigned clock)
{
    ompp_fine_t earliest = 0;
    int first = -1;

    for (unsigned i = 0; i < f->nseats; i++) {
        const unsigned task = oldest(f, w, i);
        if (!task) continue;
        if (!f->tasks[task - 1].done) return -1;
        const ompp_fine_t comes = end_of(f, w, i, clock) + f->tasks[task - 1].late;
        if (first >= 0 && comes >= earliest) continue;
        earliest = comes;
        first = (int)i;
    }
    return first;
}

/* \return seat whose result is received in this event; -1 = it is not known yet. */
static int result_of(ompp_farm_t *f, ompp_farm_walk_t *w, const ompp_farm_event_t *e, unsigned clock)
{
    if (e->op == OMPP_FARM_ANY) return first_result(f, w, clock);
    const unsigned task = oldest(f, w, e->seat);
    if (!task) f->spoiled = true; /* another rank has it on this clock */
    return task && f->tasks[task - 1].done ? e->seat : -1;
}

static void receive(const ompp_farm_t *f, ompp_farm_walk_t *w, const ompp_farm_event_t *e, unsigned seat,
                    unsigned clock)
{
    const ompp_fine_t end = end_of(f, w, seat, clock);

    w->time = ompp_clocks_later(w->time, end + f->tasks[w->seats[seat].queue.first - 1].late);
    w->seats[seat].free = end;
    if (e->op == OMPP_FARM_ANY) w->latest = (int)seat;
    drop_first(w, seat);
}

/* \return false = it has to wait for what is not known yet. */
static bool step(ompp_farm_t *f, ompp_farm_walk_t *w, const ompp_farm_event_t *e, unsigned clock)
{
    const bool receives = e->op == OMPP_FARM_ANY || e->op == OMPP_FARM_THIS;
    const int from = receives ? result_of(f, w, e, clock) : -1;
    const unsigned to = e->answers && w->latest >= 0 ? (unsigned)w->latest : e->seat;

    if (receives && from < 0) return false;
    w->time += length_on(&e->work, clock);
    if (e->op == OMPP_FARM_GIVE) hand_out(w, to, e->task, w->time);
    if (e->op == OMPP_FARM_COME) hand_out(w, to, e->task, w->begin);
    if (e->op == OMPP_FARM_MORE) w->since[e->task] = w->time;
    if (receives) receive(f, w, e, (unsigned)from, clock);
    w->next++;
    return true;
}

static void walk(ompp_farm_t *f, unsigned clock)
{
    ompp_farm_walk_t *w = &f->walks[clock];

    while (!f->spoiled && w->next < f->head && step(f, w, &f->events[w->next % OMPP_FARM_EVENTS], clock)) {
    }
}

/*
 * Until then no clock has done a step, and their memory is not touched: most ranks that send are no managers. Clocks
 * that nothing had been told of when it began stood where the one without speed-up did. Those that reported by
 * themselves were on their way.
 */
static void let_go(ompp_farm_t *f)
{
    f->held = false;
    for (unsigned i = 0; i < f->used; i++) start(f, &f->walks[i], ompp_clock_vector_at(&f->begin, i));
    start(f, &f->walks[REAL], f->begin.t);
    for (unsigned seat = 0; seat < f->nseats; seat++) {
        const unsigned task = f->seats[seat].reported;
        if (!task) continue;
        for (unsigned i = 0; i < f->used; i++) hand_out(&f->walks[i], seat, task - 1, f->walks[i].begin);
        hand_out(&f->walks[REAL], seat, task - 1, f->walks[REAL].begin);
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
    const size_t bytes = offsetof(ompp_farm_walk_t, seats) + f->nseats * sizeof f->walks[0].seats[0];

    if (f->held && f->used < used) f->used = (unsigned)used;
    for (; f->used < used; f->used++) memcpy(&f->walks[f->used], &f->walks[REAL], bytes);
}

/* ---- Noting ------------------------------------------------------------------------------------------------------ */

static bool has_room(ompp_farm_t *f)
{
    if (f->head - f->slowest < OMPP_FARM_EVENTS) return true;
    if (f->held) return false;
    f->slowest = f->walks[REAL].next;
    for (unsigned i = 0; i < f->used; i++)
        if (f->walks[i].next < f->slowest) f->slowest = f->walks[i].next;
    return f->head - f->slowest < OMPP_FARM_EVENTS;
}

static void add(ompp_farm_t *f, ompp_farm_op_t op, unsigned task, unsigned seat, const ompp_clock_vector_t *now)
{
    ompp_farm_event_t *e = &f->events[f->head % OMPP_FARM_EVENTS];

    if (!has_room(f)) {
        f->spoiled = true;
        return;
    }
    use(f, now->used);
    e->op = (uint16_t)op;
    e->task = (uint16_t)task;
    e->seat = (uint16_t)seat;
    e->answers = (int)seat == f->latest;
    measure(&e->work, &f->since, now);
    ompp_clock_vector_copy(&f->since, now);
    f->head++;
}

static bool has_task(const ompp_farm_event_t *e)
{
    return e->op == OMPP_FARM_GIVE || e->op == OMPP_FARM_MORE || e->op == OMPP_FARM_COME;
}

static void need_queue(const ompp_farm_walk_t *w, unsigned seat, bool *needed)
{
    for (unsigned t = w->seats[seat].queue.first; t; t = w->after[t - 1]) needed[t - 1] = true;
}

static void need_events(const ompp_farm_t *f, uint64_t next, bool *needed)
{
    for (uint64_t k = next; k < f->head; k++) {
        const ompp_farm_event_t *e = &f->events[k % OMPP_FARM_EVENTS];
        if (has_task(e)) needed[e->task] = true;
    }
}

/* Tasks that all clocks have come by are forgotten. */
static void sweep(ompp_farm_t *f)
{
    bool needed[OMPP_FARM_TASKS] = {false};

    if (f->held) need_events(f, 0, needed);
    for (unsigned i = 0; !f->held && i <= OMPP_CLOCKS; i++) {
        const ompp_farm_walk_t *w = &f->walks[i];
        if (i >= f->used && i < REAL) continue;
        for (unsigned seat = 0; seat < f->nseats; seat++) need_queue(w, seat, needed);
        need_events(f, w->next, needed);
    }
    for (unsigned seat = 0; seat < f->nseats; seat++) {
        if (f->held && f->seats[seat].reported) needed[f->seats[seat].reported - 1] = true;
        for (unsigned t = f->seats[seat].queue.first; t; t = f->tasks[t - 1].after) needed[t - 1] = true;
    }
    memcpy(f->taken, needed, sizeof f->taken);
}

/* \return its number; -1 = there are too many. */
static int free_task(ompp_farm_t *f)
{
    for (unsigned tries = 0; tries < 2; tries++) {
        for (unsigned i = 0; i < OMPP_FARM_TASKS; i++) {
            const unsigned t = f->next++ % OMPP_FARM_TASKS;
            if (!f->taken[t]) return (int)t;
        }
        sweep(f);
    }
    f->spoiled = true;
    return -1;
}

/* A task of the rank in this seat. \return its number; -1 = there are too many. */
static int new_task(ompp_farm_t *f, unsigned seat, const ompp_clock_vector_t *given)
{
    ompp_farm_queue_t *queue = &f->seats[seat].queue;
    const int t = free_task(f);

    if (t < 0) return -1;
    f->taken[t] = true;
    f->tasks[t].done = f->tasks[t].lost = f->tasks[t].reported = f->tasks[t].deferred = false;
    f->tasks[t].after = 0;
    f->tasks[t].late = 0;
    ompp_clock_vector_copy(&f->tasks[t].given, given);
    append(queue, queue->last ? &f->tasks[queue->last - 1].after : NULL, (unsigned)t);
    return t;
}

/* \param[out] is_new  the rank has had none before. \return -1 = there are too many. */
static int seat_of(ompp_farm_t *f, unsigned rank, bool *is_new)
{
    *is_new = rank < OMPP_FARM_RANKS && !f->seat_of[rank];
    if (rank >= OMPP_FARM_RANKS || (*is_new && f->nseats == OMPP_FARM_SEATS)) {
        f->spoiled = true;
        return -1;
    }
    if (!*is_new) return f->seat_of[rank] - 1;
    for (unsigned i = 0; !f->held && i < f->used; i++)
        memset(&f->walks[i].seats[f->nseats], 0, sizeof f->walks[i].seats[0]);
    if (!f->held) memset(&f->walks[REAL].seats[f->nseats], 0, sizeof f->walks[REAL].seats[0]);
    memset(&f->seats[f->nseats], 0, sizeof f->seats[0]);
    f->seats[f->nseats].rank = rank;
    f->seat_of[rank] = (uint16_t)(f->nseats + 1);
    return (int)f->nseats++;
}

static bool is_in_vain(const ompp_farm_t *f)
{
    return !f->results && (f->head >= OMPP_FARM_TRIES || f->head >= OMPP_FARM_TRY * (f->nseats + 1));
}

static bool goes_on(ompp_farm_t *f, const ompp_clock_vector_t *now)
{
    if (now->set != f->set || is_in_vain(f)) f->spoiled = true;
    return f->begun && !f->spoiled;
}

/* Nobody will end what the rank in this seat has. */
static void lose(ompp_farm_t *f, unsigned seat)
{
    for (unsigned t = f->seats[seat].queue.first; t; t = f->tasks[t - 1].after) f->tasks[t - 1].lost = true;
}

static bool is_mute(ompp_farm_t *f, unsigned seat)
{
    if (f->seats[seat].mute || f->seats[seat].answers || f->seats[seat].pending < OMPP_FARM_AHEAD)
        return f->seats[seat].mute;
    lose(f, seat);
    f->seats[seat].queue = (ompp_farm_queue_t){0, 0};
    return f->seats[seat].mute = true;
}

void ompp_farm_give(ompp_farm_t *f, unsigned rank, const ompp_clock_vector_t *now)
{
    bool is_new;
    const int seat = goes_on(f, now) ? seat_of(f, rank, &is_new) : -1;

    if (seat < 0) return;
    if (is_mute(f, (unsigned)seat)) {
        add(f, OMPP_FARM_WORK, 0, 0, now);
        return;
    }
    if (f->gave == seat) {
        const unsigned last = f->seats[seat].queue.last - 1u;
        add(f, OMPP_FARM_MORE, last, (unsigned)seat, now);
        ompp_clocks_combine(&f->tasks[last].given, now);
        return;
    }
    const int task = new_task(f, (unsigned)seat, now);
    if (task < 0) return;
    f->seats[seat].pending++;
    f->tasks[task].deferred = f->seats[seat].answers && seat != f->latest;
    add(f, OMPP_FARM_GIVE, (unsigned)task, (unsigned)seat, now);
    f->gave = seat;
    f->got = -1;
}

/* A rank that was sent nothing has asked for work. */
static void report(ompp_farm_t *f, unsigned seat, const ompp_clock_vector_t *now)
{
    const int task = new_task(f, seat, &f->begin);

    if (task < 0) return;
    f->seats[seat].pending++;
    f->tasks[task].reported = true;
    if (f->held) f->seats[seat].reported = (uint16_t)(task + 1);
    else add(f, OMPP_FARM_COME, (unsigned)task, seat, now);
}

static double trait_of(const ompp_farm_span_t *length, unsigned trait)
{
    return trait == 0 ? length->real : length->real - length_on(length, trait * OMPP_WHATIF_SPEEDUPS - 1);
}

static void sum_up(ompp_farm_t *f, unsigned seat, const ompp_farm_span_t *length)
{
    ompp_farm_sums_t *done = &f->seats[seat].done;

    for (unsigned i = 0; i < OMPP_FARM_TRAITS; i++) {
        const double x = trait_of(length, i);
        f->all.sum[i] += x;
        f->squares[i] += x * x;
        done->sum[i] += x;
    }
    f->all.n++;
    done->n++;
}

/* Squares of ranks' means about the mean of all, by task, in variances of tasks: were ranks alike, one less than there
 * are of them. */
static double between_ranks(const ompp_farm_t *f, unsigned trait)
{
    const double mean = f->all.sum[trait] / f->all.n, variance = f->squares[trait] / f->all.n - mean * mean;
    const double little = ALIKE * f->all.sum[0] / f->all.n;
    double between = 0;

    if (variance <= little * little) return 0;
    for (unsigned seat = 0; seat < f->nseats; seat++) {
        const ompp_farm_sums_t *done = &f->seats[seat].done;
        const double off = done->n > 0 ? done->sum[trait] / done->n - mean : 0;
        between += done->n * off * off;
    }
    return between / variance;
}

bool ompp_farm_is_of_ranks(const ompp_farm_t *f)
{
    const double chance = CHANCE * f->nanswers, much = MUCH * f->all.n;

    for (unsigned i = 0; i < OMPP_FARM_TRAITS && f->all.n > 0; i++)
        if (between_ranks(f, i) > (chance > much ? chance : much)) return true;
    return false;
}

/* The rank in this seat has ended its oldest task, and goes on with the next one. */
static void end_task(ompp_farm_t *f, unsigned seat, const ompp_clock_vector_t *result)
{
    ompp_farm_queue_t *queue = &f->seats[seat].queue;
    ompp_farm_task_t *t = &f->tasks[queue->first - 1];

    if (t->deferred) f->spoiled = true; /* whose result it answers decides who gets it: that is not known here */
    if (!t->reported && result->t + BEFORE < t->given.t) f->spoiled = true; /* it is one of another task */
    use(f, result->used > t->given.used ? result->used : t->given.used);
    measure(&t->length, &t->given, result);
    t->done = true;
    if (!t->reported) sum_up(f, seat, &t->length);
    f->nanswers += !f->seats[seat].answers;
    f->seats[seat].answers = true;
    f->seats[seat].pending--;
    queue->first = t->after;
    if (queue->first) ompp_clocks_combine(&f->tasks[queue->first - 1].given, result);
    else queue->last = 0;
}

static void wait_for(ompp_farm_t *f, const ompp_clock_vector_t *now, const ompp_clock_vector_t *result)
{
    f->waits = now->t;
    f->there = result->t;
}

void ompp_farm_take(ompp_farm_t *f, unsigned rank, bool any, const ompp_clock_vector_t *now,
                    const ompp_clock_vector_t *result)
{
    const bool known = rank < OMPP_FARM_RANKS && f->seat_of[rank];
    bool is_new = false;
    const int seat = goes_on(f, now) && (any || known) ? seat_of(f, rank, &is_new) : -1;

    /* of another rank; the rest of a result */
    if (seat < 0 || (f->got == seat && (!any || !f->seats[seat].queue.first))) {
        ompp_farm_work(f, now);
        wait_for(f, now, result);
        return;
    }
    if (is_new) report(f, (unsigned)seat, now);
    if (!f->seats[seat].queue.first || result->set != f->set) f->spoiled = true; /* more results than tasks */
    if (f->spoiled) return;
    f->arrival = f->seats[seat].queue.first;
    f->any_arrival = any;
    end_task(f, (unsigned)seat, result);
    wait_for(f, now, result);
    add(f, any ? OMPP_FARM_ANY : OMPP_FARM_THIS, 0, (unsigned)seat, now);
    f->results += any;
    if (any) f->latest = seat;
    f->got = seat;
    f->gave = -1;
}

void ompp_farm_work(ompp_farm_t *f, const ompp_clock_vector_t *now)
{
    f->there = 0;
    f->arrival = 0;
    f->any_arrival = false;
    if (goes_on(f, now)) add(f, OMPP_FARM_WORK, 0, 0, now);
}

/* As much work, of no region. */
static void put_back(ompp_clock_vector_t *vector, ompp_fine_t by)
{
    vector->t -= by;
    for (uint64_t i = 0; i < vector->used; i++) vector->v[i] -= by;
}

static void note(ompp_farm_lates_t *lates, ompp_fine_t takes)
{
    if (lates->n == 0 || takes < lates->least) lates->least = takes;
    lates->sum += takes;
    lates->n++;
}

/*
 * How long the message took is seen where the manager has waited for most of that; others of the rank take as long as
 * the fastest of these: what they lie there, while the manager is busy, is no message's time. One that took much longer
 * than others may be none, either: by that much the model fits less well.
 */
static ompp_fine_t lateness(ompp_farm_t *f, unsigned seat, ompp_fine_t now)
{
    ompp_farm_lates_t *own = &f->seats[seat].lates, *known = own->n < KNOWN ? &f->lates : own;
    const ompp_fine_t all = now - f->there, waited = now - ompp_clocks_later(f->waits, f->there),
                      least = known->n < KNOWN ? 0 : known->least;
    const ompp_fine_t most = own->n < KNOWN ? all : ompp_clocks_later(ODD * own->sum / own->n, ODD_NS * OMPP_FINE);

    if (HALF * waited < all) return all < least ? all : least;
    if (all > most) f->odd += all - most;
    note(own, all < most ? all : most);
    note(&f->lates, all < most ? all : most);
    return all;
}

/*
 * Of results that any rank may have sent, the one that is taken is the first that has come; what comes later is odd.
 * But of those that were there already when an earlier one was asked for, MPI may take any, and does: by rank in turn,
 * or the lowest request.
 */
static ompp_fine_t in_order(ompp_farm_t *f, ompp_fine_t late, ompp_fine_t now)
{
    const ompp_fine_t most = now - f->there, least = ompp_clocks_later(late, f->arrived + TICK - f->there),
                      comes = least < most ? least : most;
    const bool is_odd = comes - late > ODD_NS * OMPP_FINE;

    if (is_odd && f->there + late <= f->asked) return late;
    if (is_odd) f->odd += comes - late - ODD_NS * OMPP_FINE;
    if (f->any_arrival) f->arrived = f->there + comes;
    return comes;
}

/* The rest of the call is work. */
static void note_late(ompp_farm_t *f, ompp_fine_t now)
{
    ompp_fine_t late = 0;

    if (f->arrival && f->got >= 0 && now > f->there) late = in_order(f, lateness(f, (unsigned)f->got, now), now);
    else if (f->any_arrival) f->arrived = ompp_clocks_later(f->arrived, f->there);
    const ompp_fine_t remainder = now - ompp_clocks_later(f->waits, f->there + late);
    if (f->any_arrival) f->asked = f->waits;
    if (f->arrival) f->tasks[f->arrival - 1].late = late;
    if (remainder > 0) put_back(&f->since, remainder);
}

void ompp_farm_go_on(ompp_farm_t *f, const ompp_clock_vector_t *now)
{
    if (!goes_on(f, now)) return;
    ompp_clock_vector_copy(&f->since, now);
    if (f->there) note_late(f, now->t);
    f->there = 0;
    f->arrival = 0;
    f->any_arrival = false;
    if (f->results && f->head >= OMPP_FARM_HOLD) walk_all(f);
}

bool ompp_farm_is_one(const ompp_farm_t *f) { return f->begun && !f->spoiled && f->nanswers > 1; }

bool ompp_farm_end(ompp_farm_t *f, ompp_clock_vector_t *now)
{
    const ompp_farm_walk_t *real = &f->walks[REAL];

    if (!goes_on(f, now) || !ompp_farm_is_one(f)) return false;
    for (unsigned seat = 0; seat < f->nseats; seat++) lose(f, seat);
    add(f, OMPP_FARM_WORK, 0, 0, now);
    walk_all(f);
    if (f->spoiled || real->next < f->head) return false;
    for (unsigned i = 0; i < f->used; i++)
        if (f->walks[i].next < f->head) return false;
    const ompp_fine_t off = (real->time > now->t ? real->time - now->t : now->t - real->time) + f->odd;
    f->fits = FITS * off <= now->t - f->begin.t;
    if (HINTS * off > now->t - f->begin.t) return false; /* something else was waited for, too */
    ompp_clock_vector_widen(now, f->used);
    for (unsigned i = 0; i < f->used; i++) now->v[i] = now->t - (real->time - f->walks[i].time);
    return true;
}
