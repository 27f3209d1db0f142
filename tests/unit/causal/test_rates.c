/*
 * Experiments where the order of events is decided as the program runs, in simulated time: threads are handed out
 * iterations, some with a critical section, and keep up with each other's delays as src/causal makes them. A unit of
 * work takes as long then as in the program with the faster region, to the microsecond. The same experiment without its
 * delays is not the program: who compares with that is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* after those: */
#include <cmocka.h>

#include "analysis/ompp_whatif_priv.h"
#include "causal/clock/ompp_clocks.h"
#include "tests/unit/causal/random.h"

#define PROGRAMS 60
#define UNITS 8u
#define CONTEXTS 4u
#define CHUNKS 40u
#define START 1000u
#define CLOSE 100u /* ns that threads may differ by when they take their turn */
#define NEAR 0.002
#define FAR 0.02

/* An iteration: work outside of the lock, then with it. Masks: bit 0 = in the region. */
typedef struct {
    unsigned out, in, out_mask, in_mask; /* ns; in = 0: no lock */
} chunk_t;

static chunk_t chunks[CHUNKS];

/* Alike from unit to unit; locks: with critical sections. */
static void make_unit(bool locks)
{
    for (unsigned i = 0; i < CHUNKS; i++) {
        const bool long_one = i % 3 == 0;
        chunks[i] =
            (chunk_t){.out = 2 * (long_one ? 20000 + below(40000) : 10000 + below(10000)), .out_mask = long_one};
        if (locks) chunks[i] = (chunk_t){.out = 20000 + 2 * below(20000), .in = 10000 + 2 * below(10000), .in_mask = 1};
    }
}

/* ---- The program as it is when the region is really faster ------------------------------------------------------- */

static double scaled(unsigned time, unsigned mask, unsigned percent)
{
    return (double)time * (mask ? 100 - percent : 100) / 100;
}

/* \return ns. */
static double real_time(unsigned percent)
{
    double t[CONTEXTS] = {0}, lock = 0, last = 0;
    int at[CONTEXTS]; /* the iteration whose lock it asks for; -1 = free */
    unsigned next = 0;

    for (unsigned i = 0; i < CONTEXTS; i++) at[i] = -1;
    for (;;) {
        int first = -1;
        for (unsigned i = 0; i < CONTEXTS; i++)
            if ((at[i] >= 0 || next < CHUNKS) && (first < 0 || t[i] < t[first])) first = (int)i;
        if (first < 0) break;
        if (at[first] >= 0) {
            const chunk_t *c = &chunks[at[first]];
            if (lock > t[first]) t[first] = lock;
            lock = t[first] += scaled(c->in, c->in_mask, percent);
            at[first] = -1;
        } else {
            const chunk_t *c = &chunks[next++];
            t[first] += scaled(c->out, c->out_mask, percent);
            if (c->in) at[first] = (int)next - 1;
        }
    }
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (t[i] > last) last = t[i];
    return last;
}

/* ---- The experiment ---------------------------------------------------------------------------------------------- */

typedef enum { FREE, ASKS, WAITS, HAS, DONE } state_t;

typedef struct {
    ompp_clocks_t clocks;
    ompp_time_t now; /* of its next event */
    state_t state;
    unsigned chunk;
} context_t;

static struct {
    ompp_clocks_rule_t rule;
    context_t contexts[CONTEXTS];
    unsigned next;
    int holder;
    unsigned queue[CONTEXTS], nqueue;
    ompp_clock_vector_t released, arrival, asked; /* who came for iterations, for the lock */
    bool keeps_up;
    /* looks at which the faster program, and the one without delays, would have another order */
    unsigned other, reordered;
} run;

static ompp_fine_t offset_at(const context_t *c, ompp_time_t t)
{
    const bool works = c->clocks.mask & 1 && !c->clocks.waiting && t > c->clocks.since;

    return ompp_clocks_offset(&run.rule, &c->clocks, 0) +
           (works ? run.rule.percent[0] * (ompp_fine_t)(t - c->clocks.since) : 0);
}

/* \return whether it had to wait: it looks again then. */
static bool chase(context_t *c)
{
    ompp_fine_t most = 0;

    ompp_clocks_count(&c->clocks, c->now);
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (offset_at(&run.contexts[i], c->now) > most) most = offset_at(&run.contexts[i], c->now);
    const ompp_fine_t owes = most - offset_at(c, c->now);
    if (!run.keeps_up || owes < CLOSE * OMPP_FINE) return false;
    ompp_clocks_paid(&c->clocks, c->now += (ompp_time_t)(owes / OMPP_FINE));
    return true;
}

static void watch(context_t *c, ompp_clock_vector_t *before)
{
    ompp_clock_vector_t own;

    run.other += ompp_clocks_overtaken_on(&run.rule, &c->clocks, before, OMPP_CLOCKS_EXPERIMENT, 2 * CLOSE);
    run.reordered += ompp_clocks_overtaken_on(&run.rule, &c->clocks, before, OMPP_CLOCKS_BASELINE, CLOSE);
    ompp_clocks_publish(&run.rule, &c->clocks, &own, c->now);
    ompp_clocks_combine(before, &own);
}

static void go_on(context_t *c, const ompp_clock_vector_t *vector, ompp_time_t t)
{
    const ompp_time_t pause = ompp_clocks_join(&run.rule, &c->clocks, vector, 0, t);

    if (pause) ompp_clocks_paid(&c->clocks, t + pause);
    c->now = t + pause;
}

static void get_lock(unsigned i, ompp_time_t t)
{
    context_t *c = &run.contexts[i];

    run.holder = (int)i;
    go_on(c, run.released.t > 0 ? &run.released : NULL, t);
    ompp_clocks_move(&c->clocks, (uint16_t)chunks[c->chunk].in_mask, false, c->now);
    c->now += chunks[c->chunk].in;
    c->state = HAS;
}

static void give_lock(context_t *c)
{
    ompp_clocks_move(&c->clocks, 0, false, c->now);
    ompp_clocks_publish(&run.rule, &c->clocks, &run.released, c->now);
    run.holder = -1;
    c->state = FREE;
    if (!run.nqueue) return;
    const unsigned first = run.queue[0];
    memmove(run.queue, run.queue + 1, --run.nqueue * sizeof run.queue[0]);
    get_lock(first, c->now);
}

static void take_chunk(context_t *c)
{
    watch(c, &run.arrival);
    c->state = run.next < CHUNKS ? ASKS : DONE;
    if (c->state == DONE) return;
    c->chunk = run.next++;
    ompp_clocks_move(&c->clocks, (uint16_t)chunks[c->chunk].out_mask, false, c->now);
    c->now += chunks[c->chunk].out;
}

static void ask(unsigned i)
{
    context_t *c = &run.contexts[i];

    ompp_clocks_move(&c->clocks, 0, false, c->now);
    if (!chunks[c->chunk].in) c->state = FREE;
    if (c->state == FREE || chase(c)) return;
    watch(c, &run.asked);
    ompp_clocks_wait(&c->clocks, c->now);
    c->state = WAITS;
    if (run.holder < 0) get_lock(i, c->now);
    else run.queue[run.nqueue++] = i;
}

/* A thread comes to the end of what it does. \return false when all are done. */
static bool step(void)
{
    int first = -1;

    for (unsigned i = 0; i < CONTEXTS; i++) {
        const context_t *c = &run.contexts[i];
        if (c->state != DONE && c->state != WAITS && (first < 0 || c->now < run.contexts[first].now)) first = (int)i;
    }
    if (first < 0) return false;
    context_t *c = &run.contexts[first];
    if (c->state == ASKS) ask((unsigned)first);
    else if (c->state == HAS) give_lock(c);
    else if (!chase(c)) take_chunk(c);
    return true;
}

/* One unit of work, and the barrier behind it. */
static ompp_whatif_block_t experiment(unsigned percent)
{
    ompp_clock_vector_t all = {0}, own;
    ompp_time_t end = 0;

    run.rule = (ompp_clocks_rule_t){.percent = {percent}, .delays = true};
    run.next = run.nqueue = 0;
    run.holder = -1;
    run.released.t = run.arrival.t = run.asked.t = 0;
    memset(run.contexts, 0, sizeof run.contexts);
    for (unsigned i = 0; i < CONTEXTS; i++) ompp_clocks_reset(&run.contexts[i].clocks, 1, run.contexts[i].now = START);
    while (step()) continue;
    for (unsigned i = 0; i < CONTEXTS; i++) {
        ompp_clocks_publish(&run.rule, &run.contexts[i].clocks, &own, run.contexts[i].now);
        ompp_clocks_combine(&all, &own);
    }
    for (unsigned i = 0; i < CONTEXTS; i++) {
        const ompp_time_t t = (ompp_time_t)(all.t / OMPP_FINE);
        ompp_clocks_wait(&run.contexts[i].clocks, run.contexts[i].now);
        go_on(&run.contexts[i], &all, t);
        if (run.contexts[i].now > end) end = run.contexts[i].now;
    }
    const ompp_fine_t *o = run.contexts[0].clocks.o;
    return (ompp_whatif_block_t){.visits = 1,
                                 .time_ns = end - START,
                                 .saved_ns = (int64_t)(o[OMPP_CLOCKS_EXPERIMENT] / OMPP_FINE),
                                 .paid_ns = (uint64_t)(o[OMPP_CLOCKS_BASELINE] / OMPP_FINE)};
}

/* ---- Judgement --------------------------------------------------------------------------------------------------- */

static double off(double a, double b) { return a > b ? a - b : b - a; }

/* \return by how much the gain is off, by rates and without the delays. */
static void judge_program(bool locks, unsigned percent, double *rates, double *alone)
{
    ompp_whatif_clock_t clock = {.permille = 10 * percent}, control = {0};
    ompp_gain_t gain = {0};
    double base = 0, faster = 0, time = 0, saved = 0, paid = 0;

    for (unsigned u = 0; u < UNITS; u++) {
        make_unit(locks);
        base += real_time(0);
        faster += real_time(percent);
        control.blocks[control.nblocks++] = experiment(0);
        const ompp_whatif_block_t b = experiment(percent);
        clock.blocks[clock.nblocks++] = b;
        time += (double)b.time_ns;
        saved += (double)b.saved_ns;
        paid += (double)b.paid_ns;
    }
    assert_true(ompp_whatif_by_control(&clock, &control, 0, &gain));
    assert_true(gain.by_control && gain.low <= gain.gain && gain.gain <= gain.high);
    *rates = off(gain.gain, 1 - faster / base);
    *alone = off(ompp_whatif_gain_of(time, saved, paid), 1 - faster / base);
}

/* \return of so many programs: wrong by rates; wrong by the experiment alone. */
static void judge(bool locks, unsigned percent, unsigned wrong[2])
{
    wrong[0] = wrong[1] = 0;
    run.other = run.reordered = 0;
    for (unsigned n = 0; n < PROGRAMS; n++) {
        double rates, alone;
        seed = 1000 * n + 17;
        judge_program(locks, percent, &rates, &alone);
        wrong[0] += rates > NEAR;
        wrong[1] += alone > FAR;
    }
    print_message("# %s, %u %%%s: of %u programs %u are wrong by rates, %u by %.0f points without; order: %u, %u\n",
                  locks ? "locks" : "iterations", percent, run.keeps_up ? "" : ", not keeping up", PROGRAMS, wrong[0],
                  wrong[1], 100 * FAR, run.other, run.reordered);
}

static void iterations(void **state)
{
    unsigned wrong[2];

    (void)state;
    run.keeps_up = true;
    for (unsigned percent = 50; percent <= 100; percent += 50) {
        judge(false, percent, wrong);
        assert_int_equal(wrong[0], 0);
        assert_true(wrong[1] > PROGRAMS / 2);
        assert_int_equal(run.other, 0);
        assert_true(run.reordered > PROGRAMS);
    }
}

static void locks(void **state)
{
    unsigned wrong[2];

    (void)state;
    run.keeps_up = true;
    for (unsigned percent = 50; percent <= 100; percent += 50) {
        judge(true, percent, wrong);
        assert_int_equal(wrong[0], 0);
        assert_int_equal(run.other, 0);
    }
}

/* Threads that do not wait for each other's delays before they take their turn have another order, and that is seen. */
static void not_keeping_up(void **state)
{
    unsigned wrong[2];

    (void)state;
    run.keeps_up = false;
    for (unsigned locks = 0; locks < 2; locks++) {
        judge(locks, 100, wrong);
        assert_true(wrong[0] > PROGRAMS / 2);
        assert_true(run.other > PROGRAMS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(iterations), cmocka_unit_test(locks),
                                       cmocka_unit_test(not_keeping_up)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
