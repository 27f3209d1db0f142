/* What is made of gains that may be chance, and of settings that name a region in another way than it is called. */
#include "analysis/ompp_whatif.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000000 };

/* A run of 1 s with two regions, as ompp_analysis_number() leaves it: solve in main.c, 10 to 20, and a loop at 12 to
 * 14. */
static ompp_profile_t *new_run(ompp_whatif_mode_t mode)
{
    ompp_profile_t *p = ompp_profile_new();
    const ompp_str_t file = ompp_profile_string(p, "/home/me/src/main.c");
    const ompp_region_t regions[] = {
        {.construct = OMPP_CONSTRUCT_USER_REGION,
         .file = file,
         .name = ompp_profile_string(p, "solve"),
         .begin = 10,
         .end = 20,
         .module = OMPP_NONE,
         .number = 1},
        {.construct = OMPP_CONSTRUCT_LOOP, .file = file, .begin = 12, .end = 14, .module = OMPP_NONE, .number = 2}};

    p->nslots = 1;
    ompp_profile_add_location(p, &(ompp_location_t){.end_ns = 1000 * MS});
    for (int i = 0; i < 2; i++) ompp_profile_add_node(p, ompp_profile_add_region(p, &regions[i]), 0, 0, 0);
    p->whatif.mode = mode;
    p->whatif.time_ns = 1000 * MS;
    return p;
}

/* So many experiments of 10 ms at a speed-up, each with the same gain, but for the spread: two have less, and the next
 * two more. */
static void observe(ompp_whatif_clock_t *clock, uint32_t permille, uint32_t n, double gain, double spread)
{
    clock->permille = permille;
    clock->observations = n;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t saved = (int64_t)((gain + (i / 2 % 2 ? spread : -spread)) * 10 * MS);
        clock->blocks[clock->nblocks++] =
            (ompp_whatif_block_t){.number = i, .visits = 1, .time_ns = 10 * MS, .saved_ns = saved};
        clock->time_ns += 10 * MS;
        clock->saved_ns += (uint64_t)saved;
    }
}

typedef struct {
    uint32_t n;
    double gain, spread;
} seen_t;

static void add(ompp_profile_t *p, uint32_t region, const seen_t seen[OMPP_WHATIF_SPEEDUPS])
{
    ompp_whatif_region_t r = {.region = region, .point = OMPP_NONE, .work_ns = 500 * MS, .followed_ns = 1000 * MS};

    for (uint32_t k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
        if (seen[k].n) observe(&r.clocks[k], 250 * (k + 1), seen[k].n, seen[k].gain, seen[k].spread);
    ompp_profile_add_whatif_region(p, &r);
}

static ompp_whatif_result_t result_of(ompp_whatif_mode_t mode, const seen_t seen[OMPP_WHATIF_SPEEDUPS])
{
    ompp_profile_t *p = new_run(mode);
    ompp_whatif_result_t *results, first;
    size_t n;

    add(p, 0, seen);
    assert_int_equal(ompp_analysis_whatif(p, &results, &n), 0);
    assert_int_equal(n, 1);
    first = results[0];
    free(results);
    ompp_profile_free(p);
    return first;
}

/* The gain at 50 % is of three experiments, that at 75 % of eight that disagree: what is known is that at 25 and at 100
 * %. */
static void chance(void **state)
{
    const seen_t seen[] = {{8, 0.1, 0.01}, {3, 0, 0}, {8, 0.3, 0.9}, {8, 0.4, 0.01}};
    const ompp_whatif_result_t r = result_of(OMPP_WHATIF_DELAY, seen);

    (void)state;
    assert_true(!r.gains[0].chance && r.gains[1].chance && r.gains[2].chance && !r.gains[3].chance);
    assert_int_equal(ompp_whatif_main(&r)->permille, 250);
    assert_int_equal(ompp_whatif_most(&r)->permille, 1000);
    assert_int_equal(r.knee, 0);
    assert_true(r.flags & OMPP_WHATIF_F_FEW);
    /* A line through all of them, each by its experiments. */
    const double xy = 8 * 0.25 * 0.1 + 8 * 0.75 * 0.3 + 8 * 0.4, xx = 8 * 0.0625 + 3 * 0.25 + 8 * 0.5625 + 8;
    assert_true(fabs(r.slope - xy / xx) < 1e-6);
}

static void known(void **state)
{
    const seen_t seen[] = {{8, 0.2, 0.01}, {8, 0.4, 0.01}, {8, 0.4, 0.01}, {8, 0.4, 0.01}};
    const ompp_whatif_result_t r = result_of(OMPP_WHATIF_DELAY, seen);

    (void)state;
    assert_int_equal(ompp_whatif_main(&r)->permille, 500);
    assert_int_equal(r.knee, 500);
    assert_false(r.flags & OMPP_WHATIF_F_FEW);
}

/* Nothing is drawn there: no interval does not mean chance. */
static void virtual_clocks(void **state)
{
    const seen_t seen[] = {{1, 0.2, 0}, {1, 0.4, 0}, {1, 0.4, 0}, {1, 0.4, 0}};
    const ompp_whatif_result_t r = result_of(OMPP_WHATIF_VIRTUAL, seen);

    (void)state;
    assert_int_equal(r.gains[1].interval, OMPP_INTERVAL_FEW);
    assert_int_equal(r.knee, 500);
    assert_true(!r.gains[1].chance && !(r.flags & OMPP_WHATIF_F_FEW));
}

/* What clocks have taken is a part of the run that gains are not of. */
static void clocks_disturb(void **state)
{
    (void)state;
    for (int percent = 4; percent <= 6; percent++) {
        ompp_profile_t *p = new_run(OMPP_WHATIF_VIRTUAL);
        ompp_whatif_result_t *results;
        size_t n;
        add(p, 0, (const seen_t[]){{1, 0.2, 0}, {1, 0.4, 0}, {1, 0.4, 0}, {1, 0.4, 0}});
        p->whatif.cost_ns = (uint64_t)percent * 10 * MS;
        assert_int_equal(ompp_analysis_whatif(p, &results, &n), 0);
        assert_int_equal(results[0].flags & OMPP_WHATIF_F_INFLATED ? 1 : 0, percent >= 5);
        free(results);
        ompp_profile_free(p);
    }
}

/* Experiments in which a fifth of the time is saved, in a run of 1 s with so much work of the region in a second: where
 * ranks began and ended them apart, what is more than the whole is that of other groups of ranks. */
static void groups_apart(void **state)
{
    static const struct {
        double dense, gain;
    } runs[] = {{0.8, 0.16}, {1, 0.2}, {1.05, 0.21}, {1.8, 0.18}, {3.6, 0.18}};

    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        ompp_profile_t *p = new_run(OMPP_WHATIF_DELAY);
        ompp_whatif_result_t *results;
        size_t n;
        add(p, 0, (const seen_t[]){{0}, {8, 0.2, 0}, {0}, {0}});
        p->whatif.regions[0].clocks[1].work_ns = 40 * MS; /* in 80 ms */
        p->whatif.regions[0].total_ns = (uint64_t)(runs[i].dense * 500 * MS);
        p->whatif.regions[0].flags = OMPP_WHATIF_F_UNSYNCHRONISED;
        assert_int_equal(ompp_analysis_whatif(p, &results, &n), 0);
        assert_true(fabs(results[0].gains[1].gain - runs[i].gain) < 1e-6);
        free(results);
        ompp_profile_free(p);
    }
}

/* Work that whoever is free takes next: intervals of virtual clocks reach to share x speed-up. */
static void taken_next(void **state)
{
    static const unsigned flags[] = {OMPP_WHATIF_F_WILDCARD, OMPP_WHATIF_F_DYNAMIC, OMPP_WHATIF_F_TASK,
                                     OMPP_WHATIF_F_POLLING};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (int mode = OMPP_WHATIF_VIRTUAL; mode <= OMPP_WHATIF_DELAY; mode++) {
            ompp_profile_t *p = new_run(mode);
            ompp_whatif_result_t *results;
            size_t n;
            add(p, 0, (const seen_t[]){{8, 0.05, 0}, {8, 0.1, 0}, {8, 0.15, 0}, {8, 0.2, 0}});
            p->whatif.regions[0].flags = flags[i];
            assert_int_equal(ompp_analysis_whatif(p, &results, &n), 0);
            const ompp_gain_t *gain = &results[0].gains[1];
            const bool reaches = i == 0 || (i < 3 && mode == OMPP_WHATIF_VIRTUAL);
            assert_int_equal(gain->interval, OMPP_INTERVAL_KNOWN);
            assert_true(results[0].share > 0.3);
            assert_true(fabs(gain->high - (reaches ? results[0].share / 2 : 0.1)) < 1e-9);
            free(results);
            ompp_profile_free(p);
        }
}

/* A region that may gain by chance stands behind one that is known to gain less; 24 % at 75 % are 16 % at 50 %. */
static void order(void **state)
{
    const seen_t lucky[] = {{1, 0.1, 0}, {1, 0.9, 0}, {8, 0.24, 0.01}, {8, 0.3, 0.01}};
    const seen_t sure[] = {{8, 0.1, 0.01}, {8, 0.2, 0.01}, {8, 0.3, 0.01}, {8, 0.4, 0.01}};
    ompp_profile_t *p = new_run(OMPP_WHATIF_DELAY);
    ompp_whatif_result_t *results;
    size_t n;

    (void)state;
    add(p, 0, lucky);
    add(p, 1, sure);
    assert_int_equal(ompp_analysis_whatif(p, &results, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(results[0].region, 1);
    assert_int_equal(ompp_whatif_main(&results[1])->permille, 750);
    free(results);
    ompp_profile_free(p);
}

/*
 * A region that takes half of a run of 1 s, and gains all that it is faster by: the experiments at 50 % saw it alone,
 * those at 100 % the rest of the program besides, in their last.
 */
static void each_by_its_work(void **state)
{
    ompp_profile_t *p = new_run(OMPP_WHATIF_DELAY);
    ompp_whatif_region_t r = {.region = 0, .point = OMPP_NONE, .total_ns = 500 * MS};
    ompp_whatif_result_t *results;
    size_t n;

    (void)state;
    observe(&r.clocks[1], 500, 8, 0.5, 0);
    observe(&r.clocks[3], 1000, 8, 1, 0);
    r.clocks[1].work_ns = r.clocks[3].work_ns = 80 * MS;
    for (int i = 0; i < 8; i++) r.clocks[1].blocks[i].work_ns = r.clocks[3].blocks[i].work_ns = 10 * MS;
    r.clocks[3].blocks[7].time_ns += 500 * MS;
    r.clocks[3].time_ns += 500 * MS;
    r.work_ns = 160 * MS;
    r.followed_ns = r.clocks[1].time_ns + r.clocks[3].time_ns;
    ompp_profile_add_whatif_region(p, &r);
    p->whatif.worked_ns = 1000 * MS;
    assert_int_equal(ompp_analysis_whatif(p, &results, &n), 0);
    assert_true(fabs(results[0].share - 0.5) < 1e-9);
    assert_true(fabs(results[0].gains[1].gain - 0.25) < 1e-9);
    assert_true(fabs(results[0].gains[3].gain - 0.5) < 1e-9);
    assert_int_equal(results[0].gains[3].interval, OMPP_INTERVAL_KNOWN);
    free(results);
    ompp_profile_free(p);
}

static const struct {
    const char *wanted, *meant; /* NULL = nothing comes near */
} names[] = {
    {"R00001", "solve"},
    {"R2", "main.c:12"},
    {"main.c:11", "solve"},
    {"main.c:13", "main.c:12"},
    {"src/main.c:14", "main.c:12"},
    {"main.c:25", "solve"},
    {"sovle", "solve"},
    {"Solve", "solve"},
    {"main.c (10-20) ('solve')", "solve"},
    {"main.c (12-14)", "main.c:12"},
    {"Outside", "'(outside regions)'"},
    {"PARALLEL LOOP main.c (12-14)", "main.c:12"},
    {"main.c (12) ('solve')", "main.c:12"},
    {"R00007", NULL},
    {"other.c:12", NULL},
    {"quite_another", NULL},
};

static void meant(void **state)
{
    char text[100], line[400];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ompp_profile_t *p = new_run(OMPP_WHATIF_DELAY);
        add(p, 0, (const seen_t[OMPP_WHATIF_SPEEDUPS]){{.n = 0}});
        ompp_profile_add_setting(p, "OMPP_CAUSAL_REGION", names[i].wanted);
        uint32_t region;
        const bool near = ompp_whatif_meant(p, text, sizeof text, &region);
        print_message("%s: %s\n", names[i].wanted, near ? text : "none");
        assert_true(near == (names[i].meant != NULL));
        if (names[i].meant) assert_string_equal(text, names[i].meant);
        ompp_whatif_notice(p, line, sizeof line);
        assert_non_null(strstr(line, names[i].wanted));
        assert_true(!names[i].meant == !strstr(line, "nearest: OMPP_CAUSAL_REGION="));
        ompp_profile_free(p);
    }
}

/* The letters are nearer to one in which nothing was done. */
static void meant_to_work(void **state)
{
    ompp_profile_t *p = new_run(OMPP_WHATIF_DELAY);
    const ompp_whatif_region_t unit = {.region = 1}, idle = {.region = 0, .point = OMPP_NONE};
    const ompp_whatif_region_t loop = {.region = 1, .point = OMPP_NONE, .total_ns = MS};
    uint32_t region;
    char text[100];

    (void)state;
    ompp_profile_add_whatif_region(p, &unit); /* of a latency point */
    ompp_profile_add_whatif_region(p, &idle);
    ompp_profile_add_whatif_region(p, &loop);
    ompp_profile_add_setting(p, "OMPP_CAUSAL_REGION", "main.c:19");
    assert_true(ompp_whatif_meant(p, text, sizeof text, &region));
    assert_int_equal(region, 1);
    ompp_profile_free(p);
}

/* Addresses are what a program knows of itself when its lines are found later. */
static void by_address(void **state)
{
    ompp_profile_t *p = new_run(OMPP_WHATIF_DELAY);
    uint32_t region;
    char text[100];

    (void)state;
    ompp_profile_add_module(p, &(ompp_module_t){.path = ompp_profile_string(p, "/home/me/app")});
    p->regions[1].module = 0;
    p->regions[1].addr = 0x1234;
    ompp_profile_add_setting(p, "OMPP_CAUSAL_REGION", "main.c:13");
    assert_true(ompp_whatif_meant(p, text, sizeof text, &region));
    assert_int_equal(region, 1);
    assert_string_equal(text, "app+0x1234");
    ompp_profile_free(p);
}

/* It is there, and the run too short for an experiment with it. */
static void too_short(void **state)
{
    static const char *const there[] = {"solve", "main.c:12", "/home/me/src/main.c:12"};
    char line[400];

    (void)state;
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        ompp_profile_t *p = new_run(OMPP_WHATIF_DELAY);
        add(p, 0, (const seen_t[OMPP_WHATIF_SPEEDUPS]){{.n = 0}});
        ompp_profile_add_setting(p, "OMPP_CAUSAL_REGION", there[i]);
        ompp_whatif_notice(p, line, sizeof line);
        print_message("%s\n", line);
        assert_true(strstr(line, "no experiment came to its end") && !strstr(line, "nearest"));
        ompp_profile_free(p);
    }
}

static void unused(void **state)
{
    ompp_profile_t *p = new_run(OMPP_WHATIF_VIRTUAL);
    const char *mode;
    size_t next = 0;
    char line[400];

    (void)state;
    add(p, 0, (const seen_t[]){{8, 0.2, 0}, {8, 0.4, 0}, {8, 0.4, 0}, {8, 0.4, 0}});
    ompp_profile_add_setting(p, "OMPP_CAUSAL_REGION", "solve");
    ompp_profile_add_setting(p, "OMPP_CAUSAL_SPEEDUP", "0%"); /* which is what it is anyhow */
    ompp_profile_add_setting(p, "OMPP_CAUSAL_SEED", "7");
    assert_string_equal(ompp_whatif_unused(p, &next, &mode), "OMPP_CAUSAL_REGION");
    assert_string_equal(mode, "delay");
    assert_string_equal(ompp_whatif_unused(p, &next, &mode), "OMPP_CAUSAL_SEED");
    assert_null(ompp_whatif_unused(p, &next, &mode));
    assert_null(ompp_whatif_chosen(p));
    ompp_whatif_notice(p, line, sizeof line);
    assert_string_equal(line, "OMPP_CAUSAL_REGION, OMPP_CAUSAL_SEED are not used: they are for OMPP_CAUSAL=delay");
    ompp_profile_add_setting(p, "OMPP_CAUSAL_BUDGET", "5"); /* which this mode knows */
    ompp_whatif_notice(p, line, sizeof line);
    assert_string_equal(line, "OMPP_CAUSAL_REGION, OMPP_CAUSAL_SEED are not used: they are for OMPP_CAUSAL=delay");
    p->whatif.mode = OMPP_WHATIF_OFF;
    ompp_whatif_notice(p, line, sizeof line);
    assert_string_equal(line, "OMPP_CAUSAL_REGION, OMPP_CAUSAL_SEED are not used: they are for OMPP_CAUSAL=delay; "
                              "OMPP_CAUSAL_BUDGET is not used: it is for OMPP_CAUSAL=virtual");
    ompp_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chance),           cmocka_unit_test(known),
        cmocka_unit_test(virtual_clocks),   cmocka_unit_test(order),
        cmocka_unit_test(each_by_its_work), cmocka_unit_test(meant),
        cmocka_unit_test(by_address),       cmocka_unit_test(meant_to_work),
        cmocka_unit_test(unused),           cmocka_unit_test(too_short),
        cmocka_unit_test(taken_next),       cmocka_unit_test(clocks_disturb),
        cmocka_unit_test(groups_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
