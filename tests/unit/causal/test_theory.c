/*
 * The theory as a simulator: random programs run in simulated time, once as they are, with the clocks of src/causal,
 * and once with a region really made faster. What the clocks predict must be that time exactly; wrong rules, which look
 * as plausible, must fail.
 *
 * A program is a list of steps in an order in which they can be executed. Two more executions: with delays, one clock
 * at a time, which must predict the same time and also find the time that the program takes undisturbed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* after those: */
#include <cmocka.h>

#include "causal/clock/ompp_clocks.h"
#include "tests/unit/causal/random.h"

#define PROGRAMS 200
#define CONTEXTS 4u
#define REGIONS 5u
#define STEPS 2000u
#define IDS 600u /* things that are published */
#define START 1000u

typedef enum { WORK, PUBLISH, WAIT, BARRIER, BEGIN } op_t;

typedef struct {
    op_t op;
    unsigned context;
    unsigned mask;      /* WORK: regions it is in. BARRIER: contexts that take part */
    unsigned time;      /* WORK: duration. WAIT: cost. ns */
    unsigned n, ids[3]; /* PUBLISH, BEGIN: ids[0]; WAIT: for these */
} step_t;

typedef struct {
    unsigned nsteps, nids;
    step_t steps[STEPS];
} program_t;

/* ---- Random programs --------------------------------------------------------------------------------------------- */

static step_t *add(program_t *p, op_t op, unsigned context)
{
    assert_true(p->nsteps < STEPS);
    step_t *s = &p->steps[p->nsteps++];
    *s = (step_t){.op = op, .context = context};
    return s;
}

/* Short and long pieces, in no region, in one, or in one inside another. */
static void add_work(program_t *p, unsigned context)
{
    step_t *s = add(p, WORK, context);

    s->time = 1 + below(below(3) ? 3000 : 20000);
    if (below(5) < 2) s->mask |= 1u << below(REGIONS);
    if (below(5) < 1) s->mask |= 1u << below(REGIONS);
}

static unsigned add_publish(program_t *p, unsigned context)
{
    step_t *s = add(p, PUBLISH, context);

    s->ids[0] = p->nids++;
    return s->ids[0];
}

/* Phases of a team between barriers of all. */
static void make_fork_join(program_t *p)
{
    for (unsigned phase = 0; phase < 40; phase++) {
        for (unsigned c = 0; c < CONTEXTS; c++)
            for (unsigned k = 1 + below(4); k > 0; k--) add_work(p, c);
        add(p, BARRIER, 0)->mask = (1u << CONTEXTS) - 1;
    }
}

/* Messages between named partners, received in the order they were sent. */
static void make_messages(program_t *p)
{
    for (unsigned k = 0; k < 400; k++) {
        unsigned from = below(CONTEXTS), to = (from + 1 + below(CONTEXTS - 1)) % CONTEXTS;
        add_work(p, from);
        if (below(2)) continue;
        unsigned id = add_publish(p, from);
        if (below(2)) add_work(p, to);
        step_t *s = add(p, WAIT, to);
        s->n = 1;
        s->ids[0] = id;
        s->time = 50;
    }
}

/* Locks: who takes one waits for the last one that gave it back, and pauses with it in its hand. */
static void make_locks(program_t *p)
{
    unsigned given_back[2] = {IDS, IDS};

    for (unsigned k = 0; k < 350; k++) {
        unsigned c = below(CONTEXTS), lock = below(2);
        add_work(p, c);
        if (given_back[lock] < IDS) {
            step_t *s = add(p, WAIT, c);
            s->n = 1;
            s->ids[0] = given_back[lock];
        }
        add_work(p, c);
        if (below(2)) add_work(p, c);
        given_back[lock] = add_publish(p, c);
    }
}

/* All of it: messages, several awaited at once, locks and tasks in the order they came, barriers of some, teams begun
 * anew. */
static void make_mixed(program_t *p)
{
    for (unsigned k = 0; k < 400; k++) {
        unsigned c = below(CONTEXTS);
        add_work(p, c);
        switch (below(6)) {
        case 0:
        case 1: add_publish(p, c); break;
        case 2:
        case 3:
            if (p->nids > 3) {
                step_t *s = add(p, WAIT, c);
                s->n = 1 + below(3);
                for (unsigned i = 0; i < s->n; i++) s->ids[i] = p->nids - 1 - below(p->nids < 8 ? p->nids : 8);
                s->time = below(2) ? 70 : 0;
            }
            break;
        case 4: add(p, BARRIER, 0)->mask = 1 + below((1u << CONTEXTS) - 1); break;
        default:
            /* A team: the others are there already, so that its master can fork. */
            add(p, BARRIER, 0)->mask = (1u << CONTEXTS) - 1;
            unsigned id = add_publish(p, c);
            for (unsigned i = 0; i < CONTEXTS; i++)
                if (i != c) add(p, BEGIN, i)->ids[0] = id;
        }
    }
}

/* ---- The program as it is when one region is really faster ------------------------------------------------------- */

static double latest(const double *t)
{
    double last = 0;

    for (unsigned i = 0; i < CONTEXTS; i++)
        if (t[i] > last) last = t[i];
    return last;
}

/* \return end of the program, 1/100 ns, when work in the region takes (100 - percent) / 100 of its time. */
static double real_time(const program_t *p, unsigned region, unsigned percent)
{
    double t[CONTEXTS], published[IDS];

    for (unsigned i = 0; i < CONTEXTS; i++) t[i] = START * OMPP_FINE;
    for (unsigned k = 0; k < p->nsteps; k++) {
        const step_t *s = &p->steps[k];
        double last = 0;
        switch (s->op) {
        case WORK: t[s->context] += s->time * (s->mask >> region & 1 ? OMPP_FINE - percent : OMPP_FINE); break;
        case PUBLISH: published[s->ids[0]] = t[s->context]; break;
        case WAIT:
            for (unsigned i = 0; i < s->n; i++)
                if (published[s->ids[i]] + s->time * OMPP_FINE > t[s->context])
                    t[s->context] = published[s->ids[i]] + s->time * OMPP_FINE;
            break;
        case BEGIN: t[s->context] = published[s->ids[0]]; break;
        case BARRIER:
            for (unsigned i = 0; i < CONTEXTS; i++)
                if (s->mask >> i & 1 && t[i] > last) last = t[i];
            for (unsigned i = 0; i < CONTEXTS; i++)
                if (s->mask >> i & 1) t[i] = last;
            break;
        }
    }
    return latest(t);
}

/* ---- The program as it is measured ------------------------------------------------------------------------------- */

typedef struct rule rule_t;

/* A context goes on at t with what it waited for. \return when it really goes on: later than t when it is delayed. */
typedef ompp_time_t go_on_t(const rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector, ompp_time_t cost,
                            ompp_time_t t);

struct rule {
    const char *name;
    go_on_t *go_on;
    bool delays; /* one clock at a time: 0, or those of the product with delays */
    bool right;
};

static ompp_clocks_rule_t clocks_rule;
static ompp_clocks_t contexts[CONTEXTS];
static ompp_time_t now[CONTEXTS];
static ompp_clock_vector_t vectors[IDS];

static ompp_time_t by_the_clocks(const rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector,
                                 ompp_time_t cost, ompp_time_t t)
{
    ompp_time_t pause = ompp_clocks_join(&clocks_rule, c, vector, cost, t);

    (void)rule;
    if (pause) ompp_clocks_paid(c, t + pause);
    return t + pause;
}

/* What the wrong rules need: the context's own offset, and the one of what it waited for, ns; taken over without the
 * rule. */
static double own_offset(ompp_clocks_t *c)
{
    ompp_clock_vector_t own;

    ompp_clocks_publish(&clocks_rule, c, &own, c->since);
    return c->o[0] / OMPP_FINE;
}

static ompp_time_t set_offset(ompp_clocks_t *c, double offset, ompp_time_t t)
{
    c->o[0] = offset * OMPP_FINE;
    c->waiting = 0;
    c->since = t;
    return t;
}

/* Everybody pays what the one with the most has more, after all have arrived. */
static ompp_time_t pay_after(const rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector, ompp_time_t cost,
                             ompp_time_t t)
{
    double own = own_offset(c), most = vector->debt / OMPP_FINE;

    (void)rule, (void)cost;
    if (most < own) most = own;
    return set_offset(c, most, t + (ompp_time_t)(most - own));
}

/* Nobody pays: everybody takes over the largest offset. */
static ompp_time_t credit_all(const rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector, ompp_time_t cost,
                              ompp_time_t t)
{
    double own = own_offset(c), most = vector->debt / OMPP_FINE;

    (void)rule, (void)cost;
    return set_offset(c, most < own ? own : most, t);
}

/* Lamport's clocks: the larger offset, less the wait; what comes from one who should have paid first is not held. */
static ompp_time_t no_hold(const rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector, ompp_time_t cost,
                           ompp_time_t t)
{
    double own = own_offset(c), most = vector->debt / OMPP_FINE, waited = (double)(t - c->waiting);

    (void)rule, (void)cost;
    if (most <= own) return set_offset(c, own, t);
    return set_offset(c, most, t + (most - own > waited ? (ompp_time_t)(most - own - waited) : 0));
}

static void go_on(const rule_t *rule, unsigned i, const ompp_clock_vector_t *vector, ompp_time_t cost)
{
    ompp_time_t t = now[i], arrival = (ompp_time_t)(vector->t / OMPP_FINE) + cost;

    ompp_clocks_wait(&contexts[i], t);
    now[i] = rule->go_on(rule, &contexts[i], vector, cost, arrival > t ? arrival : t);
}

/* With delays, an experiment's barrier lets everybody go at the same moment, the last one's; so does this. */
static void barrier(const rule_t *rule, unsigned mask)
{
    ompp_clock_vector_t all = {0}, own;

    for (unsigned i = 0; i < CONTEXTS; i++) {
        if (!(mask >> i & 1)) continue;
        ompp_clocks_publish(&clocks_rule, &contexts[i], &own, now[i]);
        ompp_clocks_combine(&all, &own);
    }
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (mask >> i & 1) go_on(rule, i, &all, 0);
}

static void step(const rule_t *rule, const step_t *s)
{
    ompp_clocks_t *c = &contexts[s->context];
    ompp_clock_vector_t all = {0};

    switch (s->op) {
    case WORK:
        ompp_clocks_move(c, (uint16_t)s->mask, false, now[s->context]);
        now[s->context] += s->time;
        ompp_clocks_move(c, 0, false, now[s->context]);
        break;
    case PUBLISH: ompp_clocks_publish(&clocks_rule, c, &vectors[s->ids[0]], now[s->context]); break;
    case WAIT:
        for (unsigned i = 0; i < s->n; i++) ompp_clocks_combine(&all, &vectors[s->ids[i]]);
        go_on(rule, s->context, &all, s->time);
        break;
    case BEGIN:
        /* It has waited since the barrier: another context's delay there may have been longer than its own. */
        now[s->context] = (ompp_time_t)(vectors[s->ids[0]].t / OMPP_FINE);
        ompp_clocks_start(&clocks_rule, c, &vectors[s->ids[0]], now[s->context]);
        break;
    case BARRIER: barrier(rule, s->mask); break;
    }
}

static void run(const rule_t *rule, const program_t *p)
{
    memset(contexts, 0, sizeof contexts);
    for (unsigned i = 0; i < CONTEXTS; i++) ompp_clocks_reset(&contexts[i], 1, now[i] = START);
    for (unsigned k = 0; k < p->nsteps; k++) step(rule, &p->steps[k]);
}

/* End of the program on a clock, 1/100 ns. */
static double predicted(unsigned clock)
{
    double last = 0, v;

    for (unsigned i = 0; i < CONTEXTS; i++) {
        ompp_clocks_count(&contexts[i], now[i]);
        v = (double)now[i] * OMPP_FINE - ompp_clocks_offset(&clocks_rule, &contexts[i], clock);
        if (v > last) last = v;
    }
    return last;
}

/* ---- Judgement --------------------------------------------------------------------------------------------------- */

static double difference(double a, double b) { return a > b ? a - b : b - a; }

/* All clocks of all regions at once. \return the largest error, 1/100 ns. */
static double error_virtual(const rule_t *rule, const program_t *p)
{
    double worst = 0;

    clocks_rule = (ompp_clocks_rule_t){.percent = {25, 50, 75, 100}};
    run(rule, p);
    for (unsigned region = 0; region < REGIONS; region++)
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
            double e = difference(predicted(region * OMPP_WHATIF_SPEEDUPS + k), real_time(p, region, 25 * (k + 1)));
            if (e > worst) worst = e;
        }
    return worst;
}

/* One clock at a time, in slot 0. Times are ns: with percent, delays are cut to whole ones. */
static double error_delays(const rule_t *rule, const program_t *p)
{
    program_t *one = malloc(sizeof *one);
    double worst = 0;

    for (unsigned region = 0; region < REGIONS; region++)
        for (unsigned percent = 50; percent <= 100; percent += 50) {
            *one = *p;
            for (unsigned k = 0; k < one->nsteps; k++) {
                step_t *s = &one->steps[k];
                if (s->op == WORK) s->mask = s->mask >> region & 1, s->time *= 2; /* so that halves are whole, too */
                if (s->op == WAIT) s->time *= 2;
            }
            clocks_rule = (ompp_clocks_rule_t){.percent = {percent}, .delays = true};
            run(rule, one);
            double e = difference(predicted(OMPP_CLOCKS_EXPERIMENT), real_time(one, 0, percent));
            if (e > worst) worst = e;
            if (!rule->right) continue;
            e = difference(predicted(OMPP_CLOCKS_BASELINE), real_time(one, 0, 0));
            if (e > worst) worst = e;
        }
    free(one);
    return worst;
}

static const rule_t rules[] = {
    {"virtual", by_the_clocks, false, true},          {"delays", by_the_clocks, true, true},
    {"everybody pays after", pay_after, true, false}, {"all are credited", credit_all, true, false},
    {"Lamport without hold", no_hold, true, false},
};

static void judge(void (*make)(program_t *), const char *what)
{
    program_t *p = malloc(sizeof *p);

    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        unsigned wrong = 0;
        for (unsigned n = 0; n < PROGRAMS; n++) {
            seed = 1000 * n + 17;
            p->nsteps = p->nids = 0;
            make(p);
            double e = rules[r].delays ? error_delays(&rules[r], p) : error_virtual(&rules[r], p);
            wrong += e > 0;
        }
        print_message("# %s, %s: %u of %u programs are predicted wrongly\n", what, rules[r].name, wrong, PROGRAMS);
        if (rules[r].right) assert_int_equal(wrong, 0);
        else assert_true(wrong > PROGRAMS / 2);
    }
    free(p);
}

static void fork_join(void **state)
{
    (void)state;
    judge(make_fork_join, "fork-join");
}

static void messages(void **state)
{
    (void)state;
    judge(make_messages, "messages");
}

static void locks(void **state)
{
    (void)state;
    judge(make_locks, "locks");
}

static void mixed(void **state)
{
    (void)state;
    judge(make_mixed, "mixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fork_join), cmocka_unit_test(messages), cmocka_unit_test(locks),
                                       cmocka_unit_test(mixed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
