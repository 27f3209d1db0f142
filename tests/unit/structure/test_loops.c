/* Nests of loops of graphs that are drawn by hand, and of random ones against a plain search for strong components. */
#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "structure/ompp_loops.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 64u

typedef struct {
    ompp_graph_t graph;
    uint32_t first[MOST + 1], to[MOST * MOST];
    bool no_root[MOST];
    ompp_loops_t loops;
} nest_t;

/* Edges as text, "0-1 1-2 2-1". */
static void draw(nest_t *n, uint32_t nodes, const char *edges)
{
    uint32_t from, to, count = 0;
    int length;

    memset(n, 0, sizeof *n);
    for (uint32_t v = 0; v < nodes; v++) {
        n->first[v] = count;
        for (const char *at = edges; sscanf(at, " %u-%u%n", &from, &to, &length) == 2; at += length)
            if (from == v) n->to[count++] = to;
    }
    n->first[nodes] = count;
    n->graph = (ompp_graph_t){nodes, n->first, n->to};
}

static void find(nest_t *n) { assert_int_equal(ompp_loops_find(&n->graph, 0, n->no_root, DBL_MAX, &n->loops), 0); }

/* The loop of a header; it has to be there. */
static uint32_t with_header(const nest_t *n, uint32_t header)
{
    for (uint32_t l = 0; l < n->loops.n; l++)
        if (n->loops.loops[l].header == header) return l;
    fail_msg("no loop has the header %u", header);
    return OMPP_NO_LOOP;
}

static void expect_loop(const nest_t *n, uint32_t header, uint32_t outer_header, bool irreducible)
{
    const ompp_loop_t *loop = &n->loops.loops[with_header(n, header)];

    assert_int_equal(loop->outer, outer_header == OMPP_NO_LOOP ? OMPP_NO_LOOP : with_header(n, outer_header));
    assert_int_equal(loop->irreducible, irreducible);
}

static void expect_inside(const nest_t *n, uint32_t node, uint32_t header)
{
    assert_int_equal(n->loops.of[node], header == OMPP_NO_LOOP ? OMPP_NO_LOOP : with_header(n, header));
}

static void no_loop(void **state)
{
    nest_t n;

    (void)state;
    draw(&n, 4, "0-1 0-2 1-3 2-3");
    find(&n);
    assert_int_equal(n.loops.n, 0);
    for (uint32_t v = 0; v < 4; v++) expect_inside(&n, v, OMPP_NO_LOOP);
    ompp_loops_free(&n.loops);
}

static void nested(void **state)
{
    nest_t n;

    (void)state;
    draw(&n, 7, "0-1 1-2 2-3 3-3 3-4 4-2 4-5 5-1 5-6");
    find(&n);
    assert_int_equal(n.loops.n, 3);
    expect_loop(&n, 1, OMPP_NO_LOOP, false);
    expect_loop(&n, 2, 1, false);
    expect_loop(&n, 3, 2, false);
    expect_inside(&n, 0, OMPP_NO_LOOP);
    expect_inside(&n, 1, 1);
    expect_inside(&n, 4, 2);
    expect_inside(&n, 5, 1);
    expect_inside(&n, 6, OMPP_NO_LOOP);
    for (uint32_t l = 0; l < n.loops.n; l++)
        assert_true(n.loops.loops[l].outer == OMPP_NO_LOOP || n.loops.loops[l].outer < l);
    ompp_loops_free(&n.loops);
}

static void two_in_a_row(void **state)
{
    nest_t n;

    (void)state;
    draw(&n, 6, "0-1 1-1 1-2 2-3 3-2 3-4 4-5 5-0");
    find(&n);
    assert_int_equal(n.loops.n, 3);
    expect_loop(&n, 0, OMPP_NO_LOOP, false);
    expect_loop(&n, 1, 0, false);
    expect_loop(&n, 2, 0, false);
    ompp_loops_free(&n.loops);
}

/* Loops with one header are one: nothing in the graph tells them apart. */
static void shared_header(void **state)
{
    nest_t n;

    (void)state;
    draw(&n, 5, "0-1 1-2 2-1 2-3 3-1 3-4");
    find(&n);
    assert_int_equal(n.loops.n, 1);
    expect_loop(&n, 1, OMPP_NO_LOOP, false);
    expect_inside(&n, 2, 1);
    expect_inside(&n, 3, 1);
    expect_inside(&n, 4, OMPP_NO_LOOP);
    ompp_loops_free(&n.loops);
}

static void irreducible(void **state)
{
    nest_t n;

    (void)state;
    draw(&n, 4, "0-1 0-2 1-2 2-1 1-3");
    find(&n);
    assert_int_equal(n.loops.n, 1);
    assert_true(n.loops.loops[0].irreducible);
    expect_inside(&n, 1, n.loops.loops[0].header);
    expect_inside(&n, 2, n.loops.loops[0].header);
    ompp_loops_free(&n.loops);
}

/* A loop that is entered in its middle, inside one that is not. */
static void irreducible_inside(void **state)
{
    nest_t n;

    (void)state;
    draw(&n, 6, "0-1 1-2 1-3 2-3 3-2 3-4 4-1 4-5");
    find(&n);
    assert_int_equal(n.loops.n, 2);
    expect_loop(&n, 1, OMPP_NO_LOOP, false);
    const uint32_t inner = n.loops.of[2];
    assert_int_equal(n.loops.of[3], inner);
    assert_true(n.loops.loops[inner].irreducible);
    assert_int_equal(n.loops.loops[inner].outer, with_header(&n, 1));
    ompp_loops_free(&n.loops);
}

/* Code of a landing pad goes on in a loop: that loop has one entry all the same. Padding before it is nothing. */
static void other_roots(void **state)
{
    nest_t n;

    (void)state;
    draw(&n, 6, "0-1 1-2 2-1 2-3 4-2 5-2");
    n.no_root[5] = true;
    find(&n);
    assert_int_equal(n.loops.n, 1);
    expect_loop(&n, 1, OMPP_NO_LOOP, false);
    expect_inside(&n, 4, OMPP_NO_LOOP);
    ompp_loops_free(&n.loops);

    draw(&n, 5, "0-1 2-3 3-2 3-4"); /* reached from there alone */
    find(&n);
    assert_int_equal(n.loops.n, 1);
    expect_loop(&n, 2, OMPP_NO_LOOP, false);
    ompp_loops_free(&n.loops);
}

/* ---- Random graphs ----------------------------------------------------------------------------------------------- */

static void reach(const nest_t *n, uint32_t from, bool seen[MOST])
{
    for (uint32_t e = n->first[from]; e < n->first[from + 1]; e++)
        if (!seen[n->to[e]]) {
            seen[n->to[e]] = true;
            reach(n, n->to[e], seen);
        }
}

static bool is_in(const nest_t *n, uint32_t node, uint32_t loop)
{
    uint32_t l = n->loops.of[node];

    while (l != OMPP_NO_LOOP && l != loop) l = n->loops.loops[l].outer;
    return l == loop;
}

/* Nodes that reach one another are in one loop, and no others are. */
static void components(void **state)
{
    static bool reached[MOST][MOST];
    uint32_t seed = 7;

    (void)state;
    for (unsigned turn = 0; turn < 300; turn++) {
        nest_t n = {0};
        const uint32_t nodes = 2 + turn % 40;
        for (uint32_t v = 0, count = 0; v < nodes; v++) {
            n.first[v] = count;
            for (uint32_t k = 0; k < 2; k++) {
                seed = seed * 1664525u + 1013904223u;
                if (seed >> 30) n.to[count++] = (seed >> 8) % nodes;
            }
            n.first[v + 1] = count;
        }
        n.graph = (ompp_graph_t){nodes, n.first, n.to};
        memset(reached, 0, sizeof reached);
        for (uint32_t v = 0; v < nodes; v++) reach(&n, v, reached[v]);
        find(&n);
        for (uint32_t v = 0; v < nodes; v++) {
            assert_int_equal(reached[v][v], n.loops.of[v] != OMPP_NO_LOOP);
            for (uint32_t w = 0; w < nodes && reached[v][v]; w++) {
                uint32_t outermost = n.loops.of[v];
                while (n.loops.loops[outermost].outer != OMPP_NO_LOOP) outermost = n.loops.loops[outermost].outer;
                assert_int_equal(is_in(&n, w, outermost), reached[v][w] && reached[w][v]);
            }
        }
        ompp_loops_free(&n.loops);
    }
}

/* A chain of loops, each inside the one before, as long as large functions are. */
static void large(void **state)
{
    const uint32_t depth = 200000, nodes = 2 * depth;
    ompp_graph_t graph = {nodes, malloc((nodes + 1) * sizeof(uint32_t)), malloc(2 * nodes * sizeof(uint32_t))};
    bool *no_root = calloc(nodes, sizeof *no_root);
    uint32_t count = 0;
    ompp_loops_t loops;

    (void)state;
    for (uint32_t v = 0; v < nodes; v++) {
        graph.first[v] = count;
        if (v + 1 < nodes) graph.to[count++] = v + 1;
        if (v >= depth) graph.to[count++] = nodes - 1 - v;
    }
    graph.first[nodes] = count;
    ompp_clock_mark();
    ompp_clock_start("gettime");
    const double begin = ompp_clock_seconds();
    assert_int_equal(ompp_loops_find(&graph, 0, no_root, DBL_MAX, &loops), 0);
    assert_int_equal(loops.n, depth);
    assert_true(ompp_clock_seconds() - begin < 2);
    ompp_loops_free(&loops);
    assert_int_equal(ompp_loops_find(&graph, 0, no_root, begin, &loops), -OMPP_E_TIMEOUT);
    ompp_loops_free(&loops);
    free(graph.first);
    free(graph.to);
    free(no_root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_loop),       cmocka_unit_test(nested),      cmocka_unit_test(two_in_a_row),
        cmocka_unit_test(shared_header), cmocka_unit_test(irreducible), cmocka_unit_test(irreducible_inside),
        cmocka_unit_test(other_roots),   cmocka_unit_test(components),  cmocka_unit_test(large),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
