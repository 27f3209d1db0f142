/* Equal regions and paths become one, combined constructs are folded, and nothing is lost on the way. */
#include "analysis/ompp_analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint32_t region(ompp_profile_t *p, ompp_construct_t construct, const char *file, uint32_t begin, uint32_t end)
{
    ompp_region_t r = {
        .construct = construct, .file = ompp_profile_string(p, file), .begin = begin, .end = end, .module = OMPP_NONE};

    return ompp_profile_add_region(p, &r);
}

static void phase(ompp_profile_t *p, uint32_t node, uint32_t location, ompp_phase_t phase, uint64_t time,
                  uint64_t child, uint64_t task, uint64_t count)
{
    uint32_t construct = p->regions[p->nodes[node].region].construct;
    uint64_t *v = ompp_profile_block(p, node, location, OMPP_SET_PHASES, 0, ompp_phase_values(construct));
    uint64_t *slot = v + ompp_value_index(ompp_phase_slot(construct, phase), 0);

    v[0] = 1;
    slot[OMPP_SLOT_TIME] = time;
    slot[OMPP_SLOT_CHILD] = child;
    slot[OMPP_SLOT_TASK] = task;
    slot[OMPP_SLOT_COUNT] = count;
}

/* Sum over all nodes of time - child - task, of one location. */
static int64_t own_time(const ompp_profile_t *p, uint32_t location)
{
    int64_t sum = 0;

    for (uint32_t n = 1; n < p->nnodes; n++) {
        const ompp_block_t *b = ompp_profile_find_block(p, n, location, OMPP_SET_PHASES, 0);
        for (uint32_t i = 1; b && i < b->nvalues; i += OMPP_SLOT_NUM)
            sum += (int64_t)(b->values[i] - b->values[i + OMPP_SLOT_CHILD] - b->values[i + OMPP_SLOT_TASK]);
    }
    return sum;
}

static uint64_t value(const ompp_profile_t *p, uint32_t node, ompp_phase_t ph, unsigned what)
{
    const ompp_block_t *b = ompp_profile_find_block(p, node, 0, OMPP_SET_PHASES, 0);

    return b->values[ompp_value_index(ompp_phase_slot(p->regions[p->nodes[node].region].construct, ph), what)];
}

/* PARALLEL 10-20 with an inner construct of one work phase on the same line, and a USER REGION in that. */
static ompp_profile_t *nested(ompp_construct_t inner, ompp_phase_t work)
{
    ompp_profile_t *p = ompp_profile_new();
    uint32_t par = region(p, OMPP_CONSTRUCT_PARALLEL, "/a/x.c", 10, 20), in = region(p, inner, "/a/x.c", 10, 20);
    uint32_t user = region(p, OMPP_CONSTRUCT_USER_REGION, "/a/x.c", 12, 13);
    ompp_profile_add_location(p, &(ompp_location_t){0});
    uint32_t a = ompp_profile_add_node(p, par, 0, 5, 0), b = ompp_profile_add_node(p, in, a, 6, 0);
    uint32_t c = ompp_profile_add_node(p, user, b, 7, 0);

    phase(p, a, 0, OMPP_PHASE_STARTUP, 3, 0, 0, 1);
    phase(p, a, 0, OMPP_PHASE_BODY, 100, 80, 5, 1);
    phase(p, a, 0, OMPP_PHASE_EXITBAR, 20, 0, 2, 1);
    phase(p, b, 0, work, 70, 30, 1, 4);
    phase(p, b, 0, OMPP_PHASE_EXITBAR, 10, 0, 4, 1);
    phase(p, c, 0, OMPP_PHASE_EXEC, 30, 0, 0, 1);
    return p;
}

static void folds_loop(void **state)
{
    ompp_profile_t *p = nested(OMPP_CONSTRUCT_LOOP, OMPP_PHASE_BODY);
    int64_t before = own_time(p, 0);

    (void)state;
    assert_int_equal(ompp_analysis_unify(p), 0);
    assert_int_equal(p->nnodes, 3);
    assert_int_equal(p->nregions, 2);
    assert_int_equal(p->regions[p->nodes[1].region].construct, OMPP_CONSTRUCT_PARLOOP);
    assert_int_equal(p->nodes[2].parent, 1);
    assert_int_equal(own_time(p, 0), before);
    assert_int_equal(value(p, 1, OMPP_PHASE_BODY, OMPP_SLOT_TIME), 90);
    assert_int_equal(value(p, 1, OMPP_PHASE_BODY, OMPP_SLOT_CHILD), 30);
    assert_int_equal(value(p, 1, OMPP_PHASE_BODY, OMPP_SLOT_TASK), 6);
    assert_int_equal(value(p, 1, OMPP_PHASE_BODY, OMPP_SLOT_COUNT), 1);
    assert_int_equal(value(p, 1, OMPP_PHASE_EXITBAR, OMPP_SLOT_TIME), 30);
    assert_int_equal(value(p, 1, OMPP_PHASE_STARTUP, OMPP_SLOT_TIME), 3);
    ompp_profile_free(p);
}

static void folds_sections(void **state)
{
    ompp_profile_t *p = nested(OMPP_CONSTRUCT_SECTIONS, OMPP_PHASE_SECTION);
    int64_t before = own_time(p, 0);

    (void)state;
    assert_int_equal(ompp_analysis_unify(p), 0);
    assert_int_equal(p->regions[p->nodes[1].region].construct, OMPP_CONSTRUCT_PARSECTS);
    assert_int_equal(own_time(p, 0), before);
    assert_int_equal(value(p, 1, OMPP_PHASE_SECTION, OMPP_SLOT_TIME), 70);
    assert_int_equal(value(p, 1, OMPP_PHASE_SECTION, OMPP_SLOT_COUNT), 4);
    assert_int_equal(value(p, 1, OMPP_PHASE_MGMT, OMPP_SLOT_TIME), 20);
    ompp_profile_free(p);
}

static void leaves_repeated_loop(void **state)
{
    ompp_profile_t *p = nested(OMPP_CONSTRUCT_LOOP, OMPP_PHASE_BODY);

    (void)state;
    ompp_profile_block(p, 2, 0, OMPP_SET_PHASES, 0, ompp_phase_values(OMPP_CONSTRUCT_LOOP))[0] = 2;
    assert_int_equal(ompp_analysis_unify(p), 0);
    assert_int_equal(p->nnodes, 4);
    assert_int_equal(p->regions[p->nodes[1].region].construct, OMPP_CONSTRUCT_PARALLEL);
    ompp_profile_free(p);
}

/* Part of the loop's time was given to another parent (a lock that was released late): the parallel region has not all
 * of it. */
static void leaves_loop_credited_elsewhere(void **state)
{
    ompp_profile_t *p = nested(OMPP_CONSTRUCT_LOOP, OMPP_PHASE_BODY);

    (void)state;
    phase(p, 1, 0, OMPP_PHASE_BODY, 100, 79, 5, 1);
    int64_t before = own_time(p, 0);
    assert_int_equal(ompp_analysis_unify(p), 0);
    assert_int_equal(p->nnodes, 4);
    assert_int_equal(p->regions[p->nodes[1].region].construct, OMPP_CONSTRUCT_PARALLEL);
    assert_int_equal(p->regions[p->nodes[2].region].construct, OMPP_CONSTRUCT_LOOP);
    assert_int_equal(own_time(p, 0), before);
    ompp_profile_free(p);
}

/* A loop with a directive of its own, on the line below that of the parallel region. */
static void leaves_separate_loop(void **state)
{
    ompp_profile_t *p = nested(OMPP_CONSTRUCT_LOOP, OMPP_PHASE_BODY);

    (void)state;
    p->regions[p->nodes[2].region].begin = 11;
    assert_int_equal(ompp_analysis_unify(p), 0);
    assert_int_equal(p->nnodes, 4);
    assert_int_equal(p->regions[p->nodes[1].region].construct, OMPP_CONSTRUCT_PARALLEL);
    ompp_profile_free(p);
}

static void joins_equal_paths(void **state)
{
    ompp_profile_t *p = ompp_profile_new();
    uint32_t a = region(p, OMPP_CONSTRUCT_USER_REGION, "x.c", 1, 2),
             b = region(p, OMPP_CONSTRUCT_USER_REGION, "x.c", 1, 2);
    uint32_t c = region(p, OMPP_CONSTRUCT_CRITICAL, "x.c", 5, 6);
    ompp_profile_add_location(p, &(ompp_location_t){0});
    uint32_t n1 = ompp_profile_add_node(p, a, 0, 50, 1), n2 = ompp_profile_add_node(p, b, 0, 90, 0);
    uint32_t n3 = ompp_profile_add_node(p, c, n1, 60, 1), n4 = ompp_profile_add_node(p, c, n2, 95, 0);

    (void)state;
    phase(p, n1, 0, OMPP_PHASE_EXEC, 100, 10, 0, 1);
    phase(p, n2, 0, OMPP_PHASE_EXEC, 7, 3, 0, 1);
    phase(p, n3, 0, OMPP_PHASE_BODY, 10, 0, 0, 1);
    phase(p, n4, 0, OMPP_PHASE_BODY, 3, 0, 0, 1);
    assert_int_equal(ompp_analysis_unify(p), 0);
    assert_int_equal(p->nregions, 2);
    assert_int_equal(p->nnodes, 3);
    assert_int_equal(value(p, 1, OMPP_PHASE_EXEC, OMPP_SLOT_TIME), 107);
    assert_int_equal(value(p, 2, OMPP_PHASE_BODY, OMPP_SLOT_TIME), 13);
    assert_int_equal(p->nodes[1].first_rank, 0);
    assert_int_equal(p->nodes[1].first_ns, 90);
    ompp_profile_free(p);
}

static void numbers_by_place(void **state)
{
    ompp_profile_t *p = ompp_profile_new();
    uint32_t exec = region(p, OMPP_CONSTRUCT_TASKEXEC, "/b/x.c", 8, 9),
             b = region(p, OMPP_CONSTRUCT_LOOP, "/a/y.c", 1, 2);
    uint32_t task = region(p, OMPP_CONSTRUCT_TASK, "/b/x.c", 8, 9),
             a = region(p, OMPP_CONSTRUCT_LOOP, "/z/a.c", 99, 100);
    uint32_t n1 = ompp_profile_add_node(p, b, 0, 20, 0), n2 = ompp_profile_add_node(p, a, 0, 10, 0);

    (void)state;
    ompp_profile_add_node(p, task, n1, 30, 0);
    ompp_profile_add_node(p, exec, n2, 40, 0);
    assert_int_equal(ompp_analysis_number(p), 0);
    assert_int_equal(p->regions[a].number, 1);
    assert_int_equal(p->regions[task].number, 2);
    assert_int_equal(p->regions[exec].number, 2);
    assert_int_equal(p->regions[b].number, 3);
    assert_int_equal(p->nodes[1].region, a);
    assert_int_equal(p->nodes[2].region, exec);
    assert_int_equal(p->nodes[2].parent, 1);
    assert_int_equal(p->nodes[3].region, b);
    assert_int_equal(p->nodes[4].parent, 3);
    ompp_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_loop),           cmocka_unit_test(folds_sections),
        cmocka_unit_test(leaves_repeated_loop), cmocka_unit_test(leaves_loop_credited_elsewhere),
        cmocka_unit_test(leaves_separate_loop), cmocka_unit_test(joins_equal_paths),
        cmocka_unit_test(numbers_by_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
