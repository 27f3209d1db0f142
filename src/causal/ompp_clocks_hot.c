/*
 * The rules. Loops are over all clocks, of constant length and without branches, so that compilers make vector code of them.
 */
#include "causal/ompp_clocks.h"

#include <string.h>

static inline ompp_fine_t fine(ompp_time_t t)
{
    return (ompp_fine_t)(int64_t)t * OMPP_FINE;
}

static inline ompp_fine_t later(ompp_fine_t a, ompp_fine_t b)
{
    return a > b ? a : b;
}

ompp_fine_t ompp_clocks_offset(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c, unsigned clock)
{
    return c->o[clock] + rule->percent[clock % OMPP_WHATIF_SPEEDUPS] * (ompp_fine_t)c->work[clock / OMPP_WHATIF_SPEEDUPS];
}

void ompp_clocks_book(const ompp_clocks_rule_t *rule, ompp_clocks_t *c)
{
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        if (!c->work[s]) continue;
        const ompp_fine_t work = (ompp_fine_t)c->work[s];
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) c->o[s * OMPP_WHATIF_SPEEDUPS + k] += rule->percent[k] * work;
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
    c->mask = 0;
    c->since = t;
}

void ompp_clocks_stamp(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, ompp_stamp_t *stamp, ompp_time_t t)
{
    ompp_clocks_count(c, t);
    ompp_clocks_book(rule, c);
    const ompp_fine_t now = fine(t);
    stamp->t = now;
    stamp->debt = c->o[OMPP_CLOCKS_EXPERIMENT];
    stamp->set = c->set;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) stamp->v[i] = now - c->o[i];
}

static void without_set(ompp_stamp_t *stamp, uint64_t set)
{
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) stamp->v[i] = stamp->t;
    stamp->debt = 0;
    stamp->set = set;
}

void ompp_clocks_combine(ompp_stamp_t *into, const ompp_stamp_t *other)
{
    if (other->t == 0) return;
    if (into->t == 0) {
        *into = *other;
        return;
    }
    if (into->set < other->set) without_set(into, other->set);
    if (other->set < into->set) {
        for (unsigned i = 0; i < OMPP_CLOCKS; i++) into->v[i] = later(into->v[i], other->t);
    } else {
        for (unsigned i = 0; i < OMPP_CLOCKS; i++) into->v[i] = later(into->v[i], other->v[i]);
        into->debt = later(into->debt, other->debt);
    }
    into->t = later(into->t, other->t);
}

static inline void use_rule(ompp_clocks_t *c, ompp_fine_t begin, ompp_fine_t arrival, const ompp_stamp_t *stamp, ompp_fine_t cost)
{
    const ompp_fine_t last = later(begin, arrival);

    for (unsigned i = 0; i < OMPP_CLOCKS; i++) c->o[i] = last - later(begin - c->o[i], stamp->v[i] + cost);
}

ompp_time_t ompp_clocks_adopt(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, const ompp_stamp_t *stamp, ompp_time_t cost,
                              ompp_time_t t)
{
    const ompp_time_t begin = c->waiting ? c->waiting : t;

    ompp_clocks_count(c, begin);
    ompp_clocks_book(rule, c);
    if (stamp && stamp->t > 0 && stamp->set == c->set) {
        const ompp_fine_t o = c->o[OMPP_CLOCKS_EXPERIMENT];
        ompp_fine_t extra = fine(cost);
        /* What is told late, or takes longer than it can have taken: it was there by now. */
        if (stamp->t + extra > fine(t)) extra = fine(t) - stamp->t;
        use_rule(c, fine(begin), stamp->t + extra, stamp, extra);
        c->debt = later(o, stamp->debt) - c->o[OMPP_CLOCKS_EXPERIMENT];
    } else {
        c->debt = 0;
    }
    if (t > c->since) c->since = t;
    c->waiting = 0;
    return rule->delays && c->debt > 0 ? (ompp_time_t)(c->debt / OMPP_FINE) : 0;
}

void ompp_clocks_yield(ompp_clocks_t *c, const ompp_stamp_t *stamp)
{
    if (stamp->t == 0 || stamp->set != c->set) return;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) c->o[i] = stamp->t; /* it is at 0 on all clocks */
}

void ompp_clocks_paid(ompp_clocks_t *c, ompp_time_t t)
{
    if (t <= c->since) return;
    c->o[OMPP_CLOCKS_EXPERIMENT] += fine(t - c->since);
    c->o[OMPP_CLOCKS_BASELINE] += fine(t - c->since);
    c->since = t;
    c->debt = 0;
}

void ompp_clocks_start(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, const ompp_stamp_t *stamp, ompp_time_t t)
{
    if (c->where != OMPP_CLOCKS_OUTSIDE) ompp_clocks_count(c, t); /* outside, it was waiting to be begun */
    ompp_clocks_book(rule, c);
    const ompp_fine_t known = stamp->set == c->set;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) c->o[i] = (stamp->t - stamp->v[i]) * known;
    c->since = t;
    c->waiting = 0;
    c->debt = 0;
}

uint16_t ompp_clocks_overtaken(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c, const ompp_stamp_t *before, ompp_time_t tolerance)
{
    const ompp_time_t begin = c->waiting ? c->waiting : c->since;
    const ompp_fine_t limit = fine(begin) + fine(tolerance);
    unsigned slots = 0;

    if (before->t == 0 || before->set != c->set) return 0;
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        unsigned any = 0;
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
            const unsigned i = s * OMPP_WHATIF_SPEEDUPS + k;
            any |= limit - ompp_clocks_offset(rule, c, i) < before->v[i];
        }
        slots |= any << s;
    }
    return (uint16_t)slots;
}

bool ompp_clocks_overtaken_on(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c, const ompp_stamp_t *before, unsigned clock,
                              ompp_time_t tolerance)
{
    const ompp_time_t begin = c->waiting ? c->waiting : c->since;

    if (before->t == 0 || before->set != c->set) return false;
    return fine(begin) + fine(tolerance) - ompp_clocks_offset(rule, c, clock) < before->v[clock];
}
