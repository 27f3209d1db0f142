/* How well what-if results are known: intervals of few blocks, of blocks that disagree, and the control of
 * experiments. Shares of the work: parts of one sum. */
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

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

/* A region with a node that took so many ms, of these below it, so often. */
static uint32_t add_region(ompp_profile_t *p, unsigned construct, uint32_t parent, uint64_t ms, uint64_t below,
                           uint64_t count, uint32_t *node)
{
    const uint32_t region = ompp_profile_add_region(p, &(ompp_region_t){.construct = construct, .module = OMPP_NONE});

    *node = ompp_profile_add_node(p, region, parent, 0, 0);
    uint64_t *v = ompp_profile_block(p, *node, 0, OMPP_SET_PHASES, 0, ompp_phase_values(construct));
    v[ompp_value_index(0, OMPP_SLOT_TIME)] = ms * MS;
    v[ompp_value_index(0, OMPP_SLOT_CHILD)] = below * MS;
    v[ompp_value_index(0, OMPP_SLOT_COUNT)] = count;
    return region;
}

/* Its clocks ran for a part of the run, and saw so much of its work, ms. */
static void follow(ompp_profile_t *p, uint32_t region, uint64_t followed, uint64_t work, uint64_t visits)
{
    ompp_whatif_region_t r = {
        .region = region, .point = OMPP_NONE, .work_ns = work * MS, .followed_ns = followed * MS, .visits = visits};

    for (uint32_t k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
        r.clocks[k] = (ompp_whatif_clock_t){.permille = 250 * (k + 1),
                                            .observations = 5,
                                            .time_ns = followed * MS,
                                            .saved_ns = work * (k + 1) * MS / 4};
    ompp_profile_add_whatif_region(p, &r);
}

/* 10 s of one thread: a takes 4 s, 1 s of that in c; b 3 s, d 1 s, calls of MPI 1 s, and 1 s is outside of all. b is
 * called by a function that has a row of its own, with the time of b. */
enum { A, B, C, D, M, NAMED };

static ompp_profile_t *suspended_run(ompp_thread_kind_t kind, uint32_t region[NAMED])
{
    ompp_profile_t *p = ompp_profile_new();
    uint32_t a, function, other;

    p->nslots = 1;
    ompp_profile_add_location(p, &(ompp_location_t){.end_ns = 10000 * (uint64_t)MS, .kind = kind});
    region[A] = add_region(p, OMPP_CONSTRUCT_USER_REGION, 0, 4000, 1000, 1, &a);
    add_region(p, OMPP_CONSTRUCT_FUNCTION, 0, 3000, 3000, 1, &function);
    region[B] = add_region(p, OMPP_CONSTRUCT_USER_REGION, function, 3000, 0, 1, &other);
    region[C] = add_region(p, OMPP_CONSTRUCT_USER_REGION, a, 1000, 0, 1, &other);
    region[D] = add_region(p, OMPP_CONSTRUCT_USER_REGION, 0, 1000, 0, 1, &other);
    region[M] = add_region(p, OMPP_CONSTRUCT_MPI, 0, 1000, 0, 100, &other);
    p->whatif.mode = OMPP_WHATIF_VIRTUAL;
    p->whatif.time_ns = 10000 * (uint64_t)MS;
    p->whatif.suspended_ns = 9000 * (uint64_t)MS;
    return p;
}

static double share_of(const ompp_whatif_result_t *results, size_t n, uint32_t region)
{
    for (size_t i = 0; i < n; i++)
        if (results[i].region == region) return results[i].share;
    return 0;
}

/* Clocks ran for a tenth of the run, in which threads worked less than in the rest, and mostly in a: the profile knows
 * what each region did in all of it. */
static void shares_of_the_run(void **state)
{
    ompp_whatif_result_t *results;
    ompp_whatif_untried_t untried[NAMED];
    uint32_t region[NAMED];
    size_t n, count;
    const double all = 9.2; /* calls of MPI: 0.2 s, twice as long as ten of a hundred of them */

    (void)state;
    for (int outside = 0; outside <= 1; outside++) {
        ompp_profile_t *p = suspended_run(OMPP_THREAD_INITIAL, region);
        p->whatif.worked_ns = 5000 * (uint64_t)MS;
        p->whatif.outside_ns = 2000 * (uint64_t)MS;
        follow(p, region[A], 900, 800, 1);
        follow(p, region[B], 500, 10, 1);
        follow(p, region[C], 900, 500, 1);
        follow(p, region[M], 500, 20, 10);
        if (outside) follow(p, OMPP_NONE, 900, 50, 1);
        assert_int_equal(ompp_analysis_whatif(p, &results, &n), 0);
        const ompp_whatif_work_t work = ompp_whatif_work(p);
        const double a = share_of(results, n, region[A]), b = share_of(results, n, region[B]),
                     m = share_of(results, n, region[M]), none = share_of(results, n, OMPP_NONE);
        print_message("a %.3f b %.3f MPI %.3f outside %.3f %.3f rest %.3f\n", a, b, m, none, work.outside,
                      work.left_out);
        assert_true(fabs(a - 4 / all) < 1e-6 && fabs(b - 3 / all) < 1e-6 && fabs(m - 0.2 / all) < 1e-6);
        assert_true(fabs(share_of(results, n, region[C]) - 1 / all) < 1e-6);
        assert_true(fabs((outside ? none : work.outside) - 1 / all) < 1e-6);
        assert_true(fabs(work.left_out - 1 / all) < 1e-6 && fabs(work.of_threads - 0.92) < 1e-6);
        assert_true(fabs(a + b + m + none + work.outside + work.left_out - 1) < 1e-6);
        assert_int_equal(ompp_whatif_untried(p, untried, NAMED, &count), 1);
        assert_true(untried[0].region == region[D] && fabs(untried[0].share - 1 / all) < 1e-6);
        free(results);
        ompp_profile_free(p);
    }
}

/* Where threads of the program's own may wait unseen by the profile, shares are by clocks, each of its own pieces: they
 * are no more than all together. */
static void shares_of_own_threads(void **state)
{
    ompp_whatif_result_t *results;
    uint32_t region[NAMED];
    size_t n;
    ompp_profile_t *p = suspended_run(OMPP_THREAD_OTHER, region);

    (void)state;
    p->whatif.worked_ns = 5000 * (uint64_t)MS;
    follow(p, region[A], 500, 400, 1);
    follow(p, region[B], 500, 200, 1);
    follow(p, region[C], 500, 100, 1);
    assert_int_equal(ompp_analysis_whatif(p, &results, &n), 0);
    assert_true(fabs(share_of(results, n, region[A]) - 8.0 / 12) < 1e-6);
    assert_true(fabs(share_of(results, n, region[B]) - 4.0 / 12) < 1e-6);
    assert_true(fabs(share_of(results, n, region[C]) - 2.0 / 12) < 1e-6);
    assert_true(ompp_whatif_work(p).left_out == 0);
    free(results);
    ompp_profile_free(p);
}

/* With delays, which the profile takes for work, what was not tried is the rest of what clocks know, at most. */
static void rest_without_delays(void **state)
{
    uint32_t region[NAMED];
    ompp_profile_t *p = suspended_run(OMPP_THREAD_INITIAL, region);
    ompp_whatif_region_t a = {.point = OMPP_NONE, .total_ns = 3000 * (uint64_t)MS, .work_ns = MS};

    (void)state;
    p->whatif.mode = OMPP_WHATIF_DELAY;
    p->whatif.worked_ns = 6000 * (uint64_t)MS;
    p->whatif.outside_ns = 1000 * (uint64_t)MS;
    a.region = region[A];
    a.clocks[0] = (ompp_whatif_clock_t){.permille = 500, .observations = 4, .time_ns = 100 * MS};
    ompp_profile_add_whatif_region(p, &a);
    const ompp_whatif_work_t work = ompp_whatif_work(p); /* by the profile, b and d took 4 s */
    assert_true(fabs(work.outside - 1.0 / 6) < 1e-6 && fabs(work.left_out - 2.0 / 6) < 1e-6);
    ompp_profile_free(p);
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
        cmocka_unit_test(shares_of_the_run),
        cmocka_unit_test(shares_of_own_threads),
        cmocka_unit_test(rest_without_delays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
