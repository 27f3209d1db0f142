/* What measuring took, taken out of what is told: of handing out iterations, of regions of which some are timed. And
 * what is advised about locks. */
#include "analysis/ompp_chunks.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_thinned.h"
#include "analysis/ompp_whatif_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ps, of a slow clock: most of what an event takes. */
enum { CLOCK = 200000, INSIDE = 230000, ATOMIC = 420000, COUNTED = 5000 };

/* A rank with one thread, and a region of it. \param[out] node  its only one. */
static ompp_profile_t *make(ompp_construct_t construct, const ompp_metric_row_t *rows, unsigned n, uint32_t *node)
{
    ompp_profile_t *p = ompp_profile_new();
    ompp_rank_t rank = {.nthreads = 1, .duration_ns = 1000000000};
    const ompp_region_t region = {.construct = construct, .module = OMPP_NONE, .number = 1};

    assert_non_null(p);
    rank.cost_ps[OMPP_COST_CLOCK] = rank.inside_ps[OMPP_COST_CLOCK] = CLOCK;
    rank.inside_ps[OMPP_COST_ENTER] = rank.inside_ps[OMPP_COST_ATOMIC] = INSIDE;
    rank.cost_ps[OMPP_COST_ATOMIC] = ATOMIC;
    rank.cost_ps[OMPP_COST_ATOMIC_COUNTED] = COUNTED;
    p->nslots = p->nranks = 1;
    ompp_profile_add_rank(p, &rank);
    ompp_profile_add_location(p, &(ompp_location_t){0});
    for (unsigned i = 0; i < n; i++)
        ompp_profile_add_metric(p, &(ompp_metric_t){.set = OMPP_SET_FIRST_FREE,
                                                    .index = i,
                                                    .unit = rows[i].unit,
                                                    .name = ompp_profile_string(p, rows[i].name)});
    *node = ompp_profile_add_node(p, ompp_profile_add_region(p, &region), 0, 0, 0);
    return p;
}

static uint64_t *values_of(ompp_profile_t *p, uint32_t node, uint32_t set, const uint64_t *values, uint32_t n)
{
    return memcpy(ompp_profile_block(p, node, 0, set, 0, n), values, n * sizeof *values);
}

/* Of 1000 times asked 10 were timed, 250 ns each: between two readings of the clock that lie side by side are 200. */
static void chunks(void **state)
{
    const uint64_t asks[OMPP_METRIC_CHUNK_NUM] = {1000, 1000, 10, 2500};
    uint64_t phases[9] = {1, 1000000};
    ompp_chunk_sum_t *sums;
    ompp_paths_t paths;
    uint32_t node;
    size_t n;

    (void)state;
    ompp_profile_t *p = make(OMPP_CONSTRUCT_LOOP, ompp_chunk_metrics, OMPP_METRIC_CHUNK_NUM, &node);
    values_of(p, node, OMPP_SET_PHASES, phases, 9);
    values_of(p, node, OMPP_SET_FIRST_FREE, asks, OMPP_METRIC_CHUNK_NUM);
    assert_true(ompp_paths_init(&paths, p));
    assert_int_equal(ompp_analysis_chunks(p, &paths, &sums, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(sums[0].handing_ns, 50 * 1000);
    free(sums);
    ompp_paths_fini(&paths);
    ompp_profile_free(p);
}

/* 10000 updates. 100 were timed, all 30 ns long but one: 1030. The others cost 5 ns each, and have nothing inside. */
static void thinned(void **state)
{
    const uint64_t sample[OMPP_METRIC_THINNED_NUM] = {10000, 100, 100 * 30 + 1000, 99 * 30 * 30 + 1030 * 1030};
    const uint64_t phases[5] = {10000, 400000 + 100 * (INSIDE / 1000), 0, 0, 10000};
    uint32_t node;

    (void)state;
    ompp_profile_t *p = make(OMPP_CONSTRUCT_ATOMIC, ompp_thinned_metrics, OMPP_METRIC_THINNED_NUM, &node);
    values_of(p, node, OMPP_SET_PHASES, phases, 5);
    values_of(p, node, OMPP_SET_FIRST_FREE, sample, OMPP_METRIC_THINNED_NUM);
    const ompp_block_t *block = ompp_profile_find_block(p, node, 0, OMPP_SET_PHASES, 0);
    assert_int_equal(ompp_thinned_untimed(p, node, 0), 9900);
    assert_int_equal(ompp_own_in_phase(p, node, block, 0), 100 * (INSIDE / 1000));
    assert_int_equal((uint64_t)(ompp_own_ns(p, node, block) + 0.5), 100 * (ATOMIC / 1000) + 9900 * (COUNTED / 1000));
    ompp_analysis_thinned(p);
    assert_int_equal(p->ncoverage, 1);
    assert_int_equal(p->coverage[0].count, 100);
    assert_string_equal(ompp_profile_text(p, p->coverage[0].subject), "R00001 ATOMIC");
    /* 1.96 * sqrt(10000 * 9900 / 100 * 10000) ns = 195 us on either side */
    assert_string_equal(ompp_profile_text(p, p->coverage[0].reason), "0.000423 sec, 0.000228 to 0.000618");
    ompp_profile_free(p);
}

/* 100000 calls of 1 us in a run of 1 s: of MPI_Iprobe they are a wait, and the gain of 0.3 may be 0.333; else it is. */
static void asking(void **state)
{
    static const struct {
        const char *name;
        ompp_construct_t construct;
        bool asks;
    } cases[] = {{"MPI_Iprobe", OMPP_CONSTRUCT_MPI, true},
                 {"MPI_Request_get_status", OMPP_CONSTRUCT_MPI, true},
                 {"MPI_Test_cancelled", OMPP_CONSTRUCT_MPI, false},
                 {"MPI_Send", OMPP_CONSTRUCT_MPI, false}};
    uint64_t phases[9] = {100000, 500000000};

    (void)state;
    phases[ompp_value_index(0, OMPP_SLOT_COUNT)] = phases[0];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t node;
        ompp_profile_t *p = make(cases[i].construct, NULL, 0, &node);
        p->regions[p->nodes[node].region].name = ompp_profile_string(p, cases[i].name);
        p->ranks[0].cost_ps[OMPP_COST_CALL] = 1000000;
        p->whatif.mode = OMPP_WHATIF_VIRTUAL;
        p->whatif.time_ns = 1000000000;
        values_of(p, node, OMPP_SET_PHASES, phases, 9);
        const ompp_measuring_t m = ompp_whatif_measuring(p);
        assert_float_equal(m.asking, cases[i].asks ? 0.1 : 0, 1e-6);
        assert_float_equal(m.beside, cases[i].asks ? 0 : 0.1, 1e-6);
        assert_float_equal(m.behind, 0.1, 1e-6);
        assert_float_equal(m.alone, 0.1, 1e-6);
        const ompp_whatif_result_t outside = {.region = OMPP_NONE};
        ompp_whatif_measured_t measured;
        assert_true(ompp_whatif_measured_init(p, &measured));
        const ompp_whatif_factor_t factor = ompp_whatif_without_measuring(p, &measured, &outside, 1e9);
        assert_float_equal(measured.in[0].asking, cases[i].asks ? measured.in[0].own : 0, 1e-6);
        ompp_whatif_measured_fini(&measured);
        ompp_gain_t gain = {.permille = 500, .interval = OMPP_INTERVAL_KNOWN, .gain = 0.3 * factor.beside};
        gain.low = gain.high = gain.gain;
        ompp_whatif_reach(factor, &gain);
        assert_float_equal(gain.gain, cases[i].asks ? 0.3 : 0.3 / 0.9, 1e-6);
        assert_float_equal(gain.high, 0.3 / 0.9, 1e-6);
        ompp_profile_free(p);
    }
}

/* In a region of 900 ms on two threads, a construct with these phases of each. \param[out] region  the construct. */
static ompp_profile_t *make_team(ompp_construct_t construct, uint64_t iterations, const uint64_t *phases, unsigned n,
                                 uint32_t *region)
{
    ompp_profile_t *p = ompp_profile_new();
    const uint64_t around[17] = {1, 0, 0, 0, 1, 900000000, 0, 0, 1};

    assert_non_null(p);
    p->nranks = 1, p->nslots = 2;
    ompp_profile_add_rank(p, &(ompp_rank_t){.nthreads = 2, .duration_ns = 1000000000});
    const uint32_t fork = ompp_profile_add_region(
        p, &(ompp_region_t){.construct = OMPP_CONSTRUCT_PARALLEL, .module = OMPP_NONE, .number = 1});
    *region = ompp_profile_add_region(
        p, &(ompp_region_t){.construct = construct, .module = OMPP_NONE, .number = 2, .iterations = iterations});
    const uint32_t team = ompp_profile_add_node(p, fork, 0, 0, 0), node = ompp_profile_add_node(p, *region, team, 0, 0);
    for (uint32_t t = 0; t < 2; t++) {
        ompp_profile_add_location(p, &(ompp_location_t){.tid = t, .kind = t ? OMPP_THREAD_TEAM : OMPP_THREAD_INITIAL});
        memcpy(ompp_profile_block(p, team, t, OMPP_SET_PHASES, 0, 17), around, sizeof around);
        memcpy(ompp_profile_block(p, node, t, OMPP_SET_PHASES, 0, n), phases, n * sizeof *phases);
    }
    return p;
}

/* \return the first property of a region, or OMPP_PROPERTY_NUM; frees the profile. */
static ompp_property_t property_of(ompp_profile_t *p, uint32_t region)
{
    ompp_property_t property = OMPP_PROPERTY_NUM;
    ompp_finding_t *found;
    ompp_paths_t paths;
    size_t n;

    assert_true(ompp_paths_init(&paths, p));
    assert_int_equal(ompp_analysis_properties(p, &paths, &found, &n), 0);
    for (size_t k = n; k-- > 0;)
        if (found[k].region == region) property = found[k].property;
    free(found);
    ompp_paths_fini(&paths);
    ompp_profile_free(p);
    return property;
}

/* What is said of a critical section that two threads enter 1000 times each, by ns before it and in it each time. */
static void locks(void **state)
{
    static const struct {
        uint64_t enter, body;
        ompp_property_t property;
    } cases[] = {
        {40, 20, OMPP_PROPERTY_CRITICAL_BRIEF},     {400, 600, OMPP_PROPERTY_CRITICAL_WORK},
        {2000, 600, OMPP_PROPERTY_CRITICAL_BRIEF},  {400, 20, OMPP_PROPERTY_CRITICAL_BRIEF},
        {3000, 20000, OMPP_PROPERTY_CRITICAL_WORK}, {50000, 20000, OMPP_PROPERTY_CRITICAL_CONTENTION},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint64_t phases[13] = {1000, 1000 * cases[i].enter, 0, 0, 1000, 1000 * cases[i].body, 0, 0, 1000, 0, 0, 0,
                                     1000};
        uint32_t region;
        ompp_profile_t *p = make_team(OMPP_CONSTRUCT_CRITICAL, 0, phases, 13, &region);
        assert_int_equal(property_of(p, region), cases[i].property);
    }
}

/*
 * What is said of a loop to which two threads come 100 times each, to work 2 ms and to wait 1 ms, by its iterations
 * (0: not known) and the chunks that each thread got in all (0: static). Handing out takes 10 % of the work.
 */
static void iterations(void **state)
{
    static const struct {
        uint64_t iterations, chunks, wait_ns;
        ompp_property_t property;
    } cases[] = {
        {2, 0, 1000000, OMPP_PROPERTY_IMBALANCE_FEW_ITERATIONS},
        {3, 0, 1000000, OMPP_PROPERTY_IMBALANCE_SOME_ITERATIONS},
        {8, 0, 1000000, OMPP_PROPERTY_IMBALANCE_SOME_ITERATIONS},
        {9, 0, 1000000, OMPP_PROPERTY_IMBALANCE_LOOP},
        {0, 0, 1000000, OMPP_PROPERTY_IMBALANCE_UNCOUNTED},
        {0, 200, 1000000, OMPP_PROPERTY_IMBALANCE_FEW_CHUNKS},
        {0, 300, 2000000, OMPP_PROPERTY_IMBALANCE_HANDED_OUT},
        {9, 200, 1000000, OMPP_PROPERTY_IMBALANCE_FEW_CHUNKS},
        {2, 100, 1000000, OMPP_PROPERTY_IMBALANCE_FEW_ITERATIONS},
        {0, 201, 0, OMPP_PROPERTY_CHUNKS},
        {0, 200, 0, OMPP_PROPERTY_NUM},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint64_t asks = cases[i].chunks + 100,
                       phases[9] = {100, 200000000, 0, 0, 100, 100 * cases[i].wait_ns, 0, 0, 100};
        const uint64_t values[OMPP_METRIC_CHUNK_NUM] = {cases[i].chunks, asks, 10, 10 * 20000000 / asks};
        uint32_t region;
        ompp_profile_t *p = make_team(OMPP_CONSTRUCT_LOOP, cases[i].iterations, phases, 9, &region);
        for (unsigned m = 0; m < OMPP_METRIC_CHUNK_NUM; m++)
            ompp_profile_add_metric(p, &(ompp_metric_t){.set = OMPP_SET_FIRST_FREE,
                                                        .index = m,
                                                        .unit = ompp_chunk_metrics[m].unit,
                                                        .name = ompp_profile_string(p, ompp_chunk_metrics[m].name)});
        for (uint32_t t = 0; t < 2 && cases[i].chunks; t++)
            memcpy(ompp_profile_block(p, 2, t, OMPP_SET_FIRST_FREE, 0, OMPP_METRIC_CHUNK_NUM), values, sizeof values);
        assert_int_equal(property_of(p, region), cases[i].property);
    }
}

/* Atomic updates, 100000 of each thread, by ns of one and of the work between two: little work, waiting, or both. */
static void updates(void **state)
{
    static const struct {
        uint64_t update, work;
        ompp_property_t property;
    } cases[] = {
        {8, 15, OMPP_PROPERTY_FREQUENT_ATOMIC},
        {23, 100, OMPP_PROPERTY_NUM},
        {49, 1000, OMPP_PROPERTY_NUM},
        {51, 1000, OMPP_PROPERTY_FREQUENT_ATOMIC},
        {200, 1000, OMPP_PROPERTY_FREQUENT_ATOMIC},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint64_t update = 100000 * cases[i].update, phases[5] = {100000, update, 0, 0, 100000};
        uint32_t region;
        ompp_profile_t *p = make_team(OMPP_CONSTRUCT_ATOMIC, 0, phases, 5, &region);
        for (uint32_t t = 0; t < 2; t++) {
            uint64_t *around = ompp_profile_block(p, 1, t, OMPP_SET_PHASES, 0, 17);
            around[5] = update + 100000 * cases[i].work;
            around[6] = update;
        }
        assert_int_equal(property_of(p, region), cases[i].property);
    }
}

/*
 * OPARI2's second barrier, of two ranks with two threads: as long as the thread that came last was in the first one,
 * and no longer than the phase behind. Other ranks say nothing of it.
 */
static void second_barrier(void **state)
{
    static const struct {
        uint64_t first, second, barrier;
    } threads[] = {{90000, 300, 300}, {400, 700, 400}, {50, 80, 50}, {60000, 20, 20}};
    static const char *const sources[] = {"OPARI2", "OMPT, LLVM OMP version: 5.0.20140926"};

    (void)state;
    for (unsigned s = 0; s < 2; s++) {
        ompp_profile_t *p = ompp_profile_new();
        double below = 0;

        assert_non_null(p);
        p->source = ompp_profile_string(p, sources[s]);
        p->nranks = 2, p->nslots = 4;
        for (unsigned r = 0; r < 2; r++)
            ompp_profile_add_rank(p, &(ompp_rank_t){.rank = r, .nthreads = 2, .duration_ns = 1000000});
        const uint32_t region = ompp_profile_add_region(
            p, &(ompp_region_t){.construct = OMPP_CONSTRUCT_PARALLEL, .module = OMPP_NONE, .number = 1});
        const uint32_t node = ompp_profile_add_node(p, region, 0, 0, 0);
        for (uint32_t t = 0; t < 4; t++) {
            const uint64_t phases[17] = {1, 0, 0, 0, 1, 1000, 0, 0, 1, threads[t].first, 0, 0, 1, threads[t].second};
            ompp_profile_add_location(p, &(ompp_location_t){.rank = t / 2, .tid = t % 2});
            memcpy(ompp_profile_block(p, node, t, OMPP_SET_PHASES, 0, 17), phases, sizeof phases);
        }
        for (uint32_t t = 0; t < 4; t++) {
            const ompp_block_t *block = ompp_profile_find_block(p, node, t, OMPP_SET_PHASES, 0);
            const uint64_t wanted = s ? 0 : threads[t].barrier;
            assert_int_equal(ompp_own_ns(p, node, block), wanted);
            assert_int_equal(ompp_own_in_phase(p, node, block, 3), wanted);
            assert_int_equal(ompp_own_in_phase(p, node, block, 2), 0);
            below += (double)wanted;
        }
        double *all = ompp_own_below(p);
        assert_true(all && all[node] == below);
        free(all);
        ompp_profile_free(p);
    }
}

/* A thread waits for one that has the lock for 400 us, 100 us of them for our events. Another rank's threads do not. */
static void waits(void **state)
{
    static const struct {
        uint64_t enter, own; /* us */
    } cases[] = {{0, 0}, {200, 50}, {400, 100}, {4000, 100}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ompp_rank_t rank = {.nthreads = 2, .duration_ns = 1000000000};
        uint32_t node;
        ompp_profile_t *p = make(OMPP_CONSTRUCT_LOCK, NULL, 0, &node);

        p->nranks = 2, p->nslots = 3;
        rank.cost_ps[OMPP_COST_LOCK] = 200000;
        p->ranks[0] = rank;
        rank.rank = 1;
        ompp_profile_add_rank(p, &rank);
        ompp_profile_add_location(p, &(ompp_location_t){.tid = 1, .kind = OMPP_THREAD_TEAM});
        ompp_profile_add_location(p, &(ompp_location_t){.rank = 1});
        for (uint32_t t = 0; t < 3; t++) {
            const uint64_t phases[13] = {1000, t == 1 ? 0 : 1000 * cases[i].enter, 0, 0, 1000, 300000, 0, 0, 1000};
            memcpy(ompp_profile_block(p, node, t, OMPP_SET_PHASES, 0, 13), phases, sizeof phases);
        }
        for (uint32_t t = 0; t < 3; t++) {
            const ompp_block_t *block = ompp_profile_find_block(p, node, t, OMPP_SET_PHASES, 0);
            const uint64_t wanted = t ? 0 : 1000 * cases[i].own;
            assert_int_equal(ompp_own_waits_ns(p, node, block), wanted);
            assert_int_equal(ompp_own_in_phase(p, node, block, 0), wanted);
            assert_int_equal(ompp_own_ns(p, node, block), wanted + 200000);
        }
        ompp_profile_free(p);
    }
}

/* Two threads start 100 ms late in a run of 1 s: measuring takes 2 ms of it or, where their clock is slow, all of one
 * thread's. */
static void of_starts(void **state)
{
    enum { STARTS = 1000, LATE = 100000000 };
    static const struct {
        uint64_t first, second, lost, own; /* ns */
    } cases[] = {{LATE, LATE, 2 * (LATE - 1000000), 2000000}, {LATE, 500000, LATE - 1000000, 1500000}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t node;
        ompp_profile_t *p = make(OMPP_CONSTRUCT_PARALLEL, NULL, 0, &node);
        ompp_finding_t *found;
        ompp_paths_t paths;
        size_t n;

        p->nslots = 2;
        p->ranks[0].nthreads = 2;
        p->ranks[0].inside_ps[OMPP_COST_TEAM] = 1000000;
        ompp_profile_add_location(p, &(ompp_location_t){.tid = 1, .kind = OMPP_THREAD_TEAM});
        for (uint32_t t = 0; t < 2; t++) {
            const uint64_t phases[17] = {STARTS, t ? cases[i].second : cases[i].first, 0, 0, STARTS, 800000000};
            memcpy(ompp_profile_block(p, node, t, OMPP_SET_PHASES, 0, 17), phases, sizeof phases);
        }
        assert_true(ompp_paths_init(&paths, p));
        assert_int_equal(ompp_analysis_properties(p, &paths, &found, &n), 0);
        const ompp_finding_t *management = NULL;
        for (size_t k = 0; k < n; k++)
            if (found[k].property == OMPP_PROPERTY_MANAGEMENT || found[k].property == OMPP_PROPERTY_MANAGEMENT_LONG)
                management = &found[k];
        assert_non_null(management);
        assert_int_equal(management->lost_ns, cases[i].lost);
        assert_int_equal(management->own_ns, cases[i].own);
        free(found);
        ompp_paths_fini(&paths);
        ompp_profile_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks),         cmocka_unit_test(thinned),    cmocka_unit_test(asking),
        cmocka_unit_test(locks),          cmocka_unit_test(iterations), cmocka_unit_test(updates),
        cmocka_unit_test(second_barrier), cmocka_unit_test(of_starts),  cmocka_unit_test(waits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
