/*
 * The rules. Loops are over the clocks that are in use, slot by slot.
 */
#include "causal/clock/ompp_clocks.h"

#include <string.h>

static inline ompp_fine_t fine(ompp_time_t t) { return (ompp_fine_t)(int64_t)t * OMPP_FINE; }

/* The clocks of one slot: loops of constant length, of which compilers make vector code. */
#define SPEEDUPS OMPP_WHATIF_SPEEDUPS

static inline void become_later(ompp_fine_t *restrict v, const ompp_fine_t *restrict other)
{
    for (unsigned k = 0; k < SPEEDUPS; k++) v[k] = ompp_clocks_later(v[k], other[k]);
}

static inline void subtract(ompp_fine_t *restrict to, ompp_fine_t a, const ompp_fine_t *restrict b)
{
    for (unsigned k = 0; k < SPEEDUPS; k++) to[k] = a - b[k];
}

static inline void go_on(ompp_fine_t *restrict o, ompp_fine_t last, ompp_fine_t begin, const ompp_fine_t *restrict v,
                         ompp_fine_t cost)
{
    for (unsigned k = 0; k < SPEEDUPS; k++) o[k] = last - ompp_clocks_later(begin - o[k], v[k] + cost);
}

/* ---- Ideal clocks ------------------------------------------------------------------------------------------------ */

static const bool has_no[OMPP_WHATIF_IDEAL_NUM][OMPP_CLOCKS_FOR_RANKS + 1] = {
    [OMPP_WHATIF_NO_NETWORK] = {[OMPP_CLOCKS_FOR_RANKS] = true},
    [OMPP_WHATIF_NO_RUNTIME] = {[OMPP_CLOCKS_FOR_THREADS] = true},
    [OMPP_WHATIF_NO_COST] =
        {[OMPP_CLOCKS_FOR_THREADS] = true, [OMPP_CLOCKS_FOR_LOCK] = true, [OMPP_CLOCKS_FOR_RANKS] = true},
    [OMPP_WHATIF_NO_LOCKS] = {[OMPP_CLOCKS_FOR_LOCK] = true},
};

_Static_assert(OMPP_WHATIF_IDEAL_NUM == SPEEDUPS, "ideal clocks are those of a slot");

/* Time that is not booked yet. */
static ompp_fine_t unbooked(const ompp_clocks_t *c, unsigned ideal)
{
    return fine((has_no[ideal][OMPP_CLOCKS_FOR_THREADS] ? c->in_runtime : 0) +
                (has_no[ideal][OMPP_CLOCKS_FOR_RANKS] ? c->in_mpi : 0));
}

static void book_ideal(ompp_clocks_t *c)
{
    ompp_clocks_use(c, 1u << OMPP_CLOCKS_IDEAL);
    if (!c->in_mpi && !c->in_runtime) return;
    for (unsigned k = 0; k < SPEEDUPS; k++) c->o[k] += unbooked(c, k);
    c->spans[OMPP_CLOCKS_IDEAL]++;
    c->in_mpi = c->in_runtime = 0;
}

void ompp_clocks_hand_over(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, ompp_clocks_for_t waits_for,
                           ompp_time_t ns)
{
    for (unsigned k = 0; rule->ideal && k < SPEEDUPS; k++)
        if (has_no[k][waits_for]) c->o[k] += fine(ns);
}

/* The rule, with what is free. before: offsets until then; t: it goes on. */
static void go_on_ideal(ompp_clocks_t *c, const ompp_fine_t *before, ompp_fine_t begin, ompp_fine_t last,
                        const ompp_clock_vector_t *vector, ompp_fine_t cost, ompp_fine_t t)
{
    for (unsigned k = 0; k < SPEEDUPS; k++) {
        const bool is_free = has_no[k][c->waits_for], waits = k != OMPP_WHATIF_NO_LOCKS || !is_free;
        const ompp_fine_t own = begin - before[k], other = ompp_clock_vector_at(vector, k) + (is_free ? 0 : cost);
        c->o[k] = last - (waits ? ompp_clocks_later(own, other) : own);
        if (is_free && c->waits_for == OMPP_CLOCKS_FOR_THREADS && t > last) c->o[k] += t - last;
    }
}

/* ---- All clocks -------------------------------------------------------------------------------------------------- */

ompp_fine_t ompp_clocks_offset(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c, unsigned clock)
{
    if (rule->ideal && clock / SPEEDUPS == OMPP_CLOCKS_IDEAL) return c->o[clock] + unbooked(c, clock);
    return c->o[clock] +
           rule->percent[clock % OMPP_WHATIF_SPEEDUPS] * (ompp_fine_t)c->work[clock / OMPP_WHATIF_SPEEDUPS];
}

void ompp_clocks_book(const ompp_clocks_rule_t *rule, ompp_clocks_t *c)
{
    if (rule->delays) ompp_clocks_use(c, 1);
    if (rule->ideal) book_ideal(c);
    for (unsigned s = 0; s < c->used / SPEEDUPS; s++) {
        if (!c->work[s]) continue;
        const ompp_fine_t work = (ompp_fine_t)c->work[s];
        for (unsigned k = 0; k < SPEEDUPS; k++) c->o[s * SPEEDUPS + k] += rule->percent[k] * work;
        c->total[s] += c->work[s];
        c->spans[s]++;
        c->work[s] = 0;
    }
}

/* It will be counted again from t on. */
static void uncount(ompp_clocks_t *c, ompp_time_t t)
{
    const ompp_time_t again = t && t < c->since && !c->idle && !c->waiting ? c->since - t : 0;

    c->worked[c->where] -= again < c->worked[c->where] ? again : c->worked[c->where];
}

void ompp_clocks_reset(ompp_clocks_t *c, uint64_t set, ompp_time_t t)
{
    uncount(c, t);
    if (c->where != OMPP_CLOCKS_OUTSIDE) ompp_clocks_count(c, t);
    memset(c->o, 0, sizeof c->o);
    memset(c->work, 0, sizeof c->work);
    memset(c->total, 0, sizeof c->total);
    memset(c->spans, 0, sizeof c->spans);
    memset(c->visits, 0, sizeof c->visits);
    c->set = set;
    c->used = 0;
    c->mask = 0;
    c->in_mpi = c->in_runtime = 0;
    c->since = t;
}

void ompp_clocks_publish(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, ompp_clock_vector_t *vector, ompp_time_t t)
{
    ompp_clocks_count(c, t);
    ompp_clocks_book(rule, c);
    const ompp_fine_t now = fine(t);
    vector->t = now;
    vector->debt = c->o[OMPP_CLOCKS_EXPERIMENT];
    vector->set = c->set;
    vector->used = c->used;
    for (unsigned i = 0; i < c->used; i += SPEEDUPS) subtract(vector->v + i, now, c->o + i);
}

static void without_set(ompp_clock_vector_t *vector, uint64_t set)
{
    vector->used = 0;
    vector->debt = 0;
    vector->set = set;
}

void ompp_clocks_combine(ompp_clock_vector_t *into, const ompp_clock_vector_t *other)
{
    if (other->t == 0) return;
    if (into->t == 0) {
        ompp_clock_vector_copy(into, other);
        return;
    }
    if (into->set < other->set) without_set(into, other->set);
    const bool same = into->set == other->set;
    const uint64_t there = same ? other->used : 0;
    ompp_clock_vector_widen(into, there);
    for (uint64_t i = 0; i < there; i += SPEEDUPS) become_later(into->v + i, other->v + i);
    for (uint64_t i = there; i < into->used; i++) into->v[i] = ompp_clocks_later(into->v[i], other->t);
    if (same) into->debt = ompp_clocks_later(into->debt, other->debt);
    into->t = ompp_clocks_later(into->t, other->t);
}

static inline void use_rule(ompp_clocks_t *c, ompp_fine_t begin, ompp_fine_t arrival, const ompp_clock_vector_t *vector,
                            ompp_fine_t cost)
{
    const ompp_fine_t last = ompp_clocks_later(begin, arrival);
    const unsigned there = (unsigned)vector->used;

    if (there > c->used) c->used = there;
    for (unsigned i = 0; i < there; i += SPEEDUPS) go_on(c->o + i, last, begin, vector->v + i, cost);
    for (unsigned i = there; i < c->used; i++) c->o[i] = last - ompp_clocks_later(begin - c->o[i], arrival);
}

ompp_time_t ompp_clocks_join(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector,
                             ompp_time_t cost, ompp_time_t t)
{
    const ompp_time_t begin = c->waiting ? c->waiting : t;

    ompp_clocks_count(c, begin);
    ompp_clocks_book(rule, c);
    if (vector && vector->t > 0 && vector->set == c->set) {
        const ompp_fine_t o = c->o[OMPP_CLOCKS_EXPERIMENT];
        ompp_fine_t extra = fine(cost), before[SPEEDUPS];
        /* What is told late, or takes longer than it can have taken: it was there by now. */
        if (vector->t + extra > fine(t)) extra = fine(t) - vector->t;
        memcpy(before, c->o, sizeof before);
        use_rule(c, fine(begin), vector->t + extra, vector, extra);
        if (rule->ideal)
            go_on_ideal(c, before, fine(begin), ompp_clocks_later(fine(begin), vector->t + extra), vector, extra,
                        fine(t));
        c->debt = ompp_clocks_later(o, vector->debt) - c->o[OMPP_CLOCKS_EXPERIMENT];
    } else {
        c->debt = 0;
    }
    if (t > c->since) c->since = t;
    c->waiting = 0;
    c->waits_for = OMPP_CLOCKS_FOR_THREADS;
    return rule->delays && c->debt > 0 ? (ompp_time_t)(c->debt / OMPP_FINE) : 0;
}

void ompp_clocks_yield(ompp_clocks_t *c, const ompp_clock_vector_t *vector)
{
    if (vector->t == 0 || vector->set != c->set) return;
    if (vector->used > c->used) c->used = (unsigned)vector->used;
    for (unsigned i = 0; i < c->used; i++) c->o[i] = vector->t; /* it is at 0 on all clocks */
}

void ompp_clocks_paid(ompp_clocks_t *c, ompp_time_t t)
{
    if (t <= c->since) return;
    c->o[OMPP_CLOCKS_EXPERIMENT] += fine(t - c->since);
    c->o[OMPP_CLOCKS_BASELINE] += fine(t - c->since);
    c->since = t;
    c->debt = 0;
}

void ompp_clocks_start(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector,
                       ompp_time_t t)
{
    if (c->where != OMPP_CLOCKS_OUTSIDE) ompp_clocks_count(c, t); /* outside, it was waiting to be begun */
    ompp_clocks_book(rule, c);
    const bool known = vector->set == c->set;
    const unsigned there = known ? (unsigned)vector->used : 0;
    for (unsigned i = 0; i < there; i += SPEEDUPS) subtract(c->o + i, vector->t, vector->v + i);
    for (unsigned i = there; i < c->used; i++) c->o[i] = 0;
    if (there > c->used) c->used = there;
    if (known && fine(t) > vector->t)
        ompp_clocks_hand_over(rule, c, OMPP_CLOCKS_FOR_THREADS, t - (ompp_time_t)(vector->t / OMPP_FINE));
    c->since = t;
    c->waiting = 0;
    c->debt = 0;
}

uint32_t ompp_clocks_overtaken(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c,
                               const ompp_clock_vector_t *before, ompp_time_t tolerance)
{
    const ompp_time_t begin = c->waiting ? c->waiting : c->since;
    const ompp_fine_t limit = fine(begin) + fine(tolerance);
    const unsigned used = before->used > c->used ? (unsigned)before->used : c->used;
    unsigned slots = 0;

    if (before->t == 0 || before->set != c->set) return 0;
    for (unsigned s = 0; s < used / SPEEDUPS; s++) {
        unsigned any = 0;
        for (unsigned k = 0; k < SPEEDUPS; k++) {
            const unsigned i = s * SPEEDUPS + k;
            if (rule->ideal && i == OMPP_WHATIF_NO_LOCKS) continue; /* nobody waits there */
            any |= limit - ompp_clocks_offset(rule, c, i) < ompp_clock_vector_at(before, i);
        }
        slots |= any << s;
    }
    return slots;
}

bool ompp_clocks_overtaken_on(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c, const ompp_clock_vector_t *before,
                              unsigned clock, ompp_time_t tolerance)
{
    const ompp_time_t begin = c->waiting ? c->waiting : c->since;

    if (before->t == 0 || before->set != c->set) return false;
    return fine(begin) + fine(tolerance) - ompp_clocks_offset(rule, c, clock) < ompp_clock_vector_at(before, clock);
}
