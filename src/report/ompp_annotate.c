/**
 * \file
 * Source text with what was measured beside its lines: samples of the line; of regions and calls that begin on it their
 * time, how much of it was lost, and what was counted in them (loads, stores, counters).
 */
#define _GNU_SOURCE /* getline */
#include "report/ompp_annotate.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_sample_sums.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "report/ompp_text_priv.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT 3u /* lines shown before and after one with a value */
#define MOST_LINES 10000000u
#define MOST_COUNTS 4u /* metrics with a column */

/* Of one line. */
typedef struct {
    uint64_t own_ns, region_ns, wait_ns; /* samples; thread time of regions that begin here, and waiting in it */
    uint64_t count[MOST_COUNTS];         /* in these, without what they call */
    uint32_t region;                     /* the one with most time; OMPP_NONE = none */
    uint64_t most_ns;
} line_t;

/* Of a region, all its nodes together. */
typedef struct {
    uint64_t time_ns, wait_ns, count[MOST_COUNTS];
} sum_t;

typedef struct {
    line_t *lines; /* [n], from line 0 */
    uint32_t n;
    uint64_t total_ns; /* all samples */
    const ompp_metric_t *metric[MOST_COUNTS];
    unsigned nmetrics;
} marks_t;

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Bytes that two paths have in common at their ends. */
static size_t common_end(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    size_t n = 0;

    while (n < na && n < nb && a[na - 1 - n] == b[nb - 1 - n]) n++;
    return n;
}

/* Of the profile's files with that name, the one whose path is most like it. 0 = none. */
static ompp_str_t file_of(const ompp_profile_t *p, const char *wanted)
{
    char whole[PATH_MAX];
    const char *path = realpath(wanted, whole) ? whole : wanted;
    ompp_str_t best = 0;
    size_t most = 0;

    for (uint32_t r = 0; r < p->nregions; r++) {
        const char *file = ompp_profile_text(p, p->regions[r].file);
        if (!*file || strcmp(ompp_path_last(file), ompp_path_last(path)) != 0) continue;
        const size_t common = common_end(file, path);
        if (common > most) best = p->regions[r].file, most = common;
    }
    return best;
}

const char *ompp_report_path(const ompp_profile_t *profile, const char *file)
{
    const ompp_str_t found = file_of(profile, file);

    return found ? ompp_profile_text(profile, found) : NULL;
}

/* ---- What belongs to a line -------------------------------------------------------------------------------------- */

static line_t *line_at(marks_t *marks, uint32_t line)
{
    if (line == 0 || line > MOST_LINES) return NULL;
    if (line >= marks->n) {
        const uint32_t n = line + line / 2 + 64;
        line_t *more = realloc(marks->lines, n * sizeof *more);
        if (!more) return NULL;
        for (uint32_t i = marks->n; i < n; i++) more[i] = (line_t){.region = OMPP_NONE};
        marks->lines = more;
        marks->n = n;
    }
    return &marks->lines[line];
}

/* Those that each access or event counts into: loads, stores, counters. */
static void find_metrics(marks_t *marks, const ompp_profile_t *p)
{
    for (size_t i = 0; i < p->nmetrics && marks->nmetrics < MOST_COUNTS; i++) {
        const unsigned use = p->metrics[i].use;
        if (use == OMPP_USE_COLUMN || use == OMPP_USE_OBJECTS || use == OMPP_USE_SELECTED)
            marks->metric[marks->nmetrics++] = &p->metrics[i];
    }
}

/* Of all data; of a metric that was counted for some structures alone, of these. */
static void add_counts(const marks_t *marks, const ompp_node_t *node, sum_t *to)
{
    for (uint32_t b = 0; b < node->nblocks; b++)
        for (unsigned m = 0; m < marks->nmetrics; m++) {
            const ompp_block_t *block = &node->blocks[b];
            const ompp_metric_t *metric = marks->metric[m];
            if (block->set == metric->set && !block->object == (metric->use != OMPP_USE_SELECTED) &&
                metric->index < block->nvalues)
                to->count[m] += block->values[metric->index];
        }
}

/* \return [nregions], owned. */
static sum_t *sum_regions(const marks_t *marks, const ompp_profile_t *p)
{
    sum_t *sums = calloc(p->nregions + 1, sizeof *sums);

    for (uint32_t n = 1; sums && n < p->nnodes; n++) {
        const ompp_node_t *node = &p->nodes[n];
        const unsigned construct = p->regions[node->region].construct;
        sum_t *to = &sums[node->region];
        add_counts(marks, node, to);
        if (ompp_construct_is_path(construct)) continue;
        for (uint32_t b = 0; b < node->nblocks; b++)
            for (unsigned s = 0; ompp_block_is_phases(&node->blocks[b]) && s < ompp_constructs[construct].nphases; s++)
                to->time_ns += node->blocks[b].values[ompp_value_index(s, OMPP_SLOT_TIME)];
        for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++)
            if (ompp_efficiency_lost_in(construct, s) != OMPP_LOST_NUM)
                to->wait_ns += ompp_analysis_phase(p, n, ompp_constructs[construct].phases[s]);
    }
    return sums;
}

static bool has_sum(const sum_t *sum)
{
    uint64_t all = sum->time_ns;

    for (unsigned m = 0; m < MOST_COUNTS; m++) all |= sum->count[m];
    return all != 0;
}

static void add_region(const sum_t *sum, uint32_t region, line_t *line)
{
    line->region_ns += sum->time_ns;
    line->wait_ns += sum->wait_ns;
    for (unsigned m = 0; m < MOST_COUNTS; m++) line->count[m] += sum->count[m];
    if (sum->time_ns && sum->time_ns >= line->most_ns) line->most_ns = sum->time_ns, line->region = region;
}

static bool mark_all(marks_t *marks, const ompp_profile_t *p, const ompp_samples_t *samples, ompp_str_t file)
{
    sum_t *sums = sum_regions(marks, p);
    bool ok = sums != NULL;

    for (size_t i = 0; i < samples->nlines && ok; i++) {
        const ompp_region_t *r = &p->regions[samples->lines[i].index];
        if (r->file != file) continue;
        line_t *line = line_at(marks, r->begin);
        if (line) line->own_ns += samples->lines[i].own_ns;
    }
    for (uint32_t r = 0; r < p->nregions && ok; r++) {
        const ompp_region_t *region = &p->regions[r];
        if (region->file != file || !has_sum(&sums[r])) continue;
        line_t *line = line_at(marks, region->begin);
        if (line) add_region(&sums[r], r, line);
    }
    free(sums);
    return ok;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static bool has_value(const marks_t *marks, uint32_t line)
{
    uint64_t all = 0;

    if (line >= marks->n) return false;
    for (unsigned m = 0; m < marks->nmetrics; m++) all |= marks->lines[line].count[m];
    return all || marks->lines[line].own_ns || marks->lines[line].region_ns;
}

static bool is_near(const marks_t *marks, uint32_t line)
{
    for (uint32_t l = line > CONTEXT ? line - CONTEXT : 1; l <= line + CONTEXT; l++)
        if (has_value(marks, l)) return true;
    return false;
}

/* Calls of MPI have longer names, and are waiting throughout. */
static void put_region(const line_t *line, const ompp_profile_t *p, FILE *out)
{
    const ompp_region_t *r = &p->regions[line->region];
    const bool call = ompp_constructs[r->construct].place == OMPP_PLACE_CALL;
    char *name = ompp_text_printable(call ? ompp_profile_text(p, r->name) : ompp_constructs[r->construct].brief, false);

    fprintf(out, " %9s ", ompp_text_seconds_digits(line->region_ns, 2).text);
    if (call) fprintf(out, "%-14.14s", name ? name : "");
    else fprintf(out, "%-8.8s%6.1f", name ? name : "", 100 * (double)line->wait_ns / (double)line->region_ns);
    free(name);
}

static void put_line(const marks_t *marks, const ompp_profile_t *p, uint32_t number, const char *text, FILE *out)
{
    const line_t none = {.region = OMPP_NONE}, *line = number < marks->n ? &marks->lines[number] : &none;
    char *printable = ompp_text_printable(text, false);

    if (line->own_ns)
        fprintf(out, "%9s %6.2f", ompp_text_seconds_digits(line->own_ns, 2).text,
                100 * (double)line->own_ns / (double)marks->total_ns);
    else fprintf(out, "%16s", "");
    for (unsigned m = 0; m < marks->nmetrics; m++) {
        if (line->count[m]) fprintf(out, " %13" PRIu64, line->count[m]);
        else fprintf(out, " %13s", "");
    }
    if (line->region != OMPP_NONE) put_region(line, p, out);
    else fprintf(out, "%25s", "");
    fprintf(out, " %6" PRIu32 "  %s\n", number, printable ? printable : "");
    free(printable);
}

static void put_titles(const marks_t *marks, const ompp_profile_t *p, FILE *out)
{
    fprintf(out, "%9s %6s", "own sec", "own %");
    for (unsigned m = 0; m < marks->nmetrics; m++) {
        char *name = ompp_text_printable(ompp_profile_text(p, marks->metric[m]->name), true);
        fprintf(out, " %13.13s", name ? name : "");
        free(name);
    }
    fprintf(out, " %9s %-8s%6s %6s\n", "reg. sec", "region", "wait %", "line");
}

static void put_source(const marks_t *marks, const ompp_profile_t *p, bool full, FILE *source, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    bool gap = false;

    put_titles(marks, p, out);
    for (uint32_t number = 1; getline(&text, &size, source) >= 0; number++) {
        text[strcspn(text, "\n")] = '\0';
        for (char *c = text; *c; c++) *c = (char)(*c == '\t' ? ' ' : *c);
        if (!full && !is_near(marks, number)) {
            gap = true;
            continue;
        }
        if (gap) fprintf(out, "%*s %6s\n", (int)(41 + 14 * marks->nmetrics), "", "...");
        gap = false;
        put_line(marks, p, number, text, out);
    }
    free(text);
}

int ompp_report_annotate(const ompp_profile_t *profile, const char *file, bool full, FILE *source, FILE *out)
{
    marks_t marks = {0};
    ompp_samples_t samples;

    if (ompp_samples_init(&samples, profile) != 0) return -OMPP_E_NOMEM;
    marks.total_ns = samples.total_ns;
    find_metrics(&marks, profile);
    const ompp_str_t found = file_of(profile, file);
    int rc = !found ? -OMPP_E_NOTFOUND : mark_all(&marks, profile, &samples, found) ? 0 : -OMPP_E_NOMEM;
    if (rc == 0 && !marks.n) rc = -OMPP_E_NOTFOUND;
    if (rc == 0) put_source(&marks, profile, full, source, out);
    free(marks.lines);
    ompp_samples_fini(&samples);
    return rc;
}

/* ---- Which files there are --------------------------------------------------------------------------------------- */

typedef struct {
    ompp_str_t file;
    uint64_t own_ns, region_ns;
} file_t;

static int by_time(const void *a, const void *b)
{
    const file_t *x = a, *y = b;

    const uint64_t a_ns = x->own_ns > x->region_ns ? x->own_ns : x->region_ns,
                   b_ns = y->own_ns > y->region_ns ? y->own_ns : y->region_ns;

    if (a_ns != b_ns) return a_ns > b_ns ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

int ompp_report_files(const ompp_profile_t *p, FILE *out)
{
    file_t *files = calloc(p->nstrings + 1, sizeof *files);
    const marks_t none = {0};
    sum_t *sums = sum_regions(&none, p);
    ompp_samples_t samples = {0};
    size_t n = 0;
    int rc = files && sums ? ompp_samples_init(&samples, p) : -OMPP_E_NOMEM;

    for (size_t i = 0; rc == 0 && i < samples.nlines; i++)
        files[p->regions[samples.lines[i].index].file].own_ns += samples.lines[i].own_ns;
    for (uint32_t r = 0; rc == 0 && r < p->nregions; r++) files[p->regions[r].file].region_ns += sums[r].time_ns;
    for (uint32_t f = 1; rc == 0 && f < p->nstrings; f++)
        if (files[f].own_ns || files[f].region_ns) files[n++] = (file_t){f, files[f].own_ns, files[f].region_ns};
    if (n) qsort(files, n, sizeof *files, by_time);
    if (rc == 0) fprintf(out, "%9s %6s %9s  %s\n", "own sec", "own %", "reg. sec", "file");
    for (size_t i = 0; i < n; i++) {
        char *printable = ompp_text_printable(ompp_profile_text(p, files[i].file), false);
        fprintf(out, "%9s %6.2f %9s  %s\n", ompp_text_seconds_digits(files[i].own_ns, 2).text,
                samples.total_ns ? 100 * (double)files[i].own_ns / (double)samples.total_ns : 0.0,
                ompp_text_seconds_digits(files[i].region_ns, 2).text, printable ? printable : "");
        free(printable);
    }
    if (rc == 0) ompp_samples_fini(&samples);
    free(files);
    free(sums);
    return rc;
}
