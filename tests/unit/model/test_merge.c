/* Merging in any order says the same; folding agrees with a naive computation; the check objects to what is wrong. */
#include "profile_tools.h"

#include "base/ompp_error.h"
#include "model/ompp_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NRANKS = 8, SEEDS = 6 };

static void merge(ompp_profile_t *into, const ompp_profile_t *from)
{
    assert_int_equal(ompp_profile_merge(into, from), 0);
    assert_false(into->failed);
    tools_assert_valid(into);
}

/* One rank's profile, folded when it is one of the ranks not kept. */
static ompp_profile_t *one(uint64_t seed, uint32_t rank, uint32_t kept)
{
    ompp_profile_t *p = tools_rank_profile(seed, rank);

    tools_assert_valid(p);
    if (rank >= kept) assert_int_equal(ompp_profile_fold_rest(p), 0);
    tools_assert_valid(p);
    return p;
}

static ompp_profile_t *in_order(uint64_t seed, uint32_t kept, const unsigned *order)
{
    ompp_profile_t *all = one(seed, order[0], kept);

    for (unsigned i = 1; i < NRANKS; i++) {
        ompp_profile_t *next = one(seed, order[i], kept);
        merge(all, next);
        ompp_profile_free(next);
    }
    return all;
}

static ompp_profile_t *as_tree(uint64_t seed, uint32_t kept)
{
    ompp_profile_t *p[NRANKS];

    for (unsigned i = 0; i < NRANKS; i++) p[i] = one(seed, i, kept);
    for (unsigned step = 1; step < NRANKS; step *= 2)
        for (unsigned i = 0; i + step < NRANKS; i += 2 * step) {
            merge(p[i], p[i + step]);
            ompp_profile_free(p[i + step]);
        }
    return p[0];
}

static void orders_agree(void **state)
{
    static const unsigned forward[] = {0, 1, 2, 3, 4, 5, 6, 7}, backward[] = {7, 6, 5, 4, 3, 2, 1, 0},
                          mixed[] = {3, 6, 0, 7, 1, 5, 2, 4};
    static const uint32_t kept[] = {NRANKS, 3, 0};

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (unsigned k = 0; k < 3; k++) {
            ompp_profile_t *a = in_order(seed, kept[k], forward), *b = in_order(seed, kept[k], backward),
                           *c = in_order(seed, kept[k], mixed), *d = as_tree(seed, kept[k]);
            tools_assert_equal(a, b);
            tools_assert_equal(a, c);
            tools_assert_equal(a, d);
            assert_int_equal(a->nranks_kept + a->nrest, NRANKS);
            assert_string_equal(ompp_profile_text(a, a->app), "app0");
            ompp_profile_free(a);
            ompp_profile_free(b);
            ompp_profile_free(c);
            ompp_profile_free(d);
        }
}

static void empty_is_neutral(void **state)
{
    ompp_profile_t *empty = ompp_profile_new(), *p = one(3, 5, NRANKS), *q = one(3, 5, NRANKS);

    (void)state;
    empty->nranks = 0;
    merge(p, empty);
    ompp_profile_sort_locations(q);
    tools_assert_equal(p, q);
    merge(empty, q);
    empty->nodes[0].first_rank = q->nodes[0].first_rank;
    tools_assert_equal(empty, q);
    ompp_profile_free(empty);
    ompp_profile_free(p);
    ompp_profile_free(q);
}

/* Of each line, how many ranks say it, and the first of them, whichever comes first. */
static void ranks_of_lines(void **state)
{
    static const uint32_t orders[][3] = {{2, 5, 7}, {7, 2, 5}, {5, 7, 2}};

    (void)state;
    for (unsigned k = 0; k < 3; k++)
        for (uint32_t kept = 0; kept <= NRANKS; kept += NRANKS) {
            ompp_profile_t *all = NULL;
            for (unsigned i = 0; i < 3; i++) {
                const uint32_t rank = orders[k][i];
                ompp_profile_t *p = tools_rank_profile(1, rank);
                p->ncoverage = 0;
                ompp_profile_add_coverage(p, OMPP_COVERAGE_NOTE, "all", NULL, 1);
                if (rank != 2) ompp_profile_add_coverage(p, OMPP_COVERAGE_NOTE, "some", NULL, 1);
                if (rank == 7) ompp_profile_add_coverage(p, OMPP_COVERAGE_NOTE, "one", NULL, 1);
                if (!kept) assert_int_equal(ompp_profile_fold_rest(p), 0);
                if (all) merge(all, p), ompp_profile_free(p);
                else all = p;
            }
            assert_int_equal(all->ncoverage, 3);
            for (size_t i = 0; i < 3; i++) {
                const ompp_coverage_t *c = &all->coverage[i];
                const char what = *ompp_profile_text(all, c->subject);
                assert_int_equal(c->nranks, what == 'a' ? 3 : what == 's' ? 2 : 1);
                assert_int_equal(c->first_rank, what == 'a' ? 2 : what == 's' ? 5 : 7);
            }
            ompp_profile_free(all);
        }
}

/* A profile with one region, known by address or by lines, and one node below the root. */
static ompp_profile_t *with_region(uint32_t rank, const char *path, const char *id, uint32_t begin, uint64_t addr)
{
    ompp_profile_t *p = ompp_profile_new();
    ompp_rank_t r = {.rank = rank, .nthreads = 1};
    ompp_location_t l = {.rank = rank};
    ompp_module_t m = {.path = ompp_profile_string(p, path), .id = ompp_profile_string(p, id), .base = 100 + rank};
    ompp_region_t region = {
        .construct = OMPP_CONSTRUCT_BARRIER, .begin = begin, .end = begin, .addr = addr, .number = 7};

    region.flags = begin ? 0 : OMPP_REGION_F_ADDRESS;
    ompp_profile_add_rank(p, &r);
    ompp_profile_add_location(p, &l);
    ompp_profile_add_module(p, &m);
    ompp_profile_add_region(p, &region);
    ompp_profile_add_node(p, 0, 0, 50 - rank, rank);
    ompp_profile_block(p, 1, 0, OMPP_SET_PHASES, 0, ompp_phase_values(OMPP_CONSTRUCT_BARRIER))[0] = 1;
    return p;
}

static void assert_regions(const char *path, const char *id, uint32_t begin, uint64_t addr, size_t regions,
                           size_t modules)
{
    ompp_profile_t *a = with_region(1, "/a", "i", 0, 8), *b = with_region(0, path, id, begin, addr);

    merge(a, b);
    assert_int_equal(a->nregions, regions);
    assert_int_equal(a->nmodules, modules);
    assert_int_equal(a->nnodes, 1 + regions);
    assert_int_equal(a->regions[0].number, OMPP_NONE);
    if (modules == 1) assert_int_equal(a->modules[0].base, 100); /* where it lies on rank 0 */
    if (regions == 1) {
        assert_int_equal(a->nodes[1].nblocks, 2);
        assert_int_equal(a->nodes[1].first_rank, 0);
        assert_int_equal(a->nodes[1].first_ns, 50);
    }
    ompp_profile_free(a);
    ompp_profile_free(b);
}

static void keys(void **state)
{
    (void)state;
    assert_regions("/a", "i", 0, 8, 1, 1);
    assert_regions("/b", "i", 0, 8, 1, 1); /* the build id decides */
    assert_regions("/a", "k", 0, 8, 2, 2);
    assert_regions("/a", "", 0, 8, 2, 2);
    assert_regions("/a", "i", 0, 9, 2, 1);
    assert_regions("/a", "i", 3, 8, 2, 1); /* lines known, lines unknown */
}

/* ---- Folding ----------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t count, sum, min, max;
    double squares;
} naive_t;

static void naive_add(naive_t *n, uint64_t value)
{
    n->min = n->count == 0 || value < n->min ? value : n->min;
    n->max = n->count == 0 || value > n->max ? value : n->max;
    n->count++;
    n->sum += value;
}

static void assert_spread(const ompp_spread_t *s, const naive_t *n, const double *values)
{
    double mean = n->count ? (double)n->sum / n->count : 0, m2 = 0;

    for (uint64_t i = 0; i < n->count; i++) m2 += (values[i] - mean) * (values[i] - mean);
    assert_int_equal(s->count, n->count);
    assert_int_equal(s->sum, n->sum);
    assert_int_equal(s->min, n->min);
    assert_int_equal(s->max, n->max);
    assert_true(s->mean - mean <= 1e-9 * mean && mean - s->mean <= 1e-9 * mean);
    assert_true(s->m2 - m2 <= 1e-6 * m2 && m2 - s->m2 <= 1e-6 * m2);
}

/* execT of a location in a node as the definition says it, 0 and false when it has none. */
static bool naive_exec(const ompp_profile_t *p, uint32_t node, uint32_t location, uint64_t *exec)
{
    const ompp_block_t *b = ompp_profile_find_block(p, node, location, OMPP_SET_PHASES, 0);

    *exec = 0;
    if (!b) return false;
    for (unsigned s = 0; s < ompp_constructs[p->regions[p->nodes[node].region].construct].nphases; s++)
        *exec += b->values[1 + 4 * s];
    return true;
}

static void naive_node(const ompp_profile_t *p, uint32_t node, const ompp_profile_t *folded)
{
    naive_t threads = {0}, ranks = {0};
    double thread_values[64], rank_values[64];

    for (uint32_t rank = 0; rank < NRANKS; rank++) {
        uint64_t exec, sum = 0, any = 0;
        for (uint32_t l = 0; l < p->nlocations; l++) {
            if (p->locations[l].rank != rank || !naive_exec(p, node, l, &exec)) continue;
            thread_values[threads.count] = exec;
            naive_add(&threads, exec);
            sum += exec;
            any = 1;
        }
        if (any) rank_values[ranks.count] = sum;
        if (any) naive_add(&ranks, sum);
    }
    assert_spread(&folded->nodes[node].over_threads, &threads, thread_values);
    assert_spread(&folded->nodes[node].over_ranks, &ranks, rank_values);
    const ompp_block_t *rest = ompp_profile_find_block(folded, node, 0, OMPP_SET_PHASES, 0);
    for (uint32_t i = 0; rest && i < rest->nvalues; i++) {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < p->nodes[node].nblocks; k++)
            if (p->nodes[node].blocks[k].set == OMPP_SET_PHASES) sum += p->nodes[node].blocks[k].values[i];
        assert_int_equal(rest->values[i], sum);
    }
}

static void fold_agrees_with_naive(void **state)
{
    static const unsigned order[] = {0, 1, 2, 3, 4, 5, 6, 7};

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        ompp_profile_t *kept = in_order(seed, NRANKS, order), *folded = in_order(seed, NRANKS, order),
                       *late = in_order(seed, 0, order);
        uint64_t wall = 0;
        assert_int_equal(ompp_profile_fold_rest(folded), 0);
        tools_assert_valid(folded);
        for (uint32_t i = 1; i < kept->nnodes; i++) naive_node(kept, i, folded);
        for (size_t i = 0; i < kept->nranks_kept; i++) wall += kept->ranks[i].duration_ns * kept->ranks[i].nthreads;
        assert_int_equal(folded->nrest, NRANKS);
        assert_int_equal(folded->rest_wall_threads_ns, wall);
        assert_int_equal(folded->nlocations, 1);
        tools_assert_equal(folded, late); /* folding before or after merging is the same */
        ompp_profile_free(kept);
        ompp_profile_free(folded);
        ompp_profile_free(late);
    }
}

/* ---- Size -------------------------------------------------------------------------------------------------------- */

/* 64 ranks with 128 threads in one node, blocks asked for in the worst order. */
static void many_locations(void **state)
{
    enum { RANKS = 64, THREADS = 128 };
    ompp_profile_t *all = ompp_profile_new();

    (void)state;
    for (uint32_t rank = RANKS; rank-- > 0;) {
        ompp_profile_t *p = with_region(rank, "/a", "i", 0, 8);
        for (uint32_t t = 1; t < THREADS; t++) {
            ompp_location_t l = {.rank = rank, .tid = t, .kind = OMPP_THREAD_TEAM};
            ompp_profile_add_location(p, &l);
        }
        for (uint32_t t = THREADS; t-- > 0;)
            ompp_profile_block(p, 1, t, OMPP_SET_PHASES, 0, ompp_phase_values(OMPP_CONSTRUCT_BARRIER))[1] =
                rank * THREADS + t;
        merge(all, p);
        ompp_profile_free(p);
    }
    assert_int_equal(all->nlocations, RANKS * THREADS);
    for (uint32_t i = 0; i < all->nlocations; i++)
        assert_int_equal(ompp_profile_find_block(all, 1, i, OMPP_SET_PHASES, 0)->values[1], i);
    ompp_profile_free(all);
}

/* ---- Check ------------------------------------------------------------------------------------------------------- */

#define REJECTED(change)                                                          \
    do {                                                                          \
        ompp_profile_t *p = tools_rank_profile(2, 1);                             \
        char why[128] = "";                                                       \
        tools_assert_valid(p);                                                    \
        change;                                                                   \
        assert_int_equal(ompp_profile_check(p, why, sizeof why), -OMPP_E_FORMAT); \
        assert_string_not_equal(why, "");                                         \
        ompp_profile_free(p);                                                     \
    } while (0)

static ompp_node_t *node_with_blocks(ompp_profile_t *p)
{
    size_t i = 0;

    while (p->nodes[i].nblocks < 2) i++;
    return &p->nodes[i];
}

static void check_objects(void **state)
{
    (void)state;
    REJECTED(p->app = p->nstrings);
    REJECTED(p->ranks[0].host = p->nstrings);
    REJECTED(p->ranks[0].end = 3);
    REJECTED(ompp_profile_add_rank(p, &p->ranks[0]));
    REJECTED(p->locations[0].rank = 9);
    REJECTED(p->locations[0].kind = 4);
    REJECTED(ompp_location_t again = p->locations[0]; ompp_profile_add_location(p, &again));
    REJECTED(p->modules[0].id = p->nstrings);
    REJECTED(p->regions[0].construct = OMPP_CONSTRUCT_NUM);
    REJECTED(p->regions[0].function = p->nstrings);
    REJECTED(p->regions[0].module = p->nmodules);
    REJECTED(p->metrics[0].set = OMPP_SET_MPI);
    REJECTED(p->metrics[0].index = 5);
    REJECTED(p->metrics[0].unit = OMPP_UNIT_NUM);
    REJECTED(p->metrics[0].reduce_ranks = 3);
    REJECTED(p->metrics[0].meaning = p->nstrings);
    REJECTED(p->objects[0].name = p->nstrings);
    REJECTED(p->objects[1].name = p->objects[0].name);
    REJECTED(node_with_blocks(p)->blocks[0].object = p->nobjects + 1);
    REJECTED(p->nodes[0].region = 0);
    REJECTED(p->nodes[1].region = p->nregions);
    REJECTED(p->nodes[1].parent = 1);
    REJECTED(p->nodes[1].parent = OMPP_NONE);
    REJECTED(node_with_blocks(p)->blocks[0].location = p->nlocations);
    REJECTED(ompp_block_t *b = node_with_blocks(p)->blocks; b[1].location = b[0].location; b[1].set = b[0].set;
             b[1].object = b[0].object);
    REJECTED(node_with_blocks(p)->blocks[0].nvalues--);
    REJECTED(ompp_node_t *n = node_with_blocks(p); n->blocks[n->nblocks - 1].set = 77);
    REJECTED(ompp_profile_block(p, 0, 0, OMPP_SET_PHASES, 0, 1));
    REJECTED(p->coverage[0].kind = OMPP_COVERAGE_NUM);
    REJECTED(p->coverage[0].reason = p->nstrings);
    REJECTED(p->settings[0].value = p->nstrings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_agree),  cmocka_unit_test(ranks_of_lines),         cmocka_unit_test(empty_is_neutral),
        cmocka_unit_test(keys),          cmocka_unit_test(fold_agrees_with_naive), cmocka_unit_test(many_locations),
        cmocka_unit_test(check_objects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
