#include "structure/ompp_loops.h"

#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define CHECK_EVERY 65536u /* steps between two looks at the clock */

/* An entry of an irreducible loop, seen from the loops around it as one of the header's. */
typedef struct {
    uint32_t from, next;
} extra_t;

/* Nodes go by their numbers in depth-first order here. */
typedef struct {
    const ompp_graph_t *graph;
    double deadline;
    uint32_t steps;
    uint32_t n, main;        /* numbers given; those below main are reached from the entry */
    uint32_t *number, *node; /* of a node, and back */
    uint32_t *last;          /* highest number below it in the tree */
    uint32_t *first, *from;  /* edges that lead to it, by numbers: back edges first */
    uint32_t *nback;
    uint32_t *set;    /* union-find: where what was put together is known as */
    uint32_t *header; /* of the innermost loop that it is in, not as its header */
    bool *is_header, *irreducible;
    uint32_t *body_stamp, *extra_stamp; /* number + 1 of the header that was last */
    uint32_t *body, *extra;             /* extra: first, or NONE */
    extra_t *extras;
    size_t nextras, aextras;
} search_t;

static bool is_late(search_t *s) { return ++s->steps % CHECK_EVERY == 0 && ompp_clock_seconds() >= s->deadline; }

static bool is_ancestor(const search_t *s, uint32_t a, uint32_t b) { return a <= b && b <= s->last[a]; }

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* Numbers what is reached from a node. body and set serve as the stack: node, and the edge that is next. */
static void number_from(search_t *s, uint32_t root)
{
    const ompp_graph_t *g = s->graph;
    uint32_t depth = 0, *stack = s->body, *edge = s->set;

    stack[0] = root;
    edge[0] = g->first[root];
    s->number[root] = s->n;
    s->node[s->n++] = root;
    for (;;) {
        const uint32_t node = stack[depth];
        if (edge[depth] < g->first[node + 1]) {
            const uint32_t to = g->to[edge[depth]++];
            if (s->number[to] != NONE) continue;
            s->number[to] = s->n;
            s->node[s->n++] = to;
            stack[++depth] = to;
            edge[depth] = g->first[to];
            continue;
        }
        s->last[s->number[node]] = s->n - 1;
        if (depth-- == 0) return;
    }
}

/* Back edges are put from the front, others from the end of each node's part. */
static void link_back(search_t *s)
{
    const ompp_graph_t *g = s->graph;
    uint32_t *end = s->body;

    for (uint32_t v = 0; v < s->n; v++)
        for (uint32_t e = g->first[s->node[v]]; e < g->first[s->node[v] + 1]; e++) s->first[s->number[g->to[e]] + 1]++;
    for (uint32_t v = 0; v < s->n; v++) s->first[v + 1] += s->first[v], end[v] = s->first[v + 1];
    for (uint32_t v = 0; v < s->n; v++)
        for (uint32_t e = g->first[s->node[v]]; e < g->first[s->node[v] + 1]; e++) {
            const uint32_t w = s->number[g->to[e]];
            if (is_ancestor(s, w, v)) s->from[s->first[w] + s->nback[w]++] = v;
            else s->from[--end[w]] = v;
        }
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static uint32_t find(search_t *s, uint32_t v)
{
    while (s->set[v] != v) {
        s->set[v] = s->set[s->set[v]];
        v = s->set[v];
    }
    return v;
}

static void add_body(search_t *s, uint32_t w, uint32_t v, uint32_t *n)
{
    if (v == w || s->body_stamp[v] == w + 1) return;
    s->body_stamp[v] = w + 1;
    s->body[(*n)++] = v;
}

/* An edge into the body of the loop of w that does not come from the body. */
static bool enter(search_t *s, uint32_t w, uint32_t from)
{
    if (from >= s->main && w < s->main) return true;
    s->irreducible[w] = true;
    if (s->extra_stamp[from] == w + 1) return true;
    s->extra_stamp[from] = w + 1;
    extra_t *extra = ompp_vector_push(&s->extras, &s->nextras, &s->aextras, sizeof *extra);
    if (!extra) return false;
    *extra = (extra_t){from, s->extra[w]};
    s->extra[w] = (uint32_t)(s->nextras - 1);
    return true;
}

/* What leads to a node of the body is in the body too, or enters it. */
static int take(search_t *s, uint32_t w, uint32_t from, uint32_t *n)
{
    const uint32_t v = find(s, from);

    if (is_late(s)) return -OMPP_E_TIMEOUT;
    if (is_ancestor(s, w, v)) add_body(s, w, v, n);
    else if (!enter(s, w, v)) return -OMPP_E_NOMEM;
    return 0;
}

static int find_loop(search_t *s, uint32_t w)
{
    uint32_t n = 0;
    int rc = 0;

    for (uint32_t i = 0; i < s->nback[w]; i++) {
        s->is_header[w] = true;
        add_body(s, w, find(s, s->from[s->first[w] + i]), &n);
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = s->body[i];
        for (uint32_t e = s->first[x] + s->nback[x]; e < s->first[x + 1] && rc == 0; e++)
            rc = take(s, w, s->from[e], &n);
        for (uint32_t e = s->extra[x]; e != NONE && rc == 0; e = s->extras[e].next)
            rc = take(s, w, s->extras[e].from, &n);
        if (rc != 0) return rc;
    }
    for (uint32_t i = 0; i < n; i++) {
        s->header[s->body[i]] = w;
        s->set[s->body[i]] = w;
    }
    return is_late(s) ? -OMPP_E_TIMEOUT : 0;
}

static int find_all(search_t *s)
{
    for (uint32_t v = 0; v < s->n; v++) s->set[v] = v;
    for (uint32_t w = s->n; w-- > 0;) {
        const int rc = find_loop(s, w);
        if (rc != 0) return rc;
    }
    return 0;
}

static int write_loops(search_t *s, ompp_loops_t *loops)
{
    uint32_t n = 0, *index = s->body; /* of the loop of a header */

    for (uint32_t w = 0; w < s->n; w++) n += s->is_header[w];
    loops->loops = calloc(n + 1, sizeof *loops->loops);
    loops->of = malloc((s->graph->n + 1) * sizeof *loops->of);
    if (!loops->loops || !loops->of) return -OMPP_E_NOMEM;
    memset(loops->of, 0xff, (s->graph->n + 1) * sizeof *loops->of);
    for (uint32_t w = 0; w < s->n; w++) {
        const uint32_t outer = s->header[w] == NONE ? OMPP_NO_LOOP : index[s->header[w]];
        loops->of[s->node[w]] = outer;
        if (!s->is_header[w]) continue;
        index[w] = loops->n;
        loops->of[s->node[w]] = loops->n;
        loops->loops[loops->n++] = (ompp_loop_t){s->node[w], outer, s->irreducible[w]};
    }
    return 0;
}

/* ---- Use --------------------------------------------------------------------------------------------------------- */

static uint32_t *numbers(size_t n, int value)
{
    uint32_t *items = malloc((n + 2) * sizeof *items);

    return items ? memset(items, value, (n + 2) * sizeof *items) : NULL;
}

static bool make_room(search_t *s)
{
    const uint32_t n = s->graph->n;

    s->number = numbers(n, 0xff), s->node = numbers(n, 0), s->last = numbers(n, 0), s->first = numbers(n, 0);
    s->from = numbers(s->graph->first[n], 0), s->nback = numbers(n, 0), s->set = numbers(n, 0);
    s->header = numbers(n, 0xff), s->body_stamp = numbers(n, 0), s->extra_stamp = numbers(n, 0);
    s->body = numbers(n, 0), s->extra = numbers(n, 0xff);
    s->is_header = calloc(n + 1, sizeof(bool)), s->irreducible = calloc(n + 1, sizeof(bool));
    return s->number && s->node && s->last && s->first && s->from && s->nback && s->set && s->header && s->body_stamp &&
           s->extra_stamp && s->body && s->extra && s->is_header && s->irreducible;
}

static void give_back(search_t *s)
{
    void *const all[] = {s->number, s->node,  s->last,      s->first,       s->from,
                         s->nback,  s->set,   s->header,    s->body_stamp,  s->extra_stamp,
                         s->body,   s->extra, s->is_header, s->irreducible, s->extras};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

int ompp_loops_find(const ompp_graph_t *graph, uint32_t entry, const bool *no_root, double deadline,
                    ompp_loops_t *loops)
{
    search_t s = {.graph = graph, .deadline = deadline};
    int rc = -OMPP_E_NOMEM;

    memset(loops, 0, sizeof *loops);
    if (make_room(&s)) {
        number_from(&s, entry);
        s.main = s.n;
        for (uint32_t v = 0; v < graph->n; v++)
            if (s.number[v] == NONE && !no_root[v]) number_from(&s, v);
        link_back(&s);
        rc = find_all(&s);
        if (rc == 0) rc = write_loops(&s, loops);
    }
    give_back(&s);
    return rc;
}

void ompp_loops_free(ompp_loops_t *loops)
{
    free(loops->loops);
    free(loops->of);
    memset(loops, 0, sizeof *loops);
}
