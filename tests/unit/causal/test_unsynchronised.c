/* Experiments that ranks begin at different moments: what is said of a region does not depend on which of them came
 * last. */
#include "causal/experiment/ompp_unsynchronised.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static ompp_unsynchronised_t unsynchronised;
static ompp_whatif_clock_t clocks[OMPP_WHATIF_SPEEDUPS];

static int begin(void **state)
{
    (void)state;
    memset(&unsynchronised, 0, sizeof unsynchronised);
    memset(clocks, 0, sizeof clocks);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) clocks[k].permille = 250 * (k + 1);
    return 0;
}

static bool after(unsigned clock, unsigned times, bool is_unsynchronised, bool drifts)
{
    for (unsigned i = 0; i < times; i++) {
        clocks[clock].observations++;
        ompp_unsynchronised_note(&unsynchronised, clock, is_unsynchronised, drifts);
    }
    return ompp_unsynchronised_matters(&unsynchronised, clocks);
}

/* A large speed-up is off however many experiments there are, and whatever small ones come after. */
static void large_and_small(void **state)
{
    (void)state;
    assert_true(after(3, 20, true, false));
    assert_true(after(0, 20, true, false));
    assert_true(after(1, 1, false, false));
}

static void small_and_many(void **state)
{
    (void)state;
    assert_true(after(0, 11, true, false));
    assert_false(after(0, 1, true, false));
    assert_true(after(1, 1, true, false)); /* of another speed-up there are few */
    assert_true(after(0, 1, true, false));
    assert_false(after(1, 11, true, false));
}

static void together(void **state)
{
    (void)state;
    assert_false(after(3, 2, false, false));
    assert_false(after(0, 1, false, false));
}

/* It is known of all experiments that were apart; one that was not says nothing. */
static void drifting(void **state)
{
    (void)state;
    assert_true(after(0, 12, true, true));
    assert_true(after(1, 12, false, false));
    assert_false(after(0, 1, true, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(large_and_small, begin),
        cmocka_unit_test_setup(small_and_many, begin),
        cmocka_unit_test_setup(together, begin),
        cmocka_unit_test_setup(drifting, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
