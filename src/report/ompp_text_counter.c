/**
 * \file
 * Columns of counters and evaluators, and their lines in General Information, as ompP prints them.
 */
#define _GNU_SOURCE
#include "report/ompp_text_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNTERS "OMPP_CTR"
#define COUNTER_LINES 4 /* lines that ompP always prints, used or not */

/* ---- What there is ----------------------------------------------------------------------------------------------- */

/* Number in a setting's name, "OMPP_EVAL3" of OMPP_EVAL; 0 when it is another one. */
static unsigned number_of(const char *name, const char *stem)
{
    size_t n = strlen(stem);

    return strncmp(name, stem, n) == 0 && name[n] >= '0' && name[n] <= '9' ? (unsigned)strtoul(name + n, NULL, 10) : 0;
}

static void refuse(ompp_text_t *t, const char *who, const char *expression, const char *error)
{
    char *before = t->refused;

    ompp_warn("%s='%s': %s", who, expression, error);
    if (asprintf(&t->refused, "%snot available: %s='%s' (%s)\n", before ? before : "", who, expression, error) < 0)
        t->refused = before;
    else free(before);
}

static bool add(ompp_text_t *t, const char *title, const char *unit, const char *expression, const char *who)
{
    char error[400];
    ompp_eval_t *eval = ompp_eval_new(expression, t->values, error, sizeof error);

    if (!eval && who) refuse(t, who, expression, error);
    if (!eval) return false;
    ompp_text_evaluator_t *e = &t->evaluators[t->nevaluators++];
    e->eval = eval;
    e->unit = unit;
    snprintf(e->title, sizeof e->title, "%s", title);
    return true;
}

static size_t count_settings(const ompp_profile_t *p, const char *stem)
{
    size_t n = 0;

    for (size_t i = 0; i < p->nsettings; i++) n += number_of(ompp_profile_text(p, p->settings[i].name), stem) != 0;
    return n;
}

bool ompp_text_counters_prepare(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    const size_t most = count_settings(p, "OMPP_EVAL") + ompp_nderived;
    char title[32];

    t->counters = ompp_values_counters(t->values, &t->ncounters);
    t->evaluators = calloc(most, sizeof *t->evaluators);
    t->columns = calloc(2 * OMPP_MAX_COLUMNS + ompp_nmpi_columns + 2 * t->ncounters + most, sizeof *t->columns);
    if (!t->evaluators || !t->columns) return false;
    for (size_t i = 0; i < p->nsettings; i++) {
        const char *name = ompp_profile_text(p, p->settings[i].name);
        unsigned number = number_of(name, "OMPP_EVAL");
        if (!number) continue;
        snprintf(title, sizeof title, "OMPP_EVAL%-2u", number);
        t->nused += add(t, title, "", ompp_profile_text(p, p->settings[i].value), name);
    }
    /* Without counters nothing can be derived from them, and the expressions need not be compiled. */
    for (size_t i = 0; i < ompp_nderived && t->ncounters; i++) {
        snprintf(title, sizeof title, "%s", ompp_derived[i].name);
        add(t, title, ompp_derived[i].unit, ompp_derived[i].expression, NULL);
    }
    return true;
}

void ompp_text_counters_release(ompp_text_t *t)
{
    for (size_t i = 0; i < t->nevaluators; i++) ompp_eval_free(t->evaluators[i].eval);
    free(t->evaluators);
    free(t->columns);
    free(t->refused);
}

size_t ompp_text_counter_columns(const ompp_text_t *t, bool split, ompp_text_column_t *columns)
{
    size_t n = 0;

    for (unsigned i = 0; i < t->ncounters; i++) {
        columns[n++] = (ompp_text_column_t){i, split ? "/I" : "", OMPP_TEXT_COUNTER};
        if (split) columns[n++] = (ompp_text_column_t){i, "/E", OMPP_TEXT_COUNTER};
    }
    for (unsigned i = 0; i < t->nevaluators; i++) columns[n++] = (ompp_text_column_t){i, "", OMPP_TEXT_EVALUATOR};
    return n;
}

/* ---- General Information ----------------------------------------------------------------------------------------- */

/* A dot between groups of three digits. */
static void grouped(uint64_t value, char *out, size_t n)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value), used = 0;

    for (size_t i = 0; i < length && used + 2 < n; i++) {
        if (i > 0 && (length - i) % 3 == 0) out[used++] = '.';
        out[used++] = digits[i];
    }
    out[used] = '\0';
}

/* A counter of the tables that PAPI has filled. */
static bool is_papi(const ompp_profile_t *p, const ompp_metric_t *metric)
{
    return (metric->use == OMPP_USE_COLUMN || metric->use == OMPP_USE_SELECTED) &&
           strncmp(ompp_profile_text(p, metric->source), "PAPI", 4) == 0;
}

static const char *setting(const ompp_profile_t *p, const char *stem, unsigned number)
{
    for (size_t i = 0; i < p->nsettings; i++)
        if (number_of(ompp_profile_text(p, p->settings[i].name), stem) == number)
            return ompp_profile_text(p, p->settings[i].value);
    return "not set";
}

static unsigned highest(const ompp_profile_t *p, const char *stem)
{
    unsigned most = COUNTER_LINES;

    for (size_t i = 0; i < p->nsettings; i++) {
        unsigned number = number_of(ompp_profile_text(p, p->settings[i].name), stem);
        if (number > most) most = number;
    }
    return most;
}

/* What was not refused, and is not the one of a lower number again: Coverage says of the others why they are not
 * counted. */
static bool is_counted(const ompp_profile_t *p, const char *name, unsigned number)
{
    for (size_t i = 0; i < p->nsettings; i++) {
        const unsigned other = number_of(ompp_profile_text(p, p->settings[i].name), COUNTERS);
        if (other && other < number && strcasecmp(ompp_profile_text(p, p->settings[i].value), name) == 0) return false;
    }
    for (size_t i = 0; i < p->nmetrics; i++)
        if (is_papi(p, &p->metrics[i]) && strcmp(ompp_profile_text(p, p->metrics[i].name), name) == 0) return true;
    return false;
}

static void family(const ompp_text_t *t, ompp_text_line_fn *line, const char *what, const char *stem, size_t used,
                   bool counters)
{
    const ompp_profile_t *p = t->profile;
    unsigned last = highest(p, stem);
    char name[32], text[32];

    snprintf(name, sizeof name, "Max %s", what);
    snprintf(text, sizeof text, "%d", OMPP_ENV_NUMBER_MAX);
    line(t, name, text);
    if (counters) line(t, "PAPI Active", used ? "yes" : "no");
    snprintf(name, sizeof name, "Used %s", what);
    snprintf(text, sizeof text, "%zu", used);
    line(t, name, text);
    for (unsigned i = 1; i <= last; i++) {
        const char *value = setting(p, stem, i);
        if (i > COUNTER_LINES && strcmp(value, "not set") == 0) continue;
        if (counters && strcmp(value, "not set") != 0 && !is_counted(p, value, i)) value = "not counted";
        snprintf(name, sizeof name, "%s%u", stem, i);
        line(t, name, value);
    }
}

bool ompp_text_has_counters(const ompp_text_t *t)
{
    for (size_t i = 0; i < t->profile->nsettings; i++) {
        const char *name = ompp_profile_text(t->profile, t->profile->settings[i].name);
        if (number_of(name, COUNTERS) || strcmp(name, "PAPI") == 0) return true;
    }
    for (size_t i = 0; i < t->ncounters; i++)
        if (t->counters[i].object == 0) return true;
    return t->nevaluators > 0;
}

/* Of the root: what no table has, so that those and this make up all that was counted. */
static uint64_t outside_regions(const ompp_text_t *t, const ompp_counter_t *counter)
{
    const ompp_node_t *root = t->profile->nodes;
    uint64_t sum = 0;

    for (uint32_t b = 0; t->profile->nnodes && b < root->nblocks; b++) {
        const ompp_block_t *block = &root->blocks[b];
        if (block->set != counter->set || block->object != counter->object) continue;
        if (counter->index < block->nvalues) sum += block->values[counter->index];
        if (counter->waits < block->nvalues) sum += block->values[counter->waits];
    }
    return sum;
}

static void outside_line(const ompp_text_t *t, ompp_text_line_fn *line)
{
    char *text = NULL, value[40];
    size_t length;
    FILE *out = t->ncounters ? open_memstream(&text, &length) : NULL;

    for (size_t i = 0; out && i < t->ncounters; i++) {
        grouped(outside_regions(t, &t->counters[i]), value, sizeof value);
        fprintf(out, "%s%s %s", i ? "; " : "", t->counters[i].name, value);
    }
    if (out && fclose(out) == 0) line(t, "Outside Regions", text);
    free(text);
}

/* Titles have no room for units. Those that are counts are left out. */
static void units_line(const ompp_text_t *t, ompp_text_line_fn *line)
{
    char *text = NULL;
    size_t length, n = 0;
    FILE *out = open_memstream(&text, &length);

    for (size_t i = 0; out && i < t->ncounters; i++)
        if (t->counters[i].unit != OMPP_UNIT_COUNT)
            fprintf(out, "%s%s [%s]", n++ ? "; " : "", t->counters[i].name, ompp_unit_name[t->counters[i].unit]);
    if (out && t->nused) fprintf(out, "%sin OMPP_EVALn: times (EXECT, ...) [s]", n++ ? "; " : "");
    if (out && fclose(out) == 0 && n) line(t, "Units", text);
    free(text);
}

void ompp_text_counter_lines(const ompp_text_t *t, ompp_text_line_fn *line)
{
    size_t papi = 0;

    for (size_t i = 0; i < t->profile->nmetrics; i++) papi += is_papi(t->profile, &t->profile->metrics[i]);
    family(t, line, "Counters", COUNTERS, papi, true);
    family(t, line, "Evaluators", "OMPP_EVAL", t->nused, false);
    char text[1000] = "";
    size_t length = 0;
    for (size_t i = t->nused; i < t->nevaluators && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s [%s]", length ? "; " : "",
                                   t->evaluators[i].title, t->evaluators[i].unit);
    if (length) line(t, "Derived", text);
    units_line(t, line);
    outside_line(t, line);
    ompp_text_reading_lines(t, line);
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

uint64_t ompp_text_value(const ompp_text_column_t *column, const ompp_row_t *row)
{
    bool exclusive = column->suffix[0] && column->suffix[1] == 'E';

    if (column->kind == OMPP_TEXT_COUNTER)
        return exclusive ? row->counter_exclusive[column->id] : row->counter[column->id];
    return exclusive ? row->exclusive : row->value[column->id];
}

/* Long names make their column wider. */
int ompp_text_counter_width(const ompp_text_t *t, const ompp_text_column_t *column)
{
    if (column->kind == OMPP_TEXT_EVALUATOR) return OMPP_WIDTH_EVALUATOR + 1;
    size_t name = strlen(t->counters[column->id].name);
    int width = name > OMPP_WIDTH_COUNTER ? (int)name : OMPP_WIDTH_COUNTER;

    return width + (int)strlen(column->suffix);
}

void ompp_text_counter_title(const ompp_text_t *t, const ompp_text_column_t *column)
{
    char title[200];

    if (column->kind == OMPP_TEXT_EVALUATOR) {
        /* ompP's own titles end in a blank, below that of the values. */
        bool blank = strchr(t->evaluators[column->id].title, ' ') != NULL;
        snprintf(title, sizeof title, "%s%s", t->evaluators[column->id].title, blank ? "" : " ");
        ompp_layout_cell(t->out, OMPP_WIDTH_EVALUATOR + 1, title);
        return;
    }
    snprintf(title, sizeof title, "%s%s", t->counters[column->id].name, column->suffix);
    ompp_layout_cell(t->out, ompp_text_counter_width(t, column), title);
}

void ompp_text_counter_cell(const ompp_text_t *t, const ompp_text_column_t *column, const ompp_row_t *row)
{
    char text[OMPP_LAYOUT_EVALUATOR];

    if (column->kind == OMPP_TEXT_EVALUATOR) {
        ompp_layout_evaluator(ompp_eval_value(t->evaluators[column->id].eval, row), text);
        ompp_layout_cell(t->out, OMPP_WIDTH_EVALUATOR, text);
        putc(' ', t->out);
        return;
    }
    grouped(ompp_text_value(column, row), text, sizeof text);
    ompp_layout_cell(t->out, ompp_text_counter_width(t, column), text);
}

/* ---- Overhead section -------------------------------------------------------------------------------------------- */

static const ompp_row_t *region_sum(const ompp_text_t *t, uint32_t region)
{
    const ompp_profile_t *p = t->profile;

    ompp_rows_clear(t->values, t->sums, 1);
    for (uint32_t n = 1; region == OMPP_NONE && n < p->nnodes; n++)
        if (t->paths->fork[n] == n && t->paths->fork[p->nodes[n].parent] == 0)
            ompp_row_add(t->values, t->sums, &t->totals[n]);
    if (region == OMPP_NONE) return t->sums;
    for (const uint32_t *n = ompp_paths_begin(t->paths, region); n < ompp_paths_end(t->paths, region); n++)
        ompp_row_add(t->values, t->sums, &t->totals[*n]);
    return t->sums;
}

void ompp_text_counter_sums(const ompp_text_t *t, uint32_t region,
                            void (*put)(const ompp_text_t *, const ompp_text_column_t *, const ompp_row_t *))
{
    size_t n = ompp_text_counter_columns(t, false, t->columns);
    const ompp_row_t *sum = n ? region_sum(t, region) : NULL;

    for (size_t c = 0; c < n; c++) put(t, &t->columns[c], sum);
}

void ompp_text_counter_titles(const ompp_text_t *t, void (*put)(const ompp_text_t *, const ompp_text_column_t *))
{
    size_t n = ompp_text_counter_columns(t, false, t->columns);

    for (size_t c = 0; c < n; c++) put(t, &t->columns[c]);
}

/* ---- The same as CSV --------------------------------------------------------------------------------------------- */

void ompp_text_counter_csv_title(const ompp_text_t *t, const ompp_text_column_t *column)
{
    if (column->kind == OMPP_TEXT_EVALUATOR) fprintf(t->out, ",%s", t->evaluators[column->id].title);
    else fprintf(t->out, ",%s%s", t->counters[column->id].name, column->suffix);
}

void ompp_text_counter_csv(const ompp_text_t *t, const ompp_text_column_t *column, const ompp_row_t *row)
{
    if (column->kind == OMPP_TEXT_EVALUATOR) {
        char text[OMPP_LAYOUT_EVALUATOR];
        ompp_layout_evaluator_csv(ompp_eval_value(t->evaluators[column->id].eval, row), text);
        fprintf(t->out, ",%s", text);
    } else {
        fprintf(t->out, ",%" PRIu64, ompp_text_value(column, row));
    }
}
