#define _GNU_SOURCE
#include "profile_tools.h"

#include "model/ompp_merge.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

uint64_t random_next(random_t *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * 0x2545f4914f6cdd1du;
}

uint32_t random_below(random_t *r, uint32_t n) { return (uint32_t)((random_next(r) >> 32) % n); }

/* ---- Random profiles --------------------------------------------------------------------------------------------- */

enum { NREGIONS = 24, NSETS = 3 };

/* Number i of the program: the same on every rank, apart from what the run on that rank knows. */
static ompp_region_t program_region(ompp_profile_t *p, unsigned i, uint32_t module)
{
    char text[32];
    ompp_region_t r = {.construct = i % OMPP_CONSTRUCT_NUM, .module = OMPP_NONE, .number = OMPP_NONE};

    snprintf(text, sizeof text, "file%u.c", i % 5);
    if (i % 3 == 0) {
        r.flags = OMPP_REGION_F_ADDRESS;
        r.module = module;
        r.addr = 0x1000 + 16 * i;
    } else {
        r.file = ompp_profile_string(p, text);
        r.begin = 10 * i + 1;
        r.end = 10 * i + 5;
    }
    snprintf(text, sizeof text, "name%u", i % 7);
    if (i % 2) r.name = ompp_profile_string(p, text);
    if (i % 5 == 0) r.key = i;
    return r;
}

static void random_run(random_t *r, ompp_profile_t *p, uint32_t rank)
{
    char text[32];
    ompp_rank_t me = {.rank = rank, .pid = 1000 + rank, .nthreads = 1 + random_below(r, 4)};

    snprintf(text, sizeof text, "node%u", rank / 4);
    me.host = ompp_profile_string(p, text);
    me.clock = ompp_profile_string(p, rank % 2 ? "tsc" : "clock_gettime");
    me.begin_epoch_ns = 1000000 + rank;
    me.duration_ns = 500000 + random_below(r, 100000);
    me.user_ns = random_below(r, 100000);
    me.system_ns = random_below(r, 1000);
    ompp_profile_add_rank(p, &me);
    snprintf(text, sizeof text, "app%u", rank);
    p->app = ompp_profile_string(p, text);
    p->version = ompp_profile_string(p, "0.9");
    p->source = ompp_profile_string(p, rank % 3 ? "OPARI2" : "none");
    p->mpi = true;
    p->nranks = 64;
    p->nslots = me.nthreads;
    for (unsigned i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "value%u", rank);
        ompp_profile_add_setting(p, i ? "OMPP_OUTDIR" : "OMP_NUM_THREADS", text);
    }
    for (uint32_t t = me.nthreads; t-- > 0;) { /* not in order on purpose */
        ompp_location_t l = {rank, t, t ? OMPP_THREAD_TEAM : OMPP_THREAD_INITIAL, random_below(r, 50),
                             100 + random_below(r, 50)};
        ompp_profile_add_location(p, &l);
    }
}

/* Each rank registers some of the program's sets, under numbers of its own. */
static unsigned random_sets(random_t *r, ompp_profile_t *p, unsigned *set_length)
{
    unsigned n = 0;

    for (unsigned s = 0; s < NSETS; s++) {
        if (random_below(r, 3) == 0) continue;
        for (unsigned i = 0; i <= s; i++) {
            char text[32];
            snprintf(text, sizeof text, "counter%u.%u", s, i);
            ompp_metric_t m = {.set = OMPP_SET_FIRST_FREE + n, .index = i, .unit = OMPP_UNIT_COUNT};
            m.name = ompp_profile_string(p, text);
            m.source = ompp_profile_string(p, "test");
            m.meaning = ompp_profile_string(p, "counts");
            m.reduce_threads = (s + i) % 3;
            m.reduce_ranks = (s + i + 1) % 3;
            m.use = i % 3;
            ompp_profile_add_metric(p, &m);
        }
        set_length[n++] = s + 1;
    }
    return n;
}

static void random_block(random_t *r, ompp_profile_t *p, uint32_t node, uint32_t location, uint32_t set, uint32_t n)
{
    uint64_t *values = ompp_profile_block(p, node, location, set, set == OMPP_SET_PHASES ? 0 : random_below(r, 3), n);

    for (uint32_t i = 0; i < n; i++) values[i] = random_next(r) >> (24 + random_below(r, 40));
}

static void random_tree(random_t *r, ompp_profile_t *p, uint32_t rank)
{
    unsigned set_length[NSETS], nsets = random_sets(r, p, set_length);
    bool taken[NREGIONS][NREGIONS + 1] = {{false}}; /* [region][parent node]: a path stands in the tree once */

    for (unsigned i = 0; i < NREGIONS; i++) {
        uint32_t region = random_below(r, p->nregions), parent = random_below(r, p->nnodes);
        if (taken[region][parent]) continue;
        taken[region][parent] = true;
        uint32_t node = ompp_profile_add_node(p, region, parent, 100 + random_below(r, 1000), rank);
        for (uint32_t l = 0; l < p->nlocations; l++) {
            if (random_below(r, 4) == 0) continue;
            random_block(r, p, node, l, OMPP_SET_PHASES, ompp_phase_values(p->regions[region].construct));
            if (random_below(r, 2)) random_block(r, p, node, l, OMPP_SET_MPI, OMPP_METRIC_MPI_NUM);
            unsigned s = random_below(r, NSETS);
            if (s < nsets) random_block(r, p, node, l, OMPP_SET_FIRST_FREE + s, set_length[s]);
        }
    }
}

ompp_profile_t *tools_rank_profile(uint64_t seed, uint32_t rank)
{
    random_t r = {seed * 0x9e3779b97f4a7c15u + rank * 0x632be59bd9b4e019u + 1};
    ompp_profile_t *p = ompp_profile_new();
    char text[32];

    random_run(&r, p, rank);
    for (unsigned i = 0; i < 3; i++) {
        unsigned which = (i + rank) % 3; /* in another order on every rank */
        snprintf(text, sizeof text, "/lib/%u.so", which);
        ompp_module_t m = {.path = ompp_profile_string(p, text), .base = 4096 * rank};
        snprintf(text, sizeof text, "id%u", which);
        if (which) m.id = ompp_profile_string(p, text);
        ompp_profile_add_module(p, &m);
    }
    for (unsigned i = 0; i < NREGIONS; i++) {
        unsigned which = (7 * i + rank) % NREGIONS, module = 0;
        if (random_below(&r, 3) == 0) continue;
        while ((module + rank) % 3 != which % 2) module++; /* the module that is number which % 2 in the program */
        ompp_region_t region = program_region(p, which, module);
        ompp_profile_add_region(p, &region);
    }
    for (unsigned i = 0; i < 2; i++) {
        unsigned which = (i + rank) % 3; /* in another order on every rank, and not all of them on all */
        snprintf(text, sizeof text, "structure%u", which);
        ompp_object_t object = {
            .name = ompp_profile_string(p, text), .address = 4096 * rank + which, .size = 8 + which, .rank = rank};
        object.nranges = 1 + random_below(&r, 3);
        object.end_offset = random_below(&r, 9);
        ompp_profile_add_object(p, &object);
    }
    random_tree(&r, p, rank);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "subject%u", random_below(&r, 4));
        ompp_profile_add_coverage(p, random_below(&r, OMPP_COVERAGE_NUM), text, i % 2 ? "reason" : NULL,
                                  1 + random_below(&r, 9));
    }
    return p;
}

/* ---- Canonical text ---------------------------------------------------------------------------------------------- */

typedef struct {
    size_t n, allocated;
    char **lines;
} lines_t;

__attribute__((format(printf, 1, 0))) static char *vtext(const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) < 0) abort();
    return text;
}

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = vtext(format, args);
    va_end(args);
    return text;
}

__attribute__((format(printf, 2, 3))) static void line(lines_t *lines, const char *format, ...)
{
    va_list args;

    if (lines->n == lines->allocated) {
        lines->allocated = lines->allocated ? 2 * lines->allocated : 256;
        lines->lines = realloc(lines->lines, lines->allocated * sizeof *lines->lines);
    }
    va_start(args, format);
    lines->lines[lines->n++] = vtext(format, args);
    va_end(args);
}

#define T(index) ompp_profile_text(p, index)

static char *module_text(const ompp_profile_t *p, uint32_t i)
{
    if (i == OMPP_NONE) return text_of("-");
    return text_of("%s", p->modules[i].id ? T(p->modules[i].id) : T(p->modules[i].path));
}

static char *region_text(const ompp_profile_t *p, uint32_t i)
{
    const ompp_region_t *r = &p->regions[i];
    char *module = module_text(p, r->module);
    char *text = text_of("%s %x %s:%u-%u '%s' %s %s+%" PRIx64 "-%" PRIx64 " k%" PRIu64,
                         ompp_constructs[r->construct].full, r->flags, T(r->file), r->begin, r->end, T(r->name),
                         T(r->function), module, r->addr, r->addr_end, r->key);

    free(module);
    return text;
}

/* All metrics of a set as text, which is what makes sets of different profiles the same. */
static char *set_text(const ompp_profile_t *p, uint32_t set)
{
    char *text = text_of(set < OMPP_SET_FIRST_FREE ? "built-in %u" : "registered", set);

    for (uint32_t index = 0; index < p->nmetrics; index++)
        for (size_t i = 0; i < p->nmetrics; i++) {
            const ompp_metric_t *m = &p->metrics[i];
            if (m->set != set || m->index != index) continue;
            char *more = text_of("%s, %s %s %s %u%u%u%u%u", text, T(m->name), T(m->source), T(m->meaning), m->unit,
                                 m->quality, m->reduce_threads, m->reduce_ranks, m->use);
            free(text);
            text = more;
        }
    return text;
}

static void spread_lines(lines_t *lines, const char *path, const char *over, const ompp_spread_t *s)
{
    if (!s->count) return;
    line(
        lines,
        "spread over %s %s n %" PRIu64 " sum %" PRIu64 " min %" PRIu64 " %u %u max %" PRIu64 " %u %u mean %.6g m2 %.6g",
        over, path, s->count, s->sum, s->min, s->min_rank, s->min_tid, s->max, s->max_rank, s->max_tid, s->mean, s->m2);
}

static void block_line(lines_t *lines, const ompp_profile_t *p, const char *path, const ompp_block_t *b)
{
    char *set = set_text(p, b->set), *values = text_of("%s", "");

    for (uint32_t i = 0; i < b->nvalues; i++) {
        char *more = text_of("%s %" PRIu64, values, b->values[i]);
        free(values);
        values = more;
    }
    line(lines, "block %s | rank %u tid %u set %s object %s =%s", path, p->locations[b->location].rank,
         p->locations[b->location].tid, set, b->object ? T(p->objects[b->object - 1].name) : "all", values);
    free(set);
    free(values);
}

static void node_lines(lines_t *lines, const ompp_profile_t *p)
{
    char **paths = calloc(p->nnodes, sizeof *paths);

    for (size_t i = 0; i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        char *region = i ? region_text(p, node->region) : text_of("root");
        paths[i] = text_of("%s/%s", i ? paths[node->parent] : "", region);
        free(region);
        line(lines, "node %s first %" PRIu64 " on %u", paths[i], node->first_ns, node->first_rank);
        spread_lines(lines, paths[i], "threads", &node->over_threads);
        spread_lines(lines, paths[i], "ranks", &node->over_ranks);
        for (uint32_t k = 0; k < node->nblocks; k++) block_line(lines, p, paths[i], &node->blocks[k]);
    }
    for (size_t i = 0; i < p->nnodes; i++) free(paths[i]);
    free(paths);
}

static void run_lines(lines_t *lines, const ompp_profile_t *p)
{
    line(lines, "run %s %s %s %s mpi %d ranks %u slots %u", T(p->app), T(p->version), T(p->build_date), T(p->source),
         p->mpi, p->nranks, p->nslots);
    line(lines, "rest %u max %" PRIu64 " wall %" PRIu64 " user %" PRIu64 " system %" PRIu64 " first %u", p->nrest,
         p->rest_duration_max_ns, p->rest_wall_threads_ns, p->rest_user_ns, p->rest_system_ns, p->rest_first_rank);
    for (size_t i = 0; i < p->nranks_kept; i++) {
        const ompp_rank_t *r = &p->ranks[i];
        line(lines, "rank %u pid %u threads %u end %u %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, r->rank,
             r->pid, r->nthreads, r->end, T(r->host), T(r->clock), r->begin_epoch_ns, r->duration_ns, r->user_ns,
             r->system_ns);
    }
    for (size_t i = 0; i < p->nlocations; i++)
        line(lines, "location %u %u kind %u %" PRIu64 "-%" PRIu64, p->locations[i].rank, p->locations[i].tid,
             p->locations[i].kind, p->locations[i].begin_ns, p->locations[i].end_ns);
    for (size_t i = 0; i < p->ncoverage; i++)
        line(lines, "coverage %u %s %s %" PRIu64 " ranks %u", p->coverage[i].kind, T(p->coverage[i].subject),
             T(p->coverage[i].reason), p->coverage[i].count, p->coverage[i].nranks);
    for (size_t i = 0; i < p->nsettings; i++)
        line(lines, "setting %zu %s=%s", i, T(p->settings[i].name), T(p->settings[i].value));
}

static void definition_lines(lines_t *lines, const ompp_profile_t *p)
{
    for (size_t i = 0; i < p->nmodules; i++)
        line(lines, "module %s %s %" PRIx64, T(p->modules[i].path), T(p->modules[i].id), p->modules[i].base);
    for (size_t i = 0; i < p->nregions; i++) {
        char *text = region_text(p, i);
        line(lines, "region %s number %u", text, p->regions[i].number);
        free(text);
    }
    for (size_t i = 0; i < p->nobjects; i++) {
        const ompp_object_t *o = &p->objects[i];
        line(lines, "object %s %" PRIx64 " %" PRIu64 " offsets %" PRIu64 " %" PRIu64 " ranges %u rank %u", T(o->name),
             o->address, o->size, o->start_offset, o->end_offset, o->nranges, o->rank);
    }
    for (size_t i = 0; i < p->nmetrics; i++) {
        if (p->metrics[i].index != 0) continue;
        char *text = set_text(p, p->metrics[i].set);
        line(lines, "set %s", text);
        free(text);
    }
}

static int compare_lines(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char *tools_canonical(const ompp_profile_t *p)
{
    lines_t lines = {0};
    size_t length = 0;

    run_lines(&lines, p);
    definition_lines(&lines, p);
    node_lines(&lines, p);
    qsort(lines.lines, lines.n, sizeof *lines.lines, compare_lines);
    for (size_t i = 0; i < lines.n; i++) length += strlen(lines.lines[i]) + 1;
    char *text = malloc(length + 1), *end = text;
    for (size_t i = 0; i < lines.n; i++) {
        end += sprintf(end, "%s\n", lines.lines[i]);
        free(lines.lines[i]);
    }
    *end = '\0';
    free(lines.lines);
    return text;
}

void tools_assert_equal(const ompp_profile_t *a, const ompp_profile_t *b)
{
    char *x = tools_canonical(a), *y = tools_canonical(b), *i = x, *k = y;

    while (*i || *k) {
        size_t n = strcspn(i, "\n"), m = strcspn(k, "\n");
        if (n != m || memcmp(i, k, n) != 0) {
            print_error("first difference:\n- %.*s\n+ %.*s\n", (int)n, i, (int)m, k);
            fail();
        }
        i += n + (i[n] != '\0');
        k += m + (k[m] != '\0');
    }
    free(x);
    free(y);
}

void tools_assert_valid(const ompp_profile_t *profile)
{
    char why[256];

    if (ompp_profile_check(profile, why, sizeof why) == 0) return;
    print_error("profile: %s\n", why);
    fail();
}
