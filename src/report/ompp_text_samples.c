/**
 * \file
 * Section ompp Samples: where the processor time was spent, by owner of the code, function, line and call path. At most
 * 80 columns. ompP does not have it.
 */
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"
#include "report/ompp_utf8.h"

#include "analysis/ompp_sample_sums.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST 10u   /* rows of a table in the report */
#define WIDTH 80u  /* columns of the section */
#define NUMBERS 28 /* of these before the names */

/* One table being written. */
typedef struct {
    const ompp_text_t *t;
    const ompp_profile_t *p;
    const ompp_samples_t *samples;
} section_t;

static void put_numbers(const section_t *s, uint64_t own, uint64_t all)
{
    const double total = (double)s->samples->total_ns;

    fprintf(s->t->out, "%9s %6.2f", ompp_text_seconds_digits(own, 2).text, 100 * (double)own / total);
    if (all) fprintf(s->t->out, " %6.2f  ", 100 * (double)all / total);
    else fprintf(s->t->out, " %6s  ", "");
}

/* Text in what is left of a line; what does not fit ends in "...". \return columns used. */
static size_t put_fitting(const section_t *s, const char *text, size_t room)
{
    char *printable = ompp_text_printable(text, false);
    size_t used = 0;

    if (!printable) return 0;
    used = ompp_utf8_width(printable);
    if (used <= room) {
        fputs(printable, s->t->out);
    } else if (room > 3) {
        /* names are ASCII nearly always; others lose more than they need */
        fprintf(s->t->out, "%.*s...", (int)(room - 3), printable);
        used = room;
    }
    free(printable);
    return used < room ? used : room;
}

/* "solve.c:42", "libm.so.6", or nothing. */
static void place_of(const ompp_profile_t *p, const ompp_region_t *region, char *out, size_t size)
{
    const char *file = ompp_path_last(ompp_profile_text(p, region->file));

    if (*file) snprintf(out, size, "%s:%" PRIu32, file, region->begin);
    else if (region->module < p->nmodules)
        snprintf(out, size, "%s", ompp_path_last(ompp_profile_text(p, p->modules[region->module].path)));
    else *out = '\0';
}

/* A function without a name is its address in its file. */
static void name_of(const ompp_profile_t *p, const ompp_region_t *region, char *out, size_t size)
{
    const char *name = ompp_profile_text(p, region->name);

    if (!*name) name = ompp_profile_text(p, region->function);
    if (*name) snprintf(out, size, "%s", name);
    else snprintf(out, size, "0x%" PRIx64, region->addr);
}

static void put_place(const section_t *s, const ompp_sampled_t *row, bool line)
{
    const ompp_region_t *region = &s->p->regions[row->index];
    char name[400], place[300];
    size_t room = WIDTH - NUMBERS + 1;

    name_of(s->p, region, name, sizeof name);
    place_of(s->p, region, place, sizeof place);
    const size_t least = ompp_utf8_width(place) + 1;
    const char *first = line ? place : name, *second = line ? name : place;
    room -= put_fitting(s, first, line || room < least + 20 ? room : room - least);
    if (room > 4 && *second) {
        putc(' ', s->t->out);
        put_fitting(s, second, room - 1);
    }
    putc('\n', s->t->out);
}

/* From the innermost function outwards: that fits best what is wanted of a path when it is cut. */
static void put_path(const section_t *s, uint32_t node)
{
    size_t room = WIDTH - NUMBERS + 1, rows = 0;
    const char *between = "";

    for (uint32_t n = node; n && rows < 4; n = s->p->nodes[n].parent) {
        const ompp_region_t *region = &s->p->regions[s->p->nodes[n].region];
        char name[400], text[440];
        if (region->construct == OMPP_CONSTRUCT_FUNCTION) {
            name_of(s->p, region, name, sizeof name);
            snprintf(text, sizeof text, "%s%s", between, name);
        } else {
            char place[300];
            place_of(s->p, region, place, sizeof place);
            const char *what = ompp_constructs[region->construct].place == OMPP_PLACE_CALL
                                   ? ompp_profile_text(s->p, region->name)
                                   : ompp_constructs[region->construct].full;
            snprintf(text, sizeof text, "%s[%s %s]", between, what, place);
        }
        if (ompp_utf8_width(text) + 2 > room && rows + 1 < 4 && *between) {
            fprintf(s->t->out, "\n%*s", NUMBERS, "");
            room = WIDTH - NUMBERS - 1;
            rows++;
        }
        room -= put_fitting(s, text, room);
        between = " < ";
    }
    putc('\n', s->t->out);
}

static void put_table(const section_t *s, const char *title, const ompp_sampled_t *rows, size_t n, size_t most,
                      int kind)
{
    if (n > most) n = most;
    while (n && !rows[n - 1].own_ns) n--;
    if (!n) return;
    fprintf(s->t->out, "\n%9s %6s %6s  %s\n", "own sec", "own %", kind == 1 ? "" : "all %", title);
    for (size_t i = 0; i < n; i++) {
        put_numbers(s, rows[i].own_ns, kind == 1 ? 0 : rows[i].all_ns);
        if (kind == 2) put_path(s, rows[i].index);
        else put_place(s, &rows[i], kind == 1);
    }
}

static void put_owners(const section_t *s)
{
    putc('\n', s->t->out);
    for (unsigned o = 0; o < OMPP_CODE_OWNERS; o++)
        if (s->samples->owner_ns[o])
            fprintf(s->t->out, "%9s %6.2f %6s  %s\n", ompp_text_seconds_digits(s->samples->owner_ns[o], 2).text,
                    100 * (double)s->samples->owner_ns[o] / (double)s->samples->total_ns, "", ompp_code_owner_names[o]);
}

static uint64_t cpu_ns(const ompp_profile_t *p)
{
    uint64_t sum = p->rest_user_ns + p->rest_system_ns;

    for (size_t r = 0; r < p->nranks_kept; r++) sum += p->ranks[r].user_ns + p->ranks[r].system_ns;
    return sum;
}

int ompp_text_samples(const ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_samples_t samples;
    const section_t s = {t, profile, &samples};

    if (ompp_samples_init(&samples, profile) != 0) return -OMPP_E_NOMEM;
    if (samples.total) {
        ompp_layout_title(t->out, "ompp Samples");
        fprintf(t->out, "%" PRIu64 " samples stand for %s sec of the %s sec of processor time; waiting has none.\n",
                samples.total, ompp_text_seconds_digits(samples.total_ns, 2).text,
                ompp_text_seconds_digits(cpu_ns(profile), 2).text);
        fputs("own: in the function, line or path itself; all: in what it calls, too.\n", t->out);
        put_owners(&s);
        put_table(&s, "function", samples.functions, samples.nfunctions, MOST, 0);
        put_table(&s, "line", samples.lines, samples.nlines, MOST, 1);
        put_table(&s, "path, from the inside out", samples.paths, samples.npaths, MOST, 2);
        putc('\n', t->out);
    }
    ompp_samples_fini(&samples);
    return 0;
}
