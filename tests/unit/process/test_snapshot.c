/* Profiles of threads that are at work: each thread's numbers are those of one moment, so that they add up to the
 * nanosecond. */
#include "process/ompp_lifecycle.h"
#include "process/ompp_snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DEPTH = 6, THREADS = 2, DUMPS = 1000, PATHS = 6 * 6 * 6 * 6 };

static ompp_region_ref_t regions[DEPTH];
static atomic_bool stop;

/* A few nanoseconds per event: never the same for long. Call paths that were not there before come all the time at
 * first. */
static void *work(void *unused)
{
    for (unsigned long n = 0; !atomic_load(&stop); n++) {
        unsigned depth = 1 + n % 5, path = (unsigned)(n / 64 % PATHS), open[5] = {0};
        for (unsigned d = 0; d < depth; d++, path /= DEPTH) {
            open[d] = d == 0 ? 0 : path % DEPTH;
            ompp_event_enter(regions[open[d]], ompp_event_now());
        }
        for (unsigned d = depth; d-- > 0;) ompp_event_exit(regions[open[d]], ompp_event_now());
    }
    return unused;
}

/* Time of a node on a location, and of it the time in children. */
static uint64_t sum_of(const ompp_profile_t *p, uint32_t node, uint32_t location, unsigned what)
{
    const ompp_block_t *block = ompp_profile_find_block(p, node, location, OMPP_SET_PHASES, 0);
    uint64_t sum = 0;

    for (unsigned s = 0; block && s < ompp_constructs[p->regions[p->nodes[node].region].construct].nphases; s++)
        sum += block->values[ompp_value_index(s, what)];
    return sum;
}

static void assert_adds_up(const ompp_profile_t *p)
{
    uint64_t *children = calloc(p->nnodes, sizeof *children);

    for (uint32_t l = 0; l < p->nlocations; l++) {
        for (uint32_t node = 0; node < p->nnodes; node++) children[node] = 0;
        for (uint32_t node = p->nnodes; node-- > 1;) { /* parents stand before their children */
            uint64_t time = sum_of(p, node, l, OMPP_SLOT_TIME);
            assert_int_equal(children[node], sum_of(p, node, l, OMPP_SLOT_CHILD));
            assert_true(children[node] <= time && time <= p->ranks[0].duration_ns);
            children[p->nodes[node].parent] += time;
        }
    }
    free(children);
    for (size_t i = 0; i < p->ncoverage; i++) /* none was read torn */
        assert_int_not_equal(p->coverage[i].kind, OMPP_COVERAGE_TORN);
}

static void threads_at_work(void **state)
{
    pthread_t threads[THREADS];
    uint64_t before = 0, visits = 0;

    (void)state;
    assert_true(ompp_runtime_start());
    for (unsigned d = 0; d < DEPTH; d++) {
        char name[8];
        snprintf(name, sizeof name, "r%u", d);
        regions[d] = ompp_region_define(&(ompp_region_def_t){.construct = OMPP_CONSTRUCT_USER_REGION, .name = name});
        assert_int_not_equal(regions[d], 0);
    }
    for (unsigned i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (unsigned i = 0; i < DUMPS; i++) {
        ompp_profile_t *p = ompp_snapshot_profile(OMPP_END_DUMP);
        assert_non_null(p);
        assert_adds_up(p);
        visits = 0;
        for (uint32_t l = 0; l < p->nlocations && p->nnodes > 1; l++) {
            const ompp_block_t *block = ompp_profile_find_block(p, 1, l, OMPP_SET_PHASES, 0);
            visits += block ? block->values[0] : 0;
        }
        assert_true(visits + THREADS >= before); /* open ones count, so one may be counted twice */
        before = visits;
        ompp_profile_free(p);
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_true(visits > 0);
    atomic_store(&ompp_process.state, OMPP_STATE_DEAD); /* no report of this at exit */
    ompp_arena_unlink(&ompp_process.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_at_work)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
