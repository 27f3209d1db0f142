/* How well what-if results are known: intervals of few blocks, of blocks that disagree, and the control of
 * experiments. */
#include "analysis/ompp_whatif.h"
#include "analysis/ompp_whatif_priv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000000 };

static double normal(void)
{
    double sum = -6; /* of twelve uniform ones */

    for (int i = 0; i < 12; i++) sum += rand() / (RAND_MAX + 1.0);
    return sum;
}

/* n blocks of 10 ms that gain so much, with this spread. */
static void fill(ompp_whatif_clock_t *clock, uint32_t n, double gain, double spread)
{
    memset(clock, 0, sizeof *clock);
    clock->permille = 500;
    clock->observations = n;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t saved = (int64_t)((gain + spread * normal()) * 10 * MS);
        clock->blocks[clock->nblocks++] =
            (ompp_whatif_block_t){.number = i, .visits = 5, .time_ns = 10 * MS, .saved_ns = saved};
        clock->time_ns += 10 * MS;
        clock->saved_ns += (uint64_t)saved;
    }
}

static ompp_gain_t corrected(const ompp_whatif_clock_t *clock, double correction)
{
    const double gained = ompp_whatif_gain_of((double)clock->time_ns, (double)(int64_t)clock->saved_ns, 0);
    ompp_gain_t gain = {.permille = clock->permille, .gain = gained};

    ompp_whatif_interval(clock, correction, &gain);
    return gain;
}

static ompp_gain_t interval_of(const ompp_whatif_clock_t *clock) { return corrected(clock, 1); }

/* Of 95 % intervals most hold what is true, however few blocks there are, and they are not much wider than they have to
 * be. */
static void few_blocks(void **state)
{
    static const uint32_t numbers[] = {4, 6, 10, 32};
    static ompp_whatif_clock_t clock;

    (void)state;
    srand(1);
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        int stalled = 0;
        double wide = 0; /* times what the normal distribution says */
        for (int n = 0; n < 200; n++) {
            fill(&clock, numbers[i], 0.2, 0.02);
            const ompp_gain_t gain = interval_of(&clock);
            assert_int_equal(gain.interval, OMPP_INTERVAL_KNOWN);
            stalled += gain.low <= 0.2 && 0.2 <= gain.high;
            wide += (gain.high - gain.low) / (2 * 1.96 * 0.02 / sqrt(numbers[i])) / 200;
        }
        print_message("%u blocks: %d of 200, %.2f times as wide\n", numbers[i], stalled, wide);
        assert_in_range(stalled, 176, 200);
        assert_true(wide > 0.9 && wide < (numbers[i] < 10 ? 2 : 1.3));
    }
    fill(&clock, 3, 0.2, 0.02);
    assert_int_equal(interval_of(&clock).interval, OMPP_INTERVAL_FEW);
}

/* What comes once, before the first unit of work, does not make the gain uncertain, but smaller. */
static void long_start(void **state)
{
    static ompp_whatif_clock_t clock;

    (void)state;
    srand(1);
    fill(&clock, 30, 0.4, 0.01);
    clock.blocks[0].time_ns += 300 * MS;
    clock.time_ns += 300 * MS;
    const ompp_gain_t gain = interval_of(&clock);
    assert_int_equal(gain.interval, OMPP_INTERVAL_KNOWN);
    assert_true(fabs(gain.gain - 0.2) < 0.01);
    assert_true(gain.low <= gain.gain && gain.gain <= gain.high && gain.high - gain.low < 0.01);
}

/* An interval that is wider than what it is about is none. */
static void blocks_that_disagree(void **state)
{
    static ompp_whatif_clock_t clock;

    (void)state;
    srand(2);
    fill(&clock, 8, 0.02, 1);
    assert_int_equal(interval_of(&clock).interval, OMPP_INTERVAL_WIDE);
    fill(&clock, 8, 0.6, 0.2); /* about as wide as the gain is large: that says something */
    assert_int_equal(interval_of(&clock).interval, OMPP_INTERVAL_KNOWN);
}

/* Where the order of messages decides who works, the interval holds what it is if that changes nothing, and if all is
 * shared anew. */
static void shared_anew(void **state)
{
    ompp_gain_t gain = {.permille = 500, .gain = 0.15, .low = 0.14, .high = 0.16, .interval = OMPP_INTERVAL_KNOWN};

    (void)state;
    ompp_whatif_spread_anew(0.44, &gain);
    assert_true(gain.low == 0.14 && gain.high == 0.22);
    ompp_whatif_spread_anew(0.1, &gain);
    assert_true(gain.low == 0.05 && gain.high == 0.22);
    gain = (ompp_gain_t){.permille = 500, .interval = OMPP_INTERVAL_FEW};
    ompp_whatif_spread_anew(0.44, &gain);
    assert_true(gain.interval == OMPP_INTERVAL_FEW && gain.high == 0);
}

/* Locks let threads pass for 20 % of the part with clocks: the interval reaches to where they still do. */
static void still_passed(void **state)
{
    ompp_whatif_t whatif = {.time_ns = 2000, .suspended_ns = 1000, .passed_ns = 200};
    ompp_gain_t gain = {.permille = 500, .interval = OMPP_INTERVAL_KNOWN, .gain = 0.24, .low = 0.23, .high = 0.25};
    ompp_gain_t unknown = {.permille = 500, .interval = OMPP_INTERVAL_FEW, .gain = 0.04},
                none = {.interval = OMPP_INTERVAL_KNOWN};

    (void)state;
    assert_true(fabs(ompp_whatif_passed(&whatif) - 0.2) < 1e-9);
    ompp_whatif_still_passed(0.2, &gain);
    assert_true(fabs(gain.gain - 0.24) < 1e-9 && fabs(gain.low - 0.04) < 1e-9 && fabs(gain.high - 0.25) < 1e-9);
    ompp_whatif_still_passed(0.1, &gain);
    assert_true(fabs(gain.low - 0.04) < 1e-9);
    ompp_whatif_still_passed(0.2, &unknown);
    ompp_whatif_still_passed(0.2, &none);
    assert_true(unknown.low == 0 && none.low == 0);
    whatif.suspended_ns = whatif.time_ns;
    assert_true(ompp_whatif_passed(&whatif) == 0);
    whatif.suspended_ns = 0, whatif.passed_ns = 5000; /* several teams at once */
    assert_true(ompp_whatif_passed(&whatif) == 1);
}

/* A region that takes half its time gains half of the run at most, however little of it was seen. */
static void bounded(void **state)
{
    static ompp_whatif_clock_t clock;

    (void)state;
    srand(5);
    fill(&clock, 20, 0.3, 0);
    assert_true(fabs(corrected(&clock, 1.5).gain - 0.45) < 1e-6);
    assert_true(fabs(corrected(&clock, 2).gain - 0.5) < 1e-6);
    fill(&clock, 20, 0.6, 0); /* nor is it made less */
    assert_true(fabs(corrected(&clock, 2).gain - 0.6) < 1e-6);
}

/* Experiments of five units each: one more or less at an end is a fifth. */
static void ends_unsynchronised(void **state)
{
    static ompp_whatif_clock_t clock;
    ompp_gain_t gain;

    (void)state;
    fill(&clock, 8, 0.3, 0.01);
    const ompp_gain_t before = gain = interval_of(&clock);
    ompp_whatif_ends_unsynchronised(&clock, &gain);
    assert_true(fabs(before.low - gain.low - 0.2) < 1e-9 && fabs(gain.high - before.high - 0.2) < 1e-9);
    gain = before;
    for (int i = 0; i < 8; i++) clock.blocks[i].visits = 1; /* one more or less is all of it */
    ompp_whatif_ends_unsynchronised(&clock, &gain);
    assert_int_equal(gain.interval, OMPP_INTERVAL_UNSYNCHRONISED);
    gain = before;
    for (int i = 0; i < 8; i++) clock.blocks[i].visits = 5;
    clock.observations = 16; /* each block is of two */
    ompp_whatif_ends_unsynchronised(&clock, &gain);
    assert_true(fabs(before.low - gain.low - 0.4) < 1e-9 && fabs(gain.high - before.high - 0.4) < 1e-9);
}

/* A region that was followed for a part of the run: what counts is the interval that is told, not that of the part. */
static void corrected_intervals(void **state)
{
    static ompp_whatif_clock_t clock;

    (void)state;
    srand(4);
    fill(&clock, 8, 0.05, 0.07);
    const ompp_gain_t part = interval_of(&clock), whole = corrected(&clock, 3);
    assert_int_equal(part.interval, OMPP_INTERVAL_KNOWN);
    assert_true(part.high - part.low > 0.11);
    assert_int_equal(whole.interval, OMPP_INTERVAL_WIDE);
    assert_true(whole.gain > 2.9 * part.gain && whole.gain < 3.1 * part.gain);
    fill(&clock, 8, 0.02, 0.5);
    assert_int_equal(interval_of(&clock).interval, OMPP_INTERVAL_WIDE);
    assert_int_equal(corrected(&clock, 0.2).interval, OMPP_INTERVAL_KNOWN);
}

/* A serial part that comes once: in one of these experiments nothing was done in the region, for as long as in all
 * others together. */
static void one_without_the_region(void **state)
{
    static ompp_whatif_clock_t clock;

    (void)state;
    fill(&clock, 20, 0.5, 0);
    clock.blocks[7].time_ns = 200 * MS;
    clock.blocks[7].saved_ns = 0;
    clock.time_ns += 190 * MS;
    clock.saved_ns -= 5 * MS;
    assert_int_equal(interval_of(&clock).interval, OMPP_INTERVAL_WIDE);
    for (int i = 0; i < 20; i++) clock.blocks[i].work_ns = i == 7 ? 0 : 20 * MS;
    clock.work_ns = 19 * 20 * (uint64_t)MS;
    const ompp_gain_t gain = interval_of(&clock);
    assert_true(fabs(gain.gain - 95.0 / 390) < 1e-9);
    assert_int_equal(gain.interval, OMPP_INTERVAL_KNOWN);
    assert_true(gain.high - gain.low < 1e-9);
    clock.work_ns *= 4; /* the blocks are of one rank of four */
    assert_int_equal(interval_of(&clock).interval, OMPP_INTERVAL_WIDE);
}

/* Units of work are half of the run, by the region's work in them: they are a quarter faster, so that the run is by an
 * eighth. */
static void units_are_a_part(void **state)
{
    static ompp_whatif_clock_t faster, control;
    ompp_gain_t gain = {.permille = 500};

    (void)state;
    fill(&faster, 8, 0.25, 0);
    fill(&control, 8, 0, 0);
    assert_true(ompp_whatif_by_control(&faster, &control, 0.6, &gain));
    assert_true(gain.by_control && fabs(gain.gain - 0.25) < 1e-9);
    for (int i = 0; i < 8; i++) faster.blocks[i].work_ns = 12 * MS; /* in 10 ms */
    assert_true(ompp_whatif_by_control(&faster, &control, 0.6, &gain));
    assert_true(fabs(gain.gain - 0.25) < 1e-9); /* whose work it is is not known */
    faster.work_ns = 8 * 12 * MS;
    assert_true(ompp_whatif_by_control(&faster, &control, 0.6, &gain));
    assert_true(fabs(gain.gain - 0.125) < 1e-9 && fabs(gain.correction - 0.5) < 1e-9);
    faster.work_ns *= 2; /* the blocks are of one rank of two */
    assert_true(ompp_whatif_by_control(&faster, &control, 1.2, &gain));
    assert_true(fabs(gain.gain - 0.125) < 1e-9);
}

/* Two experiments at 0 % tell more than delays that have made another order of events; enough for an interval they are
 * not. */
static void few_to_compare_with(void **state)
{
    static ompp_whatif_clock_t faster, control;
    ompp_gain_t gain = {.permille = 500, .gain = 0.9};

    (void)state;
    fill(&faster, 8, 0.25, 0);
    assert_false(ompp_whatif_by_control(&faster, &control, 0, &gain));
    assert_true(gain.gain == 0.9 && !gain.by_control);
    fill(&control, 2, 0, 0);
    assert_false(ompp_whatif_by_control(&faster, &control, 0, &gain));
    assert_true(gain.by_control && fabs(gain.gain - 0.25) < 1e-9);
    assert_int_equal(gain.interval, OMPP_INTERVAL_FEW);
}

/* Units end that never began: how long they take cannot be told. */
static void ends_alone(void **state)
{
    ompp_whatif_point_t point = {.kind = OMPP_WHATIF_LATENCY, .begins = 4, .visits = 4, .in_flight_ns = 40 * MS};
    double ns;

    (void)state;
    assert_true(ompp_whatif_latency(&point, &ns) && ns == 10 * MS);
    point.visits = 5;
    assert_false(ompp_whatif_latency(&point, &ns));
}

static ompp_whatif_control_t control_of(double longer, uint32_t n)
{
    static ompp_whatif_region_t region;
    ompp_whatif_t w = {.mode = OMPP_WHATIF_DELAY, .nregions = 1, .regions = &region};
    ompp_whatif_control_t control;

    region.point = OMPP_NONE;
    fill(&region.clocks[0], 20, 0.1, 0);
    fill(&w.control, n, 0, 0);
    w.control.observations = n;
    for (uint32_t i = 0; i < 20; i++) {
        region.clocks[0].blocks[i].paid_ns = 2 * MS;
        region.clocks[0].blocks[i].time_ns = (uint64_t)((10 + 0.1 * normal()) * (1 + longer) * MS) + 2 * MS;
    }
    for (uint32_t i = 0; i < n; i++) w.control.blocks[i].time_ns = (uint64_t)((10 + 0.1 * normal()) * MS);
    assert_true(ompp_whatif_control(&w, &control) == (n > 0));
    return control;
}

static void control(void **state)
{
    (void)state;
    srand(3);
    ompp_whatif_control_t c = control_of(0, 8);
    assert_int_equal(c.interval, OMPP_INTERVAL_KNOWN);
    assert_true(!c.disturbed && c.low < 0.01 && c.high > -0.01);
    c = control_of(0.05, 8);
    assert_true(c.disturbed && c.low > 0.03 && c.high < 0.07);
    assert_int_equal(control_of(0.05, 2).interval, OMPP_INTERVAL_FEW);
    control_of(0, 0);
}

/* Units of two kinds, of which one is in the others more often: that is no delay. */
static void control_of_unlike_units(void **state)
{
    static ompp_whatif_region_t region = {.point = OMPP_NONE};
    ompp_whatif_t w = {.mode = OMPP_WHATIF_DELAY, .nregions = 1, .regions = &region};
    ompp_whatif_control_t control;

    (void)state;
    fill(&region.clocks[0], 20, 0.1, 0);
    fill(&w.control, 8, 0, 0);
    w.control.observations = 8;
    for (int i = 0; i < 8; i += 2) w.control.blocks[i].time_ns = 15 * MS;
    assert_true(ompp_whatif_control(&w, &control));
    assert_int_equal(control.interval, OMPP_INTERVAL_WIDE);
    assert_false(control.disturbed);
}

/* A rank that runs ahead says less of the program than the last one. */
static void blocks_of_the_last_rank(void **state)
{
    static ompp_whatif_region_t ahead, last;

    (void)state;
    fill(&ahead.clocks[1], 8, 0, 0);
    fill(&last.clocks[1], 8, 0.1, 0);
    for (int i = 0; i < 8; i++) ahead.clocks[1].blocks[i].time_ns = 5 * MS;
    ompp_whatif_join_region(&ahead, 80 * MS, &last, 80 * MS);
    assert_int_equal(ahead.clocks[1].blocks[0].saved_ns, 1 * MS);
    fill(&ahead.clocks[1], 8, 0, 0);
    for (int i = 0; i < 8; i++) ahead.clocks[1].blocks[i].time_ns = 5 * MS;
    ompp_whatif_join_region(&last, 80 * MS, &ahead, 80 * MS);
    assert_int_equal(last.clocks[1].blocks[0].saved_ns, 1 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_start),
        cmocka_unit_test(few_blocks),
        cmocka_unit_test(blocks_that_disagree),
        cmocka_unit_test(corrected_intervals),
        cmocka_unit_test(shared_anew),
        cmocka_unit_test(still_passed),
        cmocka_unit_test(ends_unsynchronised),
        cmocka_unit_test(bounded),
        cmocka_unit_test(one_without_the_region),
        cmocka_unit_test(units_are_a_part),
        cmocka_unit_test(few_to_compare_with),
        cmocka_unit_test(ends_alone),
        cmocka_unit_test(control),
        cmocka_unit_test(control_of_unlike_units),
        cmocka_unit_test(blocks_of_the_last_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
