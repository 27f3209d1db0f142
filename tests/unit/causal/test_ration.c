/*
 * Intervals that are gone through again take their share of the run and no more; what the others would have saved is estimated from them,
 * also where two loops take turns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* after those: */
#include <cmocka.h>

#include "causal/ompp_ration.h"

#define INTERVALS 20000u
#define LOOPS 2u

static const ompp_time_t length[LOOPS] = {300000, 500000}; /* ns */
static const double saves[LOOPS] = {0.1, 0.3};             /* of it, on clock 3, beyond what the measured order saves */

typedef struct {
    ompp_ration_t ration;
    ompp_time_t now;
    unsigned replayed[LOOPS];
    double saved; /* ns, with the estimates */
} run_t;

static ompp_stamp_t stamp_at(ompp_time_t t)
{
    ompp_stamp_t stamp = {.t = (double)t * OMPP_FINE, .set = 1};

    for (unsigned i = 0; i < OMPP_CLOCKS; i++) stamp.v[i] = stamp.t;
    return stamp;
}

static void interval(run_t *run, unsigned loop, ompp_time_t cost)
{
    const bool again = ompp_ration_allows(&run->ration, run->now);
    ompp_stamp_t stamp;

    run->now += length[loop];
    stamp = stamp_at(run->now);
    if (again) {
        const ompp_stamp_t before = stamp;
        stamp.v[3] -= saves[loop] * (double)length[loop] * OMPP_FINE;
        ompp_ration_learn(&run->ration, &before, &stamp, (double)length[loop] * OMPP_FINE);
        ompp_ration_spend(&run->ration, cost);
        run->now += cost;
        run->replayed[loop]++;
    } else {
        assert_true(ompp_ration_estimate(&run->ration, &stamp, (double)length[loop] * OMPP_FINE));
    }
    assert_true(stamp.v[2] == stamp.t);
    run->saved += (stamp.t - stamp.v[3]) / OMPP_FINE;
}

static run_t run_of(ompp_time_t cost)
{
    run_t run = {.now = 1000000};

    for (unsigned n = 0; n < INTERVALS; n++) interval(&run, n % LOOPS, cost);
    return run;
}

static double expected(void)
{
    return INTERVALS / LOOPS * (saves[0] * (double)length[0] + saves[1] * (double)length[1]);
}

/* What costs little is all had. */
static void cheap(void **state)
{
    const run_t run = run_of(1000);

    (void)state;
    assert_int_equal(run.ration.replayed, INTERVALS);
    assert_int_equal(run.ration.kept, 0);
    assert_true(run.saved == expected());
}

static void dear(void **state)
{
    const run_t run = run_of(30000);

    (void)state;
    assert_int_equal(run.ration.replayed + run.ration.kept, INTERVALS);
    assert_true(run.ration.kept > INTERVALS / 2);
    assert_true(run.ration.spent * OMPP_RATION_PART <= run.now + (OMPP_RATION_FREE + 30000) * OMPP_RATION_PART);
    assert_true(run.ration.spent * OMPP_RATION_PART > run.now / 2);
}

/* Both loops have their part, and with it the estimate is right. */
static void estimated(void **state)
{
    const run_t run = run_of(30000);

    (void)state;
    for (unsigned l = 0; l < LOOPS; l++) assert_true(run.replayed[l] * 3 > run.ration.replayed);
    assert_true(run.saved > 0.95 * expected() && run.saved < 1.05 * expected());
}

/* One in a hundred is not enough to say that order does not matter. */
static void too_few(void **state)
{
    run_t run = {.now = 1000000};
    ompp_stamp_t stamp;

    (void)state;
    for (unsigned n = 0; n < INTERVALS; n++) {
        if (ompp_ration_allows(&run.ration, run.now)) ompp_ration_spend(&run.ration, 300000);
        run.now += 300000;
    }
    run.ration.set = 1;
    run.ration.length = 1;
    stamp = stamp_at(run.now);
    assert_false(ompp_ration_estimate(&run.ration, &stamp, 300000 * OMPP_FINE));
}

/* What was learnt with other regions on the clocks says nothing. */
static void other_set(void **state)
{
    run_t run = run_of(30000);
    ompp_stamp_t stamp = stamp_at(run.now);

    (void)state;
    stamp.set = 2;
    assert_false(ompp_ration_estimate(&run.ration, &stamp, 100000 * OMPP_FINE));
    assert_true(stamp.v[3] == stamp.t);
    const ompp_stamp_t before = stamp;
    stamp.v[3] -= 1000;
    ompp_ration_learn(&run.ration, &before, &stamp, 10000);
    stamp = before;
    ompp_ration_estimate(&run.ration, &stamp, 10000);
    assert_true(before.v[3] - stamp.v[3] == 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cheap), cmocka_unit_test(dear), cmocka_unit_test(estimated),
                                       cmocka_unit_test(too_few), cmocka_unit_test(other_set)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
