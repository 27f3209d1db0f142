/**
 * \file
 * Section ompp Samples: where the processor time was spent, by owner of the code, function, line and call path. At most
 * 80 columns. ompP does not have it.
 */
#include "report/ompp_report.h"
#include "report/ompp_text_path.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_sample_sums.h"
#include "base/ompp_error.h"
#include "base/ompp_utf8.h"

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

static void put_place(const section_t *s, const ompp_sampled_t *row, bool line)
{
    const ompp_region_t *region = &s->p->regions[row->index];
    char name[400], place[300];
    size_t room = WIDTH - NUMBERS + 1;

    ompp_path_place(s->p, region, place, sizeof place);
    const size_t least = ompp_utf8_width(place) + 1, wide = room < least + 20 ? room : room - least;
    ompp_path_name(s->p, region, wide, name, sizeof name);
    const char *first = line ? place : name, *second = line ? name : place;
    room -= ompp_path_put(s->out, first, line ? room : wide);
    if (room > 4 && *second && strncmp(name, place, strlen(place)) != 0) { /* a nameless function has its file's name */
        putc(' ', s->out);
        ompp_path_put(s->out, second, room - 1);
    }
    putc('\n', s->out);
}

/* From the innermost function outwards: that fits best what is wanted of a path when it is cut. */
static void put_path(const section_t *s, uint32_t node)
{
    size_t room = WIDTH - NUMBERS + 1, rows = 0;
    const char *between = "";

    for (uint32_t n = node; n && rows < 4; n = ompp_path_caller(s->p, n)) {
        const ompp_region_t *region = &s->p->regions[s->p->nodes[n].region];
        char name[400], text[760];
        char place[300];
        ompp_path_place(s->p, region, place, sizeof place);
        if (region->construct == OMPP_CONSTRUCT_FUNCTION || region->construct == OMPP_CONSTRUCT_INLINED) {
            ompp_path_name(s->p, region, WIDTH - NUMBERS - 6, name, sizeof name);
            snprintf(text, sizeof text, "%s%s", between, name);
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
        room -= ompp_path_put(s->out, text, room);
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

/* ---- All of it --------------------------------------------------------------------------------------------------- */

#define LITTLE 0.9 /* of the processor time: then the report says that there is more */

static void put_sum(const section_t *s)
{
    const uint64_t sampled = s->samples->total_ns, used = ompp_samples_cpu_ns(s->p);

    fprintf(s->out, "%" PRIu64 " samples stand for %s of %s sec of processor time. Sleep has none.\n",
            s->samples->total, ompp_text_seconds_digits(sampled, 2).text, ompp_text_seconds_digits(used, 2).text);
    if ((double)sampled < LITTLE * (double)used)
        fputs("Percentages are of these samples. See Samples and ompp Coverage above.\n", s->out);
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

    ompp_path_name(s->p, &s->p->regions[region], sizeof name, name, sizeof name);
    ompp_path_place(s->p, &s->p->regions[region], place, sizeof place);
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
            for (uint32_t n = ompp_path_caller(profile, samples.paths[i].index); n; n = ompp_path_caller(profile, n)) {
                char name[400];
                const ompp_region_t *r = &profile->regions[profile->nodes[n].region];
                ompp_path_name(profile, r, sizeof name, name, sizeof name);
                const bool named = r->construct == OMPP_CONSTRUCT_FUNCTION || r->name;
                ompp_text_csv(t->out, named ? name : ompp_constructs[r->construct].full, false);
                if (ompp_path_caller(profile, n)) fputs(" < ", t->out);
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
        if (by != OMPP_BY_FLAT) rc = ompp_path_tree_of_samples(profile, &samples, by, full, out);
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
