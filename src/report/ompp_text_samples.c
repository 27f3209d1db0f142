/**
 * \file
 * Section ompp Samples: where the processor time was spent, by owner of the code, function, line and call path. At most
 * 80 columns. ompP does not have it.
 */
#define _GNU_SOURCE /* qsort_r */
#include "base/ompp_utf8.h"
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_sample_sums.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "structure/ompp_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST 10u   /* rows of a table in the report */
#define WIDTH 80u  /* columns of the section */
#define NUMBERS 28 /* of these before the names */

/* What is written. */
typedef struct {
    FILE *out;
    const ompp_profile_t *p;
    const ompp_samples_t *samples;
} section_t;

static void put_numbers(const section_t *s, uint64_t own, uint64_t all)
{
    const double total = (double)s->samples->total_ns;

    fprintf(s->out, "%9s %6.2f", ompp_text_seconds_digits(own, 2).text, 100 * (double)own / total);
    if (all) fprintf(s->out, " %6.2f  ", 100 * (double)all / total);
    else fprintf(s->out, " %6s  ", "");
}

/* Text in what is left of a line; what does not fit ends in "...". \return columns used. */
static size_t put_fitting(const section_t *s, const char *text, size_t room)
{
    char *printable = ompp_text_printable(text, false);
    size_t used = 0;

    if (!printable) return 0;
    used = ompp_utf8_width(printable);
    if (used <= room) {
        fputs(printable, s->out);
    } else if (room > 3) {
        /* names are ASCII nearly always; others lose more than they need */
        fprintf(s->out, "%.*s...", (int)(room - 3), printable);
        used = room;
    }
    free(printable);
    return used < room ? used : room;
}

/* "solve.c:42", of a loop "solve.c:42-50", "libm.so.6", or nothing. */
static void place_of(const ompp_profile_t *p, const ompp_region_t *region, char *out, size_t size)
{
    const char *file = ompp_path_last(ompp_profile_text(p, region->file));

    if (*file && region->construct == OMPP_CONSTRUCT_SOURCE_LOOP)
        snprintf(out, size, "%s:%" PRIu32 "-%" PRIu32, file, region->begin, region->end);
    else if (*file) snprintf(out, size, "%s:%" PRIu32, file, region->begin);
    else if (region->module < p->nmodules)
        snprintf(out, size, "%s", ompp_path_last(ompp_profile_text(p, p->modules[region->module].path)));
    else *out = '\0';
}

/*
 * A function without a name is its address in its file. A name that is too long loses the arguments of templates, then
 * its first scopes: what is wanted most is at its end.
 */
static void name_of(const ompp_profile_t *p, const ompp_region_t *region, size_t room, char *out, size_t size)
{
    const char *name = ompp_profile_text(p, region->name);
    char *shorter = NULL;

    if (!*name) name = ompp_profile_text(p, region->function);
    if (!*name) {
        snprintf(out, size, "0x%" PRIx64, region->addr);
        return;
    }
    if (strlen(name) > room) shorter = strdup(name);
    if (shorter) {
        ompp_name_shorten(shorter);
        name = shorter;
    }
    const char *rest = name;
    for (const char *next; strlen(rest) + (rest > name ? 3 : 0) > room && (next = strstr(rest, "::"));) rest = next + 2;
    snprintf(out, size, "%s%s", rest > name ? "..." : "", rest);
    free(shorter);
}

static void put_place(const section_t *s, const ompp_sampled_t *row, bool line)
{
    const ompp_region_t *region = &s->p->regions[row->index];
    char name[400], place[300];
    size_t room = WIDTH - NUMBERS + 1;

    place_of(s->p, region, place, sizeof place);
    const size_t least = ompp_utf8_width(place) + 1, wide = room < least + 20 ? room : room - least;
    name_of(s->p, region, wide, name, sizeof name);
    const char *first = line ? place : name, *second = line ? name : place;
    room -= put_fitting(s, first, line ? room : wide);
    if (room > 4 && *second) {
        putc(' ', s->out);
        put_fitting(s, second, room - 1);
    }
    putc('\n', s->out);
}

/* From the innermost function outwards: that fits best what is wanted of a path when it is cut. An address is followed
 * by its file, where that is another one than before. */
static void put_path(const section_t *s, uint32_t node)
{
    size_t room = WIDTH - NUMBERS + 1, rows = 0;
    uint32_t module = OMPP_NONE;
    const char *between = "";

    for (uint32_t n = node; n && rows < 4; n = s->p->nodes[n].parent) {
        const ompp_region_t *region = &s->p->regions[s->p->nodes[n].region];
        char name[400], text[760];
        char place[300];
        place_of(s->p, region, place, sizeof place);
        if (region->construct == OMPP_CONSTRUCT_FUNCTION) {
            const bool is_named = region->name || region->function, is_told = is_named || region->module == module;
            name_of(s->p, region, WIDTH - NUMBERS - 6, name, sizeof name);
            if (is_told) snprintf(text, sizeof text, "%s%s", between, name);
            else snprintf(text, sizeof text, "%s%s (%s)", between, name, place);
            if (!is_named) module = region->module;
        } else {
            const char *what = ompp_constructs[region->construct].place == OMPP_PLACE_CALL
                                   ? ompp_profile_text(s->p, region->name)
                                   : ompp_constructs[region->construct].full;
            snprintf(text, sizeof text, "%s[%s %s]", between, what, place);
        }
        if (ompp_utf8_width(text) + 2 > room && rows + 1 < 4 && *between) {
            fprintf(s->out, "\n%*s", NUMBERS, "");
            room = WIDTH - NUMBERS - 1;
            rows++;
        }
        room -= put_fitting(s, text, room);
        between = " < ";
    }
    putc('\n', s->out);
}

/* What a table is about: it begins with the place of lines and loops; a line calls nothing. */
typedef enum { FUNCTIONS, LINES, LOOPS, PATHS } kind_t;

static void put_table(const section_t *s, kind_t kind, const ompp_sampled_t *rows, size_t n, size_t most)
{
    static const char *const titles[] = {
        [FUNCTIONS] = "function", [LINES] = "line", [LOOPS] = "loop", [PATHS] = "path, from the inside out"};

    if (n > most) n = most;
    while (n && !rows[n - 1].own_ns) n--;
    if (!n) return;
    fprintf(s->out, "\n%9s %6s %6s  %s\n", "own sec", "own %", kind == LINES ? "" : "all %", titles[kind]);
    for (size_t i = 0; i < n; i++) {
        put_numbers(s, rows[i].own_ns, kind == LINES ? 0 : rows[i].all_ns);
        if (kind == PATHS) put_path(s, rows[i].index);
        else put_place(s, &rows[i], kind == LINES || kind == LOOPS);
    }
}

static void put_owners(const section_t *s)
{
    putc('\n', s->out);
    for (unsigned o = 0; o < OMPP_CODE_OWNERS; o++)
        if (s->samples->owner_ns[o])
            fprintf(s->out, "%9s %6.2f %6s  %s\n", ompp_text_seconds_digits(s->samples->owner_ns[o], 2).text,
                    100 * (double)s->samples->owner_ns[o] / (double)s->samples->total_ns, "", ompp_code_owner_names[o]);
}

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

#define LEAST 0.005 /* part of all samples that a row has at least */
#define MOST_DEPTH 64u

/* A row of a tree: a function, or a region on the way. */
static void put_branch(const section_t *s, uint64_t own, uint64_t all, unsigned depth, uint32_t region)
{
    const ompp_region_t *r = &s->p->regions[region];
    const unsigned indent = depth < 20 ? 2 * depth : 40;
    char name[400], place[300], text[760];

    place_of(s->p, r, place, sizeof place);
    const size_t room = WIDTH - NUMBERS - indent, taken = ompp_utf8_width(place);
    name_of(s->p, r, room > taken + 20 ? room - taken : 20, name, sizeof name);
    if (r->construct == OMPP_CONSTRUCT_FUNCTION) snprintf(text, sizeof text, "%s %s", name, place);
    else if (r->construct == OMPP_CONSTRUCT_INLINED) snprintf(text, sizeof text, "%s, inlined at %s", name, place);
    else if (r->construct == OMPP_CONSTRUCT_SOURCE_LOOP) snprintf(text, sizeof text, "[loop %s]", place);
    else if (ompp_constructs[r->construct].place == OMPP_PLACE_CALL)
        snprintf(text, sizeof text, "[%s %s]", ompp_profile_text(s->p, r->name), place);
    else snprintf(text, sizeof text, "[%s %s]", ompp_constructs[r->construct].full, place);
    put_numbers(s, own, all);
    fprintf(s->out, "%*s", (int)indent, "");
    put_fitting(s, text, WIDTH - NUMBERS + 1 - indent);
    putc('\n', s->out);
}

typedef struct {
    uint32_t index;
    uint64_t all_ns;
} branch_t;

static int by_all(const void *a, const void *b)
{
    const branch_t *x = a, *y = b;

    if (x->all_ns != y->all_ns) return x->all_ns > y->all_ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* What a tree is made of. first, next: [nnodes], lists of children that are no lines; own: [nnodes], with lines. */
typedef struct {
    const section_t *s;
    uint32_t *first, *next;
    uint64_t *own, least;
} tree_t;

static bool is_line(const ompp_profile_t *p, uint32_t node)
{
    return node && p->regions[p->nodes[node].region].construct == OMPP_CONSTRUCT_SOURCE_LINE;
}

/* From the outermost function inwards. */
static void put_callees(const tree_t *tree, uint32_t node, unsigned depth)
{
    const ompp_samples_t *samples = tree->s->samples;
    size_t n = 0;

    for (uint32_t c = tree->first[node]; c; c = tree->next[c]) n += samples->inclusive_ns[c] > tree->least;
    branch_t *children = n && depth < MOST_DEPTH ? malloc(n * sizeof *children) : NULL;
    if (!children) return;
    n = 0;
    for (uint32_t c = tree->first[node]; c; c = tree->next[c])
        if (samples->inclusive_ns[c] > tree->least) children[n++] = (branch_t){c, samples->inclusive_ns[c]};
    qsort(children, n, sizeof *children, by_all);
    for (size_t i = 0; i < n; i++) {
        const uint32_t c = children[i].index;
        put_branch(tree->s, tree->own[c], samples->inclusive_ns[c], depth, tree->s->p->nodes[c].region);
        put_callees(tree, c, depth + 1);
    }
    free(children);
}

/* Of one function, or of its callers: the node that is looked at, and the time that comes by it. */
typedef struct {
    uint32_t node;
    uint64_t ns;
} way_t;

static int by_region(const void *a, const void *b, void *profile)
{
    const ompp_profile_t *p = profile;
    const way_t *x = a, *y = b;
    const uint32_t r = x->node ? p->nodes[x->node].region : OMPP_NONE,
                   q = y->node ? p->nodes[y->node].region : OMPP_NONE;

    if (r != q) return r < q ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* ways: each at a node of one region; goes to the nodes above them, and prints these by region. */
static void put_callers(const tree_t *tree, way_t *ways, size_t n, unsigned depth)
{
    const ompp_profile_t *p = tree->s->p;
    branch_t *groups = malloc((n + 1) * sizeof *groups);
    size_t ngroups = 0;

    for (size_t i = 0; i < n; i++) ways[i].node = p->nodes[ways[i].node].parent;
    qsort_r(ways, n, sizeof *ways, by_region, (void *)(uintptr_t)p);
    for (size_t i = 0, next; groups && i < n; i = next) {
        uint64_t sum = 0;
        for (next = i; next < n && (ways[next].node ? p->nodes[ways[next].node].region : OMPP_NONE) ==
                                       (ways[i].node ? p->nodes[ways[i].node].region : OMPP_NONE);
             next++)
            sum += ways[next].ns;
        if (sum > tree->least && ways[i].node) groups[ngroups++] = (branch_t){(uint32_t)i, sum};
    }
    if (ngroups) qsort(groups, ngroups, sizeof *groups, by_all);
    for (size_t g = 0; g < ngroups; g++) {
        const size_t begin = groups[g].index;
        const uint32_t region = p->nodes[ways[begin].node].region;
        size_t end = begin;
        while (end < n && ways[end].node && p->nodes[ways[end].node].region == region) end++;
        put_branch(tree->s, groups[g].all_ns, 0, depth, region);
        way_t *above = depth < MOST_DEPTH ? malloc((end - begin) * sizeof *above) : NULL;
        if (above) memcpy(above, ways + begin, (end - begin) * sizeof *above);
        if (above) put_callers(tree, above, end - begin, depth + 1);
        free(above);
    }
    free(groups);
}

/* Each function with time of its own, and who called it. */
static bool put_all_callers(const tree_t *tree)
{
    const ompp_samples_t *samples = tree->s->samples;
    const ompp_profile_t *p = tree->s->p;
    way_t *ways = malloc(p->nnodes * sizeof *ways);
    uint64_t *own = calloc(p->nnodes, sizeof *own); /* [nnodes] of functions, with their loops and inlined calls */

    for (uint32_t i = 1; own && i < p->nnodes; i++) {
        uint32_t f = i;
        while (f && ompp_construct_is_part(p->regions[p->nodes[f].region].construct)) f = p->nodes[f].parent;
        own[f] += is_line(p, i) ? 0 : tree->own[i];
    }
    for (size_t f = 0; ways && own && f < samples->nfunctions && samples->functions[f].own_ns > tree->least; f++) {
        size_t n = 0;
        for (uint32_t i = 1; i < p->nnodes; i++)
            if (own[i] && p->nodes[i].region == samples->functions[f].index) ways[n++] = (way_t){i, own[i]};
        put_branch(tree->s, samples->functions[f].own_ns, 0, 0, samples->functions[f].index);
        put_callers(tree, ways, n, 1);
    }
    const bool memory = ways && own;
    free(ways);
    free(own);
    return memory;
}

/* Time of functions themselves is in samples->paths for those of the program only: it is made anew. */
static void find_own(tree_t *tree)
{
    const ompp_profile_t *p = tree->s->p;

    for (uint32_t n = (uint32_t)p->nnodes; n-- > 1;) {
        const uint32_t parent = p->nodes[n].parent;
        tree->own[n] += tree->s->samples->inclusive_ns[n];
        if (is_line(p, n)) continue;
        tree->own[parent] -= tree->s->samples->inclusive_ns[n];
        tree->next[n] = tree->first[parent];
        tree->first[parent] = n;
    }
}

static int put_tree(const section_t *s, ompp_by_t by, bool full)
{
    const size_t n = s->p->nnodes;
    tree_t tree = {.s = s,
                   .first = calloc(n, sizeof *tree.first),
                   .next = calloc(n, sizeof *tree.next),
                   .own = calloc(n, sizeof *tree.own),
                   .least = full ? 0 : (uint64_t)(LEAST * (double)s->samples->total_ns)};
    bool ok = tree.first && tree.next && tree.own;

    if (ok) {
        find_own(&tree);
        fprintf(s->out, "\n%9s %6s %6s  %s\n", "own sec", "own %", by == OMPP_BY_CALLEE ? "all %" : "",
                by == OMPP_BY_CALLEE ? "function, and what it calls" : "function, and who called it");
        if (by == OMPP_BY_CALLEE) put_callees(&tree, 0, 0);
        else ok = put_all_callers(&tree);
    }
    free(tree.first);
    free(tree.next);
    free(tree.own);
    return ok ? 0 : -OMPP_E_NOMEM;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

#define LITTLE 0.9 /* of the processor time: then the report says that there is more */

static void put_sum(const section_t *s)
{
    const uint64_t sampled = s->samples->total_ns, used = ompp_samples_cpu_ns(s->p);

    fprintf(s->out, "%" PRIu64 " samples stand for %s of %s sec of processor time. Waiting has none.\n",
            s->samples->total, ompp_text_seconds_digits(sampled, 2).text, ompp_text_seconds_digits(used, 2).text);
    if ((double)sampled < LITTLE * (double)used)
        fputs("The percentages are of these samples. For the rest see Samples and ompp Coverage above.\n", s->out);
    fputs("own: in the function, line or path itself; all: in what it calls, too.\n", s->out);
}

int ompp_text_samples(const ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_samples_t samples;
    const section_t s = {t->out, profile, &samples};

    if (ompp_samples_init(&samples, profile) != 0) return -OMPP_E_NOMEM;
    if (samples.total) {
        ompp_layout_title(t->out, "ompp Samples");
        put_sum(&s);
        put_owners(&s);
        put_table(&s, FUNCTIONS, samples.functions, samples.nfunctions, MOST);
        put_table(&s, LOOPS, samples.loops, samples.nloops, MOST);
        put_table(&s, LINES, samples.lines, samples.nlines, MOST);
        put_table(&s, PATHS, samples.paths, samples.npaths, MOST);
        putc('\n', t->out);
    }
    ompp_samples_fini(&samples);
    return 0;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void put_csv_row(const section_t *s, const char *what, const ompp_sampled_t *row, uint32_t region)
{
    char name[400], place[300];

    name_of(s->p, &s->p->regions[region], sizeof name, name, sizeof name);
    place_of(s->p, &s->p->regions[region], place, sizeof place);
    fprintf(s->out, "%s,%s,%s,", what, ompp_text_seconds_digits(row->own_ns, 6).text,
            row->all_ns ? ompp_text_seconds_digits(row->all_ns, 6).text : "");
    ompp_text_csv(s->out, name, false);
    putc(',', s->out);
    ompp_text_csv(s->out, place, false);
}

int ompp_text_samples_csv(const ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_samples_t samples;
    const section_t s = {t->out, profile, &samples};

    if (ompp_samples_init(&samples, profile) != 0) return -OMPP_E_NOMEM;
    if (samples.total) {
        fputs("##BEG ompp samples\nWhat,own,all,Name,Place,Callers\n", t->out);
        for (unsigned o = 0; o < OMPP_CODE_OWNERS; o++)
            if (samples.owner_ns[o])
                fprintf(t->out, "owner,%s,,%s,,\n", ompp_text_seconds_digits(samples.owner_ns[o], 6).text,
                        ompp_code_owner_names[o]);
        for (size_t i = 0; i < samples.nfunctions; i++) {
            put_csv_row(&s, "function", &samples.functions[i], samples.functions[i].index);
            fputs(",\n", t->out);
        }
        for (size_t i = 0; i < samples.nloops; i++) {
            put_csv_row(&s, "loop", &samples.loops[i], samples.loops[i].index);
            fputs(",\n", t->out);
        }
        for (size_t i = 0; i < samples.nlines; i++) {
            put_csv_row(&s, "line", &samples.lines[i], samples.lines[i].index);
            fputs(",\n", t->out);
        }
        for (size_t i = 0; i < samples.npaths; i++) {
            if (!samples.paths[i].index) continue;
            put_csv_row(&s, "path", &samples.paths[i], profile->nodes[samples.paths[i].index].region);
            putc(',', t->out);
            for (uint32_t n = profile->nodes[samples.paths[i].index].parent; n; n = profile->nodes[n].parent) {
                char name[400];
                const ompp_region_t *r = &profile->regions[profile->nodes[n].region];
                name_of(profile, r, sizeof name, name, sizeof name);
                const bool named = r->construct == OMPP_CONSTRUCT_FUNCTION || r->name;
                ompp_text_csv(t->out, named ? name : ompp_constructs[r->construct].full, false);
                if (profile->nodes[n].parent) fputs(" < ", t->out);
            }
            putc('\n', t->out);
        }
        fputs("##END ompp samples\n\n", t->out);
    }
    ompp_samples_fini(&samples);
    return 0;
}

int ompp_report_samples(const ompp_profile_t *profile, ompp_by_t by, bool full, FILE *out)
{
    ompp_samples_t samples;
    const section_t s = {out, profile, &samples};
    const size_t most = full ? SIZE_MAX : 50;

    if (ompp_samples_init(&samples, profile) != 0) return -OMPP_E_NOMEM;
    int rc = 0;
    if (!samples.total) fputs("no samples: the run took none (docs/sampling.md)\n", out);
    else {
        put_sum(&s);
        if (by != OMPP_BY_FLAT) rc = put_tree(&s, by, full);
        else {
            put_owners(&s);
            put_table(&s, FUNCTIONS, samples.functions, samples.nfunctions, most);
            put_table(&s, LOOPS, samples.loops, samples.nloops, most);
            put_table(&s, LINES, samples.lines, samples.nlines, most);
        }
    }
    ompp_samples_fini(&samples);
    return rc;
}
