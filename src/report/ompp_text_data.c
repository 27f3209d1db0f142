/**
 * \file
 * Named data structures: their lines in General Information (ompP's), and the section ompp Data, which
 * ompP does not have: what was counted per structure, and per structure and region.
 */
#include "report/ompp_text_priv.h"

#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A count with a dot between groups of three digits, as counters. */
static ompp_seconds_t grouped(uint64_t value)
{
    ompp_seconds_t result;
    char digits[24], *to = result.text;
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) *to++ = '.';
        *to++ = digits[i];
    }
    *to = '\0';
    return result;
}

static char *object_name(const ompp_text_t *t, uint32_t object, bool word)
{
    return ompp_text_printable(ompp_profile_text(t->profile, t->profile->objects[object - 1].name), word);
}

/* ---- General Information ----------------------------------------------------------------------------------------- */

static void line_offset(ompp_text_t *t, const char *label, uint64_t value)
{
    ompp_layout_label(t->out, label);
    fprintf(t->out, "%" PRIu64, value);
    if (value) fprintf(t->out, " (0x%" PRIx64 ")", value);
    putc('\n', t->out);
}

void ompp_text_data_lines(ompp_text_t *t)
{
    for (uint32_t i = 1; i <= t->profile->nobjects; i++) {
        const ompp_object_t *o = &t->profile->objects[i - 1];
        if (ompp_object_is_all(t->profile, o)) continue;
        char *name = object_name(t, i, false);
        ompp_layout_label(t->out, "Data Address");
        fprintf(t->out, "0x%" PRIx64 "\n", o->address);
        ompp_layout_label(t->out, "Data Size");
        fprintf(t->out, "%" PRIu64 " (0x%" PRIX64 ")\n", o->size, o->size);
        ompp_layout_label(t->out, "Data Name");
        fprintf(t->out, "%s\n", name ? name : "");
        line_offset(t, "Data Start Offs.", o->start_offset);
        line_offset(t, "Data End   Offs.", o->end_offset);
        if (o->nranges > 1) {
            ompp_layout_label(t->out, "Data Ranges");
            fprintf(t->out, "%" PRIu32 "\n", o->nranges);
        }
        free(name);
    }
}

/* ---- Section ----------------------------------------------------------------------------------------------------- */

#define NAME_WIDTH 40
#define LEGEND_WIDTH 18

/* A set of metrics that tells structures apart: what its table shows. What it has lost comes last, and is told in
 * Coverage. */
typedef struct {
    const ompp_metric_t **metric; /* [n] */
    uint32_t set;
    size_t n;
    ompp_table_t has; /* structures that have values of a set: ompp_profile_find_objects() */
    bool used;        /* sums are not all zero */
    uint64_t *sums;   /* [nobjects + 2][n], of the rows being made; the last row is scratch */
} set_t;

static bool has_objects(const ompp_profile_t *p, uint32_t set)
{
    for (size_t i = 0; i < p->nmetrics; i++)
        if (p->metrics[i].set == set &&
            (p->metrics[i].use == OMPP_USE_OBJECTS || p->metrics[i].use == OMPP_USE_SELECTED))
            return true;
    return false;
}

/* Zeros of other structures would be no counts. */
static bool is_counted(const set_t *s, uint32_t object)
{
    return s->metric[0]->use != OMPP_USE_SELECTED || ompp_table_get(&s->has, ompp_hash_pair(s->set, object));
}

static bool fill_set(set_t *s, const ompp_profile_t *p, uint32_t set)
{
    *s = (set_t){.metric = calloc(p->nmetrics, sizeof *s->metric), .set = set};
    for (size_t i = 0; s->metric && i < p->nmetrics; i++)
        if (p->metrics[i].set == set && p->metrics[i].index == s->n && p->metrics[i].use != OMPP_USE_LOSS)
            s->metric[s->n++] = &p->metrics[i];
    s->sums = s->metric ? calloc((p->nobjects + 2) * s->n, sizeof *s->sums) : NULL;
    return s->sums != NULL && ompp_profile_find_objects(p, &s->has);
}

static void free_set(set_t *s)
{
    free(s->metric);
    free(s->sums);
    ompp_table_fini(&s->has);
}

static bool add_node(set_t *s, const ompp_node_t *node)
{
    bool has = false;

    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (block->set != s->set) continue;
        has = true;
        for (size_t i = 0; i < s->n && i < block->nvalues; i++) s->sums[block->object * s->n + i] += block->values[i];
    }
    return has;
}

static void clear(set_t *s, const ompp_profile_t *p) { memset(s->sums, 0, (p->nobjects + 1) * s->n * sizeof *s->sums); }

/* Sums over all threads of everything. */
static void sum_all(set_t *s, const ompp_profile_t *p)
{
    clear(s, p);
    s->used = true;
    for (size_t n = 0; n < p->nnodes; n++) add_node(s, &p->nodes[n]);
}

/* The same of the nodes of a region; OMPP_NONE = outside regions. \return whether there are any values. */
static bool sum_region(set_t *s, const ompp_text_t *t, uint32_t region)
{
    const ompp_profile_t *p = t->profile;
    const uint32_t root = 0, *n = region == OMPP_NONE ? &root : ompp_paths_begin(t->paths, region),
                   *end = region == OMPP_NONE ? &root + 1 : ompp_paths_end(t->paths, region);
    bool has = false;

    if (s->used) clear(s, p);
    for (; n < end; n++) has = add_node(s, &p->nodes[*n]) || has;
    s->used = has;
    return has;
}

static bool any(const uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i]) return true;
    return false;
}

static void print_row(ompp_text_t *t, const set_t *s, const char *name, const uint64_t *values)
{
    fprintf(t->out, " %-*s", NAME_WIDTH, name);
    for (size_t i = 0; i < s->n; i++) ompp_layout_cell(t->out, OMPP_WIDTH_COUNTER, grouped(values[i]).text);
    putc('\n', t->out);
}

/* Object 0 holds all data; what belongs to no structure is the rest of it. */
static void print_rest(ompp_text_t *t, const set_t *s, const char *name)
{
    uint64_t *rest = &s->sums[(t->profile->nobjects + 1) * s->n];

    for (size_t i = 0; i < s->n; i++) {
        rest[i] = s->sums[i];
        for (uint32_t object = 1; object <= t->profile->nobjects; object++)
            rest[i] = ompp_less(rest[i], s->sums[object * s->n + i]);
    }
    if (any(rest, s->n)) print_row(t, s, name, rest);
}

static void print_titles(ompp_text_t *t, const set_t *s, const char *first)
{
    fprintf(t->out, " %-*s", NAME_WIDTH, first);
    for (size_t i = 0; i < s->n; i++)
        ompp_layout_cell(t->out, OMPP_WIDTH_COUNTER, ompp_profile_text(t->profile, s->metric[i]->name));
    putc('\n', t->out);
}

/* Of data that is told apart unasked, the structures that are used most; the other forms of the report have all. */
#define MOST_LINES 25

static bool is_unasked(const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    return p->nobjects && ompp_object_is_all(p, &p->objects[p->nobjects - 1]);
}

static uint64_t accesses(const uint64_t *values) { return values[0] + values[1]; }

static bool is_unknown(const ompp_text_t *t, uint32_t object)
{
    return strncmp(ompp_profile_text(t->profile, t->profile->objects[object - 1].name), "[unknown", 8) == 0;
}

static void print_share(ompp_text_t *t, uint64_t part, uint64_t whole, const uint64_t *values, size_t n)
{
    fprintf(t->out, " %6.2f %%", whole ? 100 * (double)part / (double)whole : 0);
    for (size_t i = 0; i < n; i++) ompp_layout_cell(t->out, OMPP_WIDTH_COUNTER, grouped(values[i]).text);
}

#define SHOWN 4 /* loads, stores, and their bytes */

static void print_share_titles(ompp_text_t *t, const set_t *s, const char *of)
{
    fputs("    share", t->out);
    for (size_t i = 0; i < SHOWN && i < s->n; i++)
        ompp_layout_cell(t->out, OMPP_WIDTH_COUNTER, ompp_profile_text(t->profile, s->metric[i]->name));
    fprintf(t->out, "  %s\n", of);
}

/* Structures stand in the order of their accesses; what is unknown, and why, is told in any case. */
static void print_shares(ompp_text_t *t, set_t *s)
{
    uint64_t left[SHOWN] = {0};
    uint32_t lines = 0, nleft = 0;

    sum_all(s, t->profile);
    print_share_titles(t, s, "structure");
    const uint64_t whole = accesses(s->sums);
    for (uint32_t object = 1; object <= t->profile->nobjects; object++) {
        const uint64_t *values = &s->sums[object * s->n];
        if (lines >= MOST_LINES && !is_unknown(t, object)) {
            nleft++;
            for (size_t i = 0; i < SHOWN && i < s->n; i++) left[i] += values[i];
            continue;
        }
        char *name = object_name(t, object, false);
        print_share(t, accesses(values), whole, values, SHOWN);
        fprintf(t->out, "  %s\n", name ? name : "");
        free(name);
        lines++;
    }
    if (nleft) {
        print_share(t, accesses(left), whole, left, SHOWN);
        fprintf(t->out, "  (%" PRIu32 " more structures: in the CSV and XML files)\n", nleft);
    }
    print_share(t, whole, whole, s->sums, SHOWN);
    fputs("  (all data)\n\n", t->out);
}

/* What one region does to one structure. */
typedef struct {
    uint32_t region, object;
    uint64_t values[SHOWN];
} use_t;

static int by_use(const void *a, const void *b)
{
    const use_t *x = a, *y = b;
    const uint64_t m = accesses(x->values), n = accesses(y->values);

    if (m != n) return m > n ? -1 : 1;
    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static size_t add_uses(ompp_text_t *t, set_t *s, uint32_t region, use_t *uses, size_t n)
{
    if (!sum_region(s, t, region)) return n;
    for (uint32_t object = 1; object <= t->profile->nobjects; object++) {
        const uint64_t *values = &s->sums[object * s->n];
        if (!accesses(values)) continue;
        if (uses) uses[n] = (use_t){.region = region, .object = object};
        for (size_t i = 0; uses && i < SHOWN && i < s->n; i++) uses[n].values[i] = values[i];
        n++;
    }
    return n;
}

static size_t all_uses(ompp_text_t *t, set_t *s, use_t *uses)
{
    size_t n = add_uses(t, s, OMPP_NONE, uses, 0);

    for (size_t i = 0; i < t->nexecuted; i++) n = add_uses(t, s, t->regions[i], uses, n);
    return n;
}

/* Regions x structures, the largest entries. */
static void print_uses(ompp_text_t *t, set_t *s)
{
    const size_t n = all_uses(t, s, NULL);
    use_t *uses = calloc(n + 1, sizeof *uses);

    if (!uses) return;
    all_uses(t, s, uses);
    qsort(uses, n, sizeof *uses, by_use);
    sum_all(s, t->profile);
    fputs("By region, without the regions inside it:\n", t->out);
    print_share_titles(t, s, "structure, region");
    for (size_t i = 0; i < n && i < MOST_LINES; i++) {
        const use_t *u = &uses[i];
        char *name = object_name(t, u->object, false);
        print_share(t, accesses(u->values), accesses(s->sums), u->values, SHOWN);
        fprintf(t->out, "  %s, ", name ? name : "");
        if (u->region == OMPP_NONE) fputs("outside regions\n", t->out);
        else
            ompp_layout_heading(t->out, t->profile->regions[u->region].number, t->places[u->region],
                                ompp_constructs[t->profile->regions[u->region].construct].full);
        free(name);
    }
    if (n > MOST_LINES) fprintf(t->out, "  and %zu smaller ones: in the CSV and XML files\n", n - MOST_LINES);
    free(uses);
}

static void print_objects(ompp_text_t *t, set_t *s)
{
    sum_all(s, t->profile);
    print_titles(t, s, "structure");
    for (uint32_t object = 1; object <= t->profile->nobjects; object++) {
        if (!is_counted(s, object)) continue;
        char *name = object_name(t, object, true);
        print_row(t, s, name ? name : "", &s->sums[object * s->n]);
        free(name);
    }
    if (t->profile->nobjects) print_rest(t, s, "(other data)");
    print_row(t, s, "(all data)", s->sums);
    putc('\n', t->out);
}

/* Which structures a region uses: exclusive, so that rows add up to those of the table above. */
static void print_region(ompp_text_t *t, set_t *s, uint32_t region)
{
    const ompp_profile_t *p = t->profile;

    if (!sum_region(s, t, region) || !any(s->sums, s->n)) return;
    if (region == OMPP_NONE) fputs("outside regions\n", t->out);
    else
        ompp_layout_heading(t->out, p->regions[region].number, t->places[region],
                            ompp_constructs[p->regions[region].construct].full);
    for (uint32_t object = 1; object <= p->nobjects; object++) {
        if (!any(&s->sums[object * s->n], s->n)) continue;
        char *name = object_name(t, object, true);
        print_row(t, s, name ? name : "", &s->sums[object * s->n]);
        free(name);
    }
    print_rest(t, s, "(other data)");
}

static const char *const quality_words[] = {[OMPP_QUALITY_EXACT] = "exact",
                                            [OMPP_QUALITY_SAMPLED] = "estimated from samples",
                                            [OMPP_QUALITY_SIMULATED] = "simulated",
                                            [OMPP_QUALITY_HARDWARE] = "counted by the hardware"};

/* Who has filled the columns, how exactly, and what is in them; those of all tables have a star. */
static void print_legend(const ompp_text_t *t, const set_t *s)
{
    const bool asked = *ompp_profile_setting(t->profile, "OMPP_DATA");

    if (!t->profile->nobjects && asked)
        fputs("No name in OMPP_DATA was found (ompp Coverage says why), so that all data is one. With hooks "
              "(kinst-ompp --memory), a run\nwithout OMPP_DATA, or with OMPP_DATA=all, tells all structures apart.\n",
              t->out);
    else if (!t->profile->nobjects)
        fputs("No structure is named, so that all data is one. To tell structures apart, name variables with "
              "OMPP_DATA=NAME,... (ompp\n"
              "--data=NAME,...; ompp doctor checks the names), or blocks in the source: #pragma pomp inst data(...) "
              "(docs/data.md).\n",
              t->out);
    fprintf(t->out,
            "Counted by %s, %s (docs/data.md). Counts have a dot between groups of three digits. Columns; those with * "
            "stand\n"
            "in the tables of regions, too:\n",
            ompp_profile_text(t->profile, s->metric[0]->source), quality_words[s->metric[0]->quality]);
    for (size_t i = 0; i < s->n; i++) {
        const bool column = s->metric[i]->use == OMPP_USE_OBJECTS || s->metric[i]->use == OMPP_USE_SELECTED;
        fprintf(t->out, " %c %-*s %s\n", column ? '*' : ' ', LEGEND_WIDTH,
                ompp_profile_text(t->profile, s->metric[i]->name),
                ompp_profile_text(t->profile, s->metric[i]->meaning));
    }
    putc('\n', t->out);
}

static void print_set(ompp_text_t *t, set_t *s)
{
    ompp_layout_title(t->out, "ompp Data");
    print_legend(t, s);
    if (is_unasked(t) && s->n >= SHOWN) {
        print_shares(t, s);
        print_uses(t, s);
        putc('\n', t->out);
        return;
    }
    print_objects(t, s);
    fputs("By region, without the regions inside it:\n", t->out);
    print_titles(t, s, "");
    print_region(t, s, OMPP_NONE);
    for (size_t i = 0; i < t->nexecuted; i++) print_region(t, s, t->regions[i]);
    putc('\n', t->out);
}

/* Each set of metrics that tells structures apart. */
static int each_set(ompp_text_t *t, void (*print)(ompp_text_t *t, set_t *s))
{
    const ompp_profile_t *p = t->profile;
    set_t s;

    for (size_t i = 0; i < p->nmetrics; i++) {
        if (p->metrics[i].index != 0 || !has_objects(p, p->metrics[i].set)) continue;
        const bool filled = fill_set(&s, p, p->metrics[i].set);
        if (filled) print(t, &s);
        free_set(&s);
        if (!filled) return -OMPP_E_NOMEM;
    }
    return 0;
}

int ompp_text_data(ompp_text_t *t) { return each_set(t, print_set); }

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* Readers split at every comma. */
static void put_name(const ompp_text_t *t, uint32_t object)
{
    char *name = object ? object_name(t, object, false) : NULL;

    for (char *c = name; c && *c; c++) putc(*c == ',' ? ';' : *c, t->out);
    if (!object) fputs("(all data)", t->out);
    free(name);
}

static void put_offset(const ompp_text_t *t, const char *key, uint64_t value)
{
    fprintf(t->out, "%s,%" PRIu64 "\n", key, value);
}

void ompp_text_data_csv_lines(const ompp_text_t *t)
{
    for (uint32_t i = 1; i <= t->profile->nobjects; i++) {
        const ompp_object_t *o = &t->profile->objects[i - 1];
        if (ompp_object_is_all(t->profile, o)) continue;
        fprintf(t->out, "Data Address,0x%" PRIx64 "\n", o->address);
        put_offset(t, "Data Size", o->size);
        fputs("Data Name,", t->out);
        put_name(t, i);
        putc('\n', t->out);
        put_offset(t, "Data Start Offs.", o->start_offset);
        put_offset(t, "Data End   Offs.", o->end_offset);
        if (o->nranges > 1) put_offset(t, "Data Ranges", o->nranges);
    }
}

/* A line per structure that the sums are not all zero for, last the one of all data. */
static void put_sums(const ompp_text_t *t, const set_t *s, const char *where)
{
    for (uint32_t k = 1; k <= t->profile->nobjects + 1; k++) {
        uint32_t object = k <= t->profile->nobjects ? k : 0;
        const uint64_t *values = &s->sums[object * s->n];
        if (!any(values, s->n)) continue;
        fprintf(t->out, "%s,", where);
        put_name(t, object);
        for (size_t i = 0; i < s->n; i++) fprintf(t->out, ",%" PRIu64, values[i]);
        putc('\n', t->out);
    }
}

static void put_set(ompp_text_t *t, set_t *s)
{
    const ompp_profile_t *p = t->profile;
    char number[32];

    fprintf(t->out, "##BEG ompp data\nCounted by,%s,%s\nRegion,Structure", ompp_profile_text(p, s->metric[0]->source),
            quality_words[s->metric[0]->quality]);
    for (size_t i = 0; i < s->n; i++) fprintf(t->out, ",%s", ompp_profile_text(p, s->metric[i]->name));
    putc('\n', t->out);
    sum_all(s, p);
    put_sums(t, s, "all");
    if (sum_region(s, t, OMPP_NONE)) put_sums(t, s, "outside regions");
    for (size_t i = 0; i < t->nexecuted; i++) {
        if (!sum_region(s, t, t->regions[i])) continue;
        snprintf(number, sizeof number, "R%05" PRIu32, p->regions[t->regions[i]].number);
        put_sums(t, s, number);
    }
    fputs("##END ompp data\n\n", t->out);
}

int ompp_text_data_csv(ompp_text_t *t) { return each_set(t, put_set); }
