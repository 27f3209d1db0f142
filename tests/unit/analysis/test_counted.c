/* What Coverage says of counts: losses by their metrics, and where counters of a program without parallel regions
 * are. */
#include "analysis/ompp_analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { VALUES = 4 };

/* A profile with a region that has a value, 40 lost samples in two nodes, and 2 times throttled. */
static ompp_profile_t *make(unsigned construct, unsigned first_use)
{
    static const char *const names[VALUES] = {"samples", "lost", "throttled", "unthrottled"};
    ompp_profile_t *p = ompp_profile_new();
    const ompp_region_t region = {.construct = construct, .module = OMPP_NONE};

    assert_non_null(p);
    ompp_profile_add_location(p, &(ompp_location_t){0});
    for (unsigned i = 0; i < VALUES; i++)
        ompp_profile_add_metric(p, &(ompp_metric_t){.set = OMPP_SET_FIRST_FREE,
                                                    .index = i,
                                                    .use = i ? OMPP_USE_LOSS : first_use,
                                                    .unit = OMPP_UNIT_COUNT,
                                                    .name = ompp_profile_string(p, names[i]),
                                                    .source = ompp_profile_string(p, "test")});
    const uint32_t node = ompp_profile_add_node(p, ompp_profile_add_region(p, &region), 0, 0, 0);
    memcpy(ompp_profile_block(p, 0, 0, OMPP_SET_FIRST_FREE, 0, VALUES), (uint64_t[VALUES]){1, 10, 0, 0},
           VALUES * sizeof(uint64_t));
    memcpy(ompp_profile_block(p, node, 0, OMPP_SET_FIRST_FREE, 0, VALUES), (uint64_t[VALUES]){1, 30, 2, 0},
           VALUES * sizeof(uint64_t));
    return p;
}

static uint64_t count_of(const ompp_profile_t *p, unsigned kind, const char *words)
{
    for (size_t i = 0; i < p->ncoverage; i++)
        if (p->coverage[i].kind == kind && strstr(ompp_profile_text(p, p->coverage[i].subject), words))
            return p->coverage[i].count;
    return 0;
}

static void losses(void **state)
{
    ompp_profile_t *p = make(OMPP_CONSTRUCT_PARALLEL, OMPP_USE_OBJECTS);

    (void)state;
    ompp_analysis_counted(p);
    assert_int_equal(p->ncoverage, 2); /* nothing of what did not happen */
    assert_int_equal(count_of(p, OMPP_COVERAGE_LOSS, "test: lost"), 40);
    assert_int_equal(count_of(p, OMPP_COVERAGE_LOSS, "test: throttled"), 2);
    ompp_profile_free(p);
}

/* The time that counting took is not a number of lost events: it is said as a time, and what it is of all time. */
static void costs(void **state)
{
    ompp_profile_t *p = make(OMPP_CONSTRUCT_PARALLEL, OMPP_USE_OBJECTS);

    (void)state;
    p->metrics[1].unit = OMPP_UNIT_NS;
    ompp_analysis_counted(p);
    assert_int_equal(p->ncoverage, 2);
    assert_int_equal(count_of(p, OMPP_COVERAGE_TRAPPED, "test: 2 accesses were trapped"), 1);
    assert_int_equal(count_of(p, OMPP_COVERAGE_LOSS, "test: throttled"), 2);
    ompp_profile_free(p);
}

static void no_parallel_region(void **state)
{
    static const struct {
        unsigned construct, use, notes;
    } cases[] = {
        {OMPP_CONSTRUCT_USER_REGION, OMPP_USE_COLUMN, 1},
        {OMPP_CONSTRUCT_PARALLEL, OMPP_USE_COLUMN, 0},
        {OMPP_CONSTRUCT_USER_REGION, OMPP_USE_OBJECTS, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ompp_profile_t *p = make(cases[i].construct, cases[i].use);
        ompp_analysis_counted(p);
        assert_int_equal(count_of(p, OMPP_COVERAGE_NOTE, "table of parallel regions"), cases[i].notes);
        ompp_profile_free(p);
    }
}

/* Calls that receive are counted with their room: said where that is more than what was sent. */
static void room(void **state)
{
    static const struct {
        uint64_t in, out;
        bool said;
    } cases[] = {{800, 800, false}, {4000, 800, true}, {800, 0, true}, {0, 800, false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ompp_profile_t *p = ompp_profile_new();
        const ompp_region_t region = {.construct = OMPP_CONSTRUCT_MPI, .module = OMPP_NONE};
        assert_non_null(p);
        ompp_profile_add_location(p, &(ompp_location_t){0});
        const uint32_t at = ompp_profile_add_region(p, &region), a = ompp_profile_add_node(p, at, 0, 0, 0);
        const uint32_t b = ompp_profile_add_node(p, at, a, 0, 0), all = ompp_profile_add_node(p, at, b, 0, 0);
        uint64_t *received = ompp_profile_block(p, a, 0, OMPP_SET_MPI, 0, OMPP_METRIC_MPI_NUM);
        received[OMPP_METRIC_BYTES_IN] = cases[i].in, received[OMPP_METRIC_RECVS] = 1;
        uint64_t *sent = ompp_profile_block(p, b, 0, OMPP_SET_MPI, 0, OMPP_METRIC_MPI_NUM);
        sent[OMPP_METRIC_BYTES_OUT] = cases[i].out, sent[OMPP_METRIC_SENDS] = 1;
        uint64_t *together = ompp_profile_block(p, all, 0, OMPP_SET_MPI, 0, OMPP_METRIC_MPI_NUM);
        together[OMPP_METRIC_BYTES_IN] = 100000, together[OMPP_METRIC_COLLS] = 1;
        ompp_analysis_counted(p);
        assert_int_equal(count_of(p, OMPP_COVERAGE_NOTE, "had room for"), cases[i].said);
        ompp_profile_free(p);
    }
}

/* 10 s on two threads that work all of the time, by s of processor time, and that they waited for processors. */
static void asleep(void **state)
{
    static const struct {
        uint64_t used, waited;
        const char *said;
    } cases[] = {{8, 0, "55.0 % of it"}, {8, 300, "30.0 % of it"}, {19, 0, NULL}, {0, 0, NULL}, {14, 300, NULL}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ompp_profile_t *p = ompp_profile_new();
        assert_non_null(p);
        p->nranks = 1, p->nslots = 2;
        ompp_profile_add_rank(p, &(ompp_rank_t){.nthreads = 2,
                                                .duration_ns = 10000000000,
                                                .user_ns = cases[i].used * 1000000000,
                                                .end = cases[i].used ? OMPP_END_FINAL : OMPP_END_INCOMPLETE});
        const uint32_t region = ompp_profile_add_region(
            p, &(ompp_region_t){.construct = OMPP_CONSTRUCT_PARALLEL, .module = OMPP_NONE, .number = 1});
        const uint32_t node = ompp_profile_add_node(p, region, 0, 0, 0);
        for (uint32_t t = 0; t < 2; t++) {
            const uint64_t phases[17] = {1, 0, 0, 0, 1, 10000000000, 0, 0, 1};
            ompp_profile_add_location(p,
                                      &(ompp_location_t){.tid = t, .kind = t ? OMPP_THREAD_TEAM : OMPP_THREAD_INITIAL});
            memcpy(ompp_profile_block(p, node, t, OMPP_SET_PHASES, 0, 17), phases, sizeof phases);
        }
        if (cases[i].waited) ompp_profile_add_coverage(p, OMPP_COVERAGE_CPU_WAIT, NULL, NULL, cases[i].waited);
        ompp_analysis_counted(p);
        assert_int_equal(count_of(p, OMPP_COVERAGE_NOTE, "slept or were blocked"), cases[i].said != NULL);
        for (size_t k = 0; k < p->ncoverage && cases[i].said; k++)
            if (p->coverage[k].kind == OMPP_COVERAGE_NOTE)
                assert_string_equal(ompp_profile_text(p, p->coverage[k].reason), cases[i].said);
        ompp_profile_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses), cmocka_unit_test(costs),  cmocka_unit_test(no_parallel_region),
        cmocka_unit_test(room),   cmocka_unit_test(asleep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
