/*
 * Intervals that are gone through again take their share of the run and no more; what the others would have saved is
 * estimated from them, also where two loops take turns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* after those: */
#include <cmocka.h>

#include "causal/replay/ompp_replay_budget.h"

#define INTERVALS 20000u
#define LOOPS 2u

#define KINDS 13u

static const ompp_time_t loops[LOOPS] = {300000, 500000}; /* ns */
static const double loops_save[LOOPS] = {0.1, 0.3};       /* of it, on clock 3, beyond what the measured order saves */

/* A long one and many short ones behind it, that save more the later they come. */
static const ompp_time_t cycle[KINDS] = {10000000, 200000, 200000, 200000, 200000, 200000, 200000,
                                         200000,   200000, 200000, 200000, 200000, 200000};
static const double cycle_saves[KINDS] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6};

typedef struct {
    ompp_replay_budget_t budget;
    const ompp_time_t *length;
    const double *saves;
    ompp_time_t now;
    unsigned replayed[KINDS];
    double saved, really; /* ns: with the estimates; by all */
} run_t;

static ompp_clock_vector_t vector_at(ompp_time_t t)
{
    ompp_clock_vector_t vector = {.t = (double)t * OMPP_FINE, .set = 1, .used = OMPP_CLOCKS};

    for (unsigned i = 0; i < OMPP_CLOCKS; i++) vector.v[i] = vector.t;
    return vector;
}

static void interval(run_t *run, unsigned loop, ompp_time_t cost)
{
    const double drawn = ompp_replay_budget_allows(&run->budget, run->now);
    ompp_clock_vector_t vector;

    run->now += run->length[loop];
    vector = vector_at(run->now);
    if (drawn > 0) {
        const ompp_clock_vector_t before = vector;
        vector.v[3] -= run->saves[loop] * (double)run->length[loop] * OMPP_FINE;
        ompp_replay_budget_learn(&run->budget, &before, &vector, (double)run->length[loop] * OMPP_FINE, drawn);
        ompp_replay_budget_charge(&run->budget, cost);
        run->now += cost;
        run->replayed[loop]++;
    } else {
        ompp_replay_budget_estimate(&run->budget, &vector, (double)run->length[loop] * OMPP_FINE);
    }
    assert_true(vector.v[2] == vector.t);
    run->saved += (vector.t - vector.v[3]) / OMPP_FINE;
    run->really += run->saves[loop] * (double)run->length[loop];
}

static run_t run_of(ompp_time_t cost)
{
    run_t run = {.now = 1000000, .length = loops, .saves = loops_save};

    for (unsigned n = 0; n < INTERVALS; n++) interval(&run, n % LOOPS, cost);
    return run;
}

static void assert_near(double x, double expected, double part)
{
    if (x < expected * (1 - part) || x > expected * (1 + part)) fail_msg("%g is not %g within %g", x, expected, part);
}

/* What costs little is all had. */
static void cheap(void **state)
{
    const run_t run = run_of(1000);

    (void)state;
    assert_int_equal(run.budget.replayed, INTERVALS);
    assert_int_equal(run.budget.kept, 0);
    assert_int_equal(run.budget.spoiled, 0);
    assert_near(run.saved, run.really, 1e-9);
}

static void dear(void **state)
{
    const run_t run = run_of(30000);

    (void)state;
    assert_int_equal(run.budget.replayed + run.budget.kept, INTERVALS);
    assert_true(run.budget.kept > INTERVALS / 2);
    assert_true(run.budget.charged * OMPP_REPLAY_BUDGET_PART <=
                run.now + (OMPP_REPLAY_BUDGET_FREE + 30000) * OMPP_REPLAY_BUDGET_PART);
    assert_true(run.budget.charged * OMPP_REPLAY_BUDGET_PART > run.now / 2);
}

/* Both loops have their part, and with it the estimate is right. */
static void estimated(void **state)
{
    const run_t run = run_of(30000);

    (void)state;
    for (unsigned l = 0; l < LOOPS; l++) assert_true(run.replayed[l] * 3 > run.budget.replayed);
    assert_near(run.saved, run.really, 0.05);
}

/* Each kind has the same part, wherever it stands, and however dear it is: a stretch's cost goes by its length here. */
static void unequal(void **state)
{
    static const ompp_time_t dear[] = {40, 100}; /* the part of its length that the short ones cost, the long one */

    (void)state;
    for (unsigned by_length = 0; by_length < 2; by_length++) {
        run_t run = {.now = 1000000, .length = cycle, .saves = cycle_saves};
        for (unsigned n = 0; n < INTERVALS; n++)
            for (unsigned k = 0; k < KINDS; k++) interval(&run, k, by_length ? cycle[k] / dear[k == 0] * 4 : 30000);
        assert_int_equal(run.budget.replayed + run.budget.kept, INTERVALS * KINDS);
        assert_true(run.budget.kept > run.budget.replayed);
        for (unsigned k = 0; k < KINDS; k++) assert_near(run.replayed[k], (double)run.budget.replayed / KINDS, 0.25);
        assert_near(run.saved, run.really, 0.03);
        assert_true(run.budget.charged <= OMPP_REPLAY_BUDGET_FREE + run.now / OMPP_REPLAY_BUDGET_PART + 400000);
    }
}

/* One after the other: what the first one saves is not taken for the second. */
static void phases(void **state)
{
    run_t run = {.now = 1000000, .length = loops, .saves = loops_save};

    (void)state;
    for (unsigned n = 0; n < 2 * INTERVALS; n++) interval(&run, n >= INTERVALS, 30000);
    assert_near(run.saved, run.really, 0.05);
}

/* Long ones are all had, whatever each costs. */
static void long_ones(void **state)
{
    static const ompp_time_t length = 10000000;
    static const double saves = 0.2;
    run_t run = {.now = 1000000, .length = &length, .saves = &saves};

    (void)state;
    for (unsigned n = 0; n < 1000; n++) interval(&run, 0, n % 2 ? 10000 : 60000);
    assert_int_equal(run.budget.kept, 0);
}

/* Those that could not be gone through say nothing, and are not counted with the others. */
static void spoiled(void **state)
{
    run_t run = {.now = 1000000};
    ompp_clock_vector_t vector = vector_at(run.now);
    const ompp_clock_vector_t before = vector;

    (void)state;
    for (unsigned n = 0; n < 100; n++) {
        assert_true(ompp_replay_budget_allows(&run.budget, run.now) > 0);
        ompp_replay_budget_give_up(&run.budget);
        ompp_replay_budget_charge(&run.budget, 10);
    }
    assert_int_equal(run.budget.replayed, 0);
    assert_int_equal(run.budget.spoiled, 100);
    ompp_replay_budget_learn(&run.budget, &before, &vector, 100, 0.5);
    assert_int_equal(run.budget.replayed, 1);
    for (unsigned n = 0; n < OMPP_REPLAY_BUDGET_ENOUGH - 1; n++)
        assert_true(ompp_replay_budget_estimate(&run.budget, &vector, 100));
    assert_false(ompp_replay_budget_estimate(&run.budget, &vector, 100));
}

/* One in a hundred is not enough to say that order does not matter. */
static void too_few(void **state)
{
    run_t run = {.now = 1000000};
    ompp_clock_vector_t vector;

    (void)state;
    bool enough = true;
    for (unsigned n = 0; n < INTERVALS; n++) {
        const double drawn = ompp_replay_budget_allows(&run.budget, run.now);
        run.now += 300000;
        vector = vector_at(run.now);
        if (drawn > 0) {
            ompp_replay_budget_learn(&run.budget, &vector, &vector, 300000 * OMPP_FINE, drawn);
            ompp_replay_budget_charge(&run.budget, 300000);
        } else {
            enough = ompp_replay_budget_estimate(&run.budget, &vector, 300000 * OMPP_FINE);
        }
    }
    assert_true(run.budget.replayed > 50);
    assert_false(enough);
}

/* What was learnt with other regions on the clocks says nothing. */
static void other_set(void **state)
{
    run_t run = run_of(30000);
    ompp_clock_vector_t vector = vector_at(run.now);

    (void)state;
    vector.set = 2;
    assert_false(ompp_replay_budget_estimate(&run.budget, &vector, 100000 * OMPP_FINE));
    assert_true(vector.v[3] == vector.t);
    const ompp_clock_vector_t before = vector;
    vector.v[3] -= 1000;
    ompp_replay_budget_learn(&run.budget, &before, &vector, 10000, 0.5);
    assert_int_equal(run.budget.learnt.replayed, 1);
    assert_true(run.budget.replayed > 1);
    vector = before;
    ompp_replay_budget_estimate(&run.budget, &vector, 10000);
    assert_true(before.v[3] - vector.v[3] == 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheap),   cmocka_unit_test(dear),      cmocka_unit_test(estimated),
        cmocka_unit_test(too_few), cmocka_unit_test(other_set), cmocka_unit_test(unequal),
        cmocka_unit_test(phases),  cmocka_unit_test(long_ones), cmocka_unit_test(spoiled)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
