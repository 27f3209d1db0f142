/* Never backwards, and as fast as CLOCK_MONOTONIC: by relation within one run, whatever the machine does meanwhile. */
#include "base/ompp_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Both clocks at nearly the same moment: the tightest of many pairs, so that being interrupted in between does not
 * count. */
static void both(uint64_t *ours, uint64_t *theirs)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 200; i++) {
        uint64_t before = ompp_clock_now(), now = ompp_clock_gettime(), after = ompp_clock_now();
        if (after - before >= best) continue;
        best = after - before;
        *ours = before + (after - before) / 2;
        *theirs = now;
    }
}

static void rate(const char *choice)
{
    uint64_t a, b, c, d, last = 0;
    struct timespec span = {0, 50000000};

    ompp_clock_start(choice);
    for (int i = 0; i < 100000; i++) {
        uint64_t now = ompp_clock_now();
        assert_true(now >= last);
        last = now;
    }
    both(&a, &b);
    nanosleep(&span, NULL);
    both(&c, &d);
    double ratio = (double)(c - a) / (double)(d - b);
    if (ratio <= 0.999 || ratio >= 1.001) print_error("%s: %.6f of CLOCK_MONOTONIC\n", choice, ratio);
    assert_true(ratio > 0.999 && ratio < 1.001);
}

static void rates(void **state)
{
    (void)state;
    rate("auto");
    rate("gettime");
    assert_string_equal(ompp_clock_source(), "clock_gettime");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rates)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
