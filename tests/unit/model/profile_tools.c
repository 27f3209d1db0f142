#define _GNU_SOURCE
#include "profile_tools.h"

#include "model/ompp_merge.h"
#include "model/ompp_record.h"

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

static void append(char **text, char *more)
{
    char *both = text_of("%s %s", *text, more);

    free(*text);
    free(more);
    *text = both;
}

/* All fields; for strings and records of other lists what they are, not their indices. */
static char *record_text(const ompp_profile_t *p, const ompp_record_t *record, const void *data)
{
    char *text = text_of("%s", record->element);

    for (const ompp_field_t *f = record->fields; f->type; f++) {
        const uint64_t value = ompp_field_get(f, data);
        double real;
        memcpy(&real, &value, sizeof real);
        if (f->type == OMPP_FIELD_TEXT) append(&text, text_of("'%s'", T(value)));
        else if (f->of && value != OMPP_NONE) append(&text, record_text(p, f->of, ompp_record_at(p, f->of, value)));
        else if (ompp_field_is_real(f)) append(&text, text_of("%.6g", real));
        else append(&text, text_of("%" PRIx64, value));
    }
    return text;
}

/* All metrics of a set as text, which is what makes sets of different profiles the same. */
static char *set_text(const ompp_profile_t *p, uint32_t set)
{
    char *text = text_of(set < OMPP_SET_FIRST_FREE ? "built-in %u" : "registered", set);

    for (uint32_t index = 0; index < p->nmetrics; index++)
        for (size_t i = 0; i < p->nmetrics; i++) {
            ompp_metric_t m = p->metrics[i];
            if (m.set != set || m.index != index) continue;
            m.set = 0;
            append(&text, record_text(p, &ompp_record_metric, &m));
        }
    return text;
}

static void record_line(lines_t *lines, const ompp_profile_t *p, const ompp_record_t *record, const void *data,
                        const char *of)
{
    char *text = record_text(p, record, data);

    line(lines, "%s %s", of, text);
    free(text);
}

static void block_line(lines_t *lines, const ompp_profile_t *p, const char *path, const ompp_block_t *b)
{
    char *set = set_text(p, b->set), *values = text_of("%s", "");

    for (uint32_t i = 0; i < b->nvalues; i++) append(&values, text_of("%" PRIu64, b->values[i]));
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
        char *region = i ? record_text(p, &ompp_record_region, &p->regions[node->region]) : text_of("root");
        paths[i] = text_of("%s/%s", i ? paths[node->parent] : "", region);
        free(region);
        line(lines, "node %s first %" PRIu64 " on %u", paths[i], node->first_ns, node->first_rank);
        if (node->over_threads.count) record_line(lines, p, &ompp_record_spread, &node->over_threads, paths[i]);
        if (node->over_ranks.count) record_line(lines, p, &ompp_record_spread, &node->over_ranks, paths[i]);
        for (uint32_t k = 0; k < node->nblocks; k++) block_line(lines, p, paths[i], &node->blocks[k]);
    }
    for (size_t i = 0; i < p->nnodes; i++) free(paths[i]);
    free(paths);
}

static void list_lines(lines_t *lines, const ompp_profile_t *p, const ompp_record_t *record)
{
    for (size_t i = 0; i < ompp_record_count(p, record); i++)
        record_line(lines, p, record, ompp_record_at(p, record, i), "");
}

static int compare_lines(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char *tools_canonical(const ompp_profile_t *p)
{
    lines_t lines = {0};
    size_t length = 0;

    record_line(&lines, p, &ompp_record_profile, p, "");
    for (size_t i = 0; i < OMPP_RECORD_LISTS; i++)
        if (ompp_record_lists[i] != &ompp_record_metric) list_lines(&lines, p, ompp_record_lists[i]);
    for (size_t i = 0; i < p->nmetrics; i++) {
        if (p->metrics[i].index != 0) continue;
        char *text = set_text(p, p->metrics[i].set);
        line(&lines, "set %s", text);
        free(text);
    }
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
