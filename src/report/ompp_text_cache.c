/**
 * \file
 * Section ompp Caches: misses of simulated caches per structure, and per structure and region. ompP does not have it.
 */
#include "report/ompp_text_priv.h"

#include "analysis/ompp_cache_rows.h"
#include "analysis/ompp_members.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 34, MOST_ROWS = 25, MOST_MEMBERS = 5, RATIO_WIDTH = 7, MEMBER_ALL = 10000 };

/* A column: values of the model, as a share of references, or of these values' first ones. */
typedef struct {
    const char *title, *meaning;
    unsigned first, second; /* values that are added */
    unsigned of;            /* of the sum of this value and the next; NONE = of the references */
} column_t;

#define NONE UINT32_MAX
#define MISSES(level) (OMPP_CACHED_MISSES + 2 * (level))

static const column_t columns[] = {
    {"L1", "references that miss L1", MISSES(0), MISSES(0) + 1, NONE},
    {"L2", "references that miss L2", MISSES(1), MISSES(1) + 1, NONE},
    {"L3", "references that miss L3", MISSES(2), MISSES(2) + 1, NONE},
    {"new1", "of the misses of L1, compulsory: lines not touched before", OMPP_CACHED_COMPULSORY, NONE, MISSES(0)},
    {"confl1", "of the misses of L1, conflicts: a fully associative cache would not have them", OMPP_CACHED_CONFLICT,
     NONE, MISSES(0)},
    {"new2", "of the misses of L2, compulsory", OMPP_CACHED_COMPULSORY + 1, NONE, MISSES(1)},
    {"confl2", "of the misses of L2, conflicts", OMPP_CACHED_CONFLICT + 1, NONE, MISSES(1)},
    {"new3", "of the misses of L3, compulsory", OMPP_CACHED_COMPULSORY + 2, NONE, MISSES(2)},
    {"confl3", "of the misses of L3, conflicts", OMPP_CACHED_CONFLICT + 2, NONE, MISSES(2)},
    {"TLB1", "references that miss the first TLB", OMPP_CACHED_TLB, NONE, NONE},
    {"TLB2", "references that miss the second TLB: a page walk", OMPP_CACHED_TLB + 1, NONE, NONE},
    {"true", "references to a line that another thread took by writing to the same word", OMPP_CACHED_TRUE, NONE, NONE},
    {"false", "references to a line that another thread took by writing to another word", OMPP_CACHED_FALSE, NONE,
     NONE},
};
#define NCOLUMNS (sizeof columns / sizeof columns[0])

static const unsigned shown_sizes[] = {2, 4, 6, 8, 10, 12, 14, 16, 18};
#define NSIZES (sizeof shown_sizes / sizeof shown_sizes[0])

typedef struct {
    ompp_text_t *t;
    const ompp_cache_rows_t *rows;
    bool used[NCOLUMNS]; /* not all zero */
} table_t;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static uint64_t value_of(const column_t *c, const ompp_cache_row_t *row)
{
    return row->values[c->first] + (c->second == NONE ? 0 : row->values[c->second]);
}

static uint64_t whole_of(const column_t *c, const ompp_cache_row_t *row)
{
    return c->of == NONE ? row->loads + row->stores : row->values[c->of] + row->values[c->of + 1];
}

/* Percent with two digits; "-" where there is nothing to have a share of. */
static void put_share(FILE *out, uint64_t part, uint64_t whole, bool known)
{
    char text[32];

    if (!known || !whole) snprintf(text, sizeof text, "-");
    else {
        const uint64_t share = (uint64_t)(((unsigned __int128)part * 20000 / whole + 1) / 2);
        snprintf(text, sizeof text, "%" PRIu64 ".%02" PRIu64, share / 100, share % 100);
    }
    ompp_layout_cell(out, RATIO_WIDTH, text);
}

static void size_text(unsigned size, char *text, size_t n)
{
    snprintf(text, n, "%u%c", 1u << size % 10, "kMG"[size / 10]);
}

/* Misses that order rows: of the last level, or of a middle size. */
static uint64_t weight(const ompp_cache_rows_t *rows, const ompp_cache_row_t *row)
{
    uint64_t misses = 0;

    if (rows->is_model) {
        for (unsigned level = OMPP_CACHED_COMPULSORY / 2; level-- > 0 && !misses;)
            misses = row->values[MISSES(level)] + row->values[MISSES(level) + 1];
        return misses;
    }
    ompp_cache_misses(row, OMPP_CACHED_BURST_ROWS, &misses);
    return misses;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void put_name(const table_t *b, const ompp_cache_row_t *row)
{
    const ompp_profile_t *p = b->t->profile;
    char *name = row->object && row->object != OMPP_CACHE_ALL
                     ? ompp_text_printable(ompp_profile_text(p, p->objects[row->object - 1].name), true)
                     : NULL;

    if (row->region < p->nregions) ompp_layout_number(b->t->out, p->regions[row->region].number);
    else fprintf(b->t->out, "%6s", row->region == OMPP_NONE ? "-" : "all");
    fprintf(b->t->out, " %-*s", NAME_WIDTH,
            name                            ? name
            : row->object == OMPP_CACHE_ALL ? "(other data)"
            : row->object                   ? ""
                                            : "(all data)");
    free(name);
}

static void put_row(const table_t *b, const ompp_cache_row_t *row)
{
    char references[24];

    put_name(b, row);
    snprintf(references, sizeof references, "%" PRIu64, row->loads + row->stores);
    ompp_layout_cell(b->t->out, OMPP_WIDTH_COUNTER, references);
    for (size_t c = 0; b->rows->is_model && c < NCOLUMNS; c++)
        if (b->used[c]) put_share(b->t->out, value_of(&columns[c], row), whole_of(&columns[c], row), true);
    for (size_t i = 0; !b->rows->is_model && i < NSIZES; i++) {
        uint64_t misses = 0;
        const bool known = ompp_cache_misses(row, shown_sizes[i], &misses);
        put_share(b->t->out, misses, row->loads + row->stores, known);
    }
    putc('\n', b->t->out);
}

static uint64_t part_of(uint64_t whole, uint32_t share)
{
    return (uint64_t)((unsigned __int128)whole * share / MEMBER_ALL);
}

/* Members that nine of ten references go to, when they are half of the bytes or less. \return false: they are more. */
static bool hot_members(const ompp_profile_t *p, uint32_t object, char *names, size_t size, unsigned *bytes,
                        unsigned *references)
{
    const char *rest = ompp_profile_text(p, p->objects[object - 1].origin);
    ompp_member_share_t m;
    size_t used = 0;

    *bytes = *references = 0;
    names[0] = '\0';
    while (*references < MEMBER_ALL / 10 * 9 && ompp_members_next(&rest, &m) && used < size) {
        used += (size_t)snprintf(names + used, size - used, "%s.%.*s", used ? ", " : "", m.name_length, m.name);
        *bytes += m.bytes;
        *references += m.references;
    }
    return *references >= MEMBER_ALL / 10 * 9 && *bytes <= MEMBER_ALL / 2;
}

/* Of structures that a twentieth of the misses, or of the references, belong to. */
static void put_hot(const table_t *b)
{
    const ompp_profile_t *p = b->t->profile;
    unsigned bytes, references;
    uint64_t most = 0;
    char names[160];

    for (size_t i = 0; i < b->rows->n; i++)
        if (b->rows->rows[i].region == OMPP_CACHE_ALL && !b->rows->rows[i].object)
            most = weight(b->rows, &b->rows->rows[i]);
    for (size_t i = 0; i < b->rows->n; i++) {
        const ompp_cache_row_t *row = &b->rows->rows[i];
        if (row->region != OMPP_CACHE_ALL || !row->object || row->object > p->nobjects ||
            weight(b->rows, row) < most / 20 || !hot_members(p, row->object, names, sizeof names, &bytes, &references))
            continue;
        char *name = ompp_text_printable(ompp_profile_text(p, p->objects[row->object - 1].name), false);
        fprintf(b->t->out, "%s: %u %% of the references go to %u %% of the bytes (%s).\n", name ? name : "",
                (references + 50) / 100, (bytes + 50) / 100, names);
        free(name);
    }
}

/* What is known of the structure's members. */
static void put_members(const table_t *b, const ompp_cache_row_t *row)
{
    const ompp_profile_t *p = b->t->profile;
    const bool has = row->region == OMPP_CACHE_ALL && row->object && row->object <= p->nobjects;
    const char *rest = has ? ompp_profile_text(p, p->objects[row->object - 1].origin) : "";
    ompp_member_share_t m;
    char text[64];

    for (unsigned n = 0; n < MOST_MEMBERS && ompp_members_next(&rest, &m); n++) {
        snprintf(text, sizeof text, ".%.*s, %u %% of bytes", m.name_length < 20 ? m.name_length : 20, m.name,
                 (m.bytes + 50) / 100);
        fprintf(b->t->out, "%6s   %-*s", "", NAME_WIDTH - 2, text);
        const uint64_t references = part_of(row->loads + row->stores, m.references);
        snprintf(text, sizeof text, "%" PRIu64, references);
        ompp_layout_cell(b->t->out, OMPP_WIDTH_COUNTER, text);
        for (unsigned level = 0; b->rows->is_model && level < 3; level++)
            if (b->used[level])
                put_share(b->t->out, part_of(value_of(&columns[level], row), m.misses[level]), references, true);
        putc('\n', b->t->out);
    }
}

static void put_titles(const table_t *b)
{
    char text[16];

    fprintf(b->t->out, "%6s %-*s", "region", NAME_WIDTH, "structure");
    ompp_layout_cell(b->t->out, OMPP_WIDTH_COUNTER, "references");
    for (size_t c = 0; b->rows->is_model && c < NCOLUMNS; c++)
        if (b->used[c]) ompp_layout_cell(b->t->out, RATIO_WIDTH, columns[c].title);
    for (size_t i = 0; !b->rows->is_model && i < NSIZES; i++) {
        size_text(shown_sizes[i], text, sizeof text);
        ompp_layout_cell(b->t->out, RATIO_WIDTH, text);
    }
    putc('\n', b->t->out);
}

static void put_legend(const table_t *b)
{
    FILE *out = b->t->out;
    char text[16];

    if (b->rows->is_model) {
        fputs("Caches of each thread, simulated (docs/cache.md). Columns, in percent:\n", out);
        for (size_t c = 0; c < NCOLUMNS; c++)
            if (b->used[c]) fprintf(out, "   %-8s %s\n", columns[c].title, columns[c].meaning);
    } else {
        const ompp_cache_row_t *all = &b->rows->rows[0];
        for (size_t i = 0; i < b->rows->n && b->rows->rows[i].region == OMPP_CACHE_ALL; i++)
            if (b->rows->rows[i].object == 0) all = &b->rows->rows[i];
        size_text(ompp_cache_least(b->rows), text, sizeof text);
        fprintf(
            out,
            "Percent of references that miss a cache of a thread's own of this size, fully associative, lines of 64 "
            "bytes, least\nrecently used replaced (docs/cache.md). One of %" PRIu64
            " lines was followed, which tells sizes from %s on; smaller ones\nare from bursts in which all were, which "
            "stand for ",
            b->rows->one_in, text);
        const uint64_t whole = all->loads + all->stores;
        uint64_t share = whole ? (uint64_t)((unsigned __int128)all->values[OMPP_CACHED_REFERENCES] * 10000 / whole) : 0;
        if (share > 10000) share = 10000; /* the last burst stands for more than there was */
        fprintf(out, "%" PRIu64 ".%02" PRIu64 " %% of the references.\n", share / 100, share % 100);
    }
    putc('\n', out);
}

static void put_table(const table_t *b)
{
    const ompp_cache_rows_t *rows = b->rows;
    size_t shown = 0, left = 0;
    uint64_t most = 0;

    put_legend(b);
    put_titles(b);
    for (size_t i = 0; i < rows->n; i++)
        if (weight(rows, &rows->rows[i]) > most) most = weight(rows, &rows->rows[i]);
    for (size_t i = 0; i < rows->n; i++) {
        const bool whole = rows->rows[i].region == OMPP_CACHE_ALL;
        /* of regions, those that matter */
        if ((!whole && weight(rows, &rows->rows[i]) < most / 200) || shown >= MOST_ROWS) left++;
        else {
            put_row(b, &rows->rows[i]);
            put_members(b, &rows->rows[i]);
            shown++;
        }
    }
    if (left) fprintf(b->t->out, "%zu more rows are in the CSV and XML reports.\n", left);
    put_hot(b);
    putc('\n', b->t->out);
}

static table_t table_of(ompp_text_t *t, const ompp_cache_rows_t *rows)
{
    table_t b = {.t = t, .rows = rows};

    for (size_t i = 0; i < rows->n; i++)
        for (size_t c = 0; c < NCOLUMNS; c++) b.used[c] = b.used[c] || value_of(&columns[c], &rows->rows[i]) > 0;
    return b;
}

int ompp_text_cache(ompp_text_t *t)
{
    ompp_cache_rows_t rows;
    const int rc = ompp_analysis_cache(t->profile, t->paths, &rows);

    if (rc == 0 && rows.n) {
        const table_t b = table_of(t, &rows);
        ompp_layout_title(t->out, "ompp Caches");
        put_table(&b);
    }
    if (rc == 0) ompp_cache_rows_free(&rows);
    return rc;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void put_csv_row(const table_t *b, const ompp_cache_row_t *row)
{
    const ompp_profile_t *p = b->t->profile;
    FILE *out = b->t->out;

    if (row->region < p->nregions) fprintf(out, "R%05" PRIu32 ",", p->regions[row->region].number);
    else fputs(row->region == OMPP_NONE ? "outside regions," : "all,", out);
    if (row->object == 0) fputs("(all data)", out);
    else if (row->object == OMPP_CACHE_ALL) fputs("(other data)", out);
    else ompp_text_csv(out, ompp_profile_text(p, p->objects[row->object - 1].name), false);
    fprintf(out, ",%" PRIu64 ",%" PRIu64, row->loads, row->stores);
    for (unsigned i = 0; b->rows->is_model && i < OMPP_CACHED_MODEL_VALUES; i++)
        fprintf(out, ",%" PRIu64, row->values[i]);
    for (unsigned size = 0; !b->rows->is_model && size < OMPP_CACHE_SIZES; size++) {
        uint64_t misses;
        if (ompp_cache_misses(row, size, &misses)) fprintf(out, ",%" PRIu64, misses);
        else fputs(",", out);
    }
    putc('\n', out);
}

static void put_csv(const table_t *b)
{
    const ompp_profile_t *p = b->t->profile;
    FILE *out = b->t->out;
    char text[16];

    fprintf(out, "##BEG ompp caches\nKind,%s\n", b->rows->is_model ? "model" : "curves");
    if (!b->rows->is_model) {
        size_text(ompp_cache_least(b->rows), text, sizeof text);
        fprintf(out, "One line in,%" PRIu64 "\nTold from,%s\n", b->rows->one_in, text);
    }
    fputs("Region,Structure,loads,stores", out);
    for (size_t i = 0; i < p->nmetrics; i++)
        if (p->metrics[i].use == OMPP_USE_MODEL)
            for (size_t k = i; k < p->nmetrics && p->metrics[k].set == p->metrics[i].set; k++)
                fprintf(out, ",%s", ompp_profile_text(p, p->metrics[k].name));
    for (unsigned size = 0; !b->rows->is_model && size < OMPP_CACHE_SIZES; size++) {
        size_text(size, text, sizeof text);
        fprintf(out, ",misses %s", text);
    }
    putc('\n', out);
    for (size_t i = 0; i < b->rows->n; i++) put_csv_row(b, &b->rows->rows[i]);
    fputs("##END ompp caches\n\n", out);
}

int ompp_text_cache_csv(ompp_text_t *t)
{
    ompp_cache_rows_t rows;
    const int rc = ompp_analysis_cache(t->profile, t->paths, &rows);

    if (rc == 0 && rows.n) {
        const table_t b = table_of(t, &rows);
        put_csv(&b);
    }
    if (rc == 0) ompp_cache_rows_free(&rows);
    return rc;
}
