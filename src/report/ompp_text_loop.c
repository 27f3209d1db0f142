/**
 * \file
 * Section ompp Loops: chunks of the loops whose iterations are handed out as they go. ompP does not have it.
 */
#include "base/ompp_utf8.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_chunks.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    const ompp_chunk_sum_t *x = a, *y = b;

    if (x->handing_ns != y->handing_ns) return x->handing_ns > y->handing_ns ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

static void print_cell(const ompp_text_t *t, const char *text) { ompp_layout_cell(t->out, OMPP_WIDTH_VALUE, text); }

static void print_microseconds(const ompp_text_t *t, uint64_t ns)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64 ".%02" PRIu64, (ns + 5) / 1000, (ns + 5) % 1000 / 10);
    print_cell(t, text);
}

static void print_row(const ompp_text_t *t, const ompp_chunk_sum_t *sum)
{
    const ompp_region_t *region = &t->profile->regions[sum->region];
    const char *place = t->places[sum->region];
    const size_t used = ompp_utf8_width(place);
    char text[32];

    ompp_layout_number(t->out, region->number);
    fprintf(t->out, "  %8s %*s%s", ompp_constructs[region->construct].brief,
            used < OMPP_WIDTH_PLACE ? OMPP_WIDTH_PLACE - (int)used : 0, "", place);
    snprintf(text, sizeof text, "%" PRIu64, sum->chunks);
    print_cell(t, text);
    print_microseconds(t, sum->each_ns);
    print_microseconds(t, ompp_text_mean(sum->handing_ns, sum->asks));
    ompp_layout_cell(t->out, OMPP_WIDTH_VALUE + t->extra, ompp_text_short_seconds(t, sum->handing_ns).text);
    print_cell(t, ompp_text_share(sum->handing_ns, (double)sum->body_ns).text);
    putc('\n', t->out);
}

int ompp_text_loops(ompp_text_t *t)
{
    static const char *const titles[] = {"Chunks", "chunk us", "out us"};
    ompp_chunk_sum_t *sums;
    size_t n;

    if (ompp_analysis_chunks(t->profile, t->paths, &sums, &n)) return -OMPP_E_NOMEM;
    if (n) {
        ompp_layout_title(t->out, "ompp Loops");
        fputs(
            "Chunks of iterations, handed out as the loop goes: work of one on average, and what it takes to hand one "
            "out, in the mean\n"
            "of the one time in 16 that was timed; of all of them, as time and in percent of the loop. It is "
            "management (class Mgmt), and\n"
            "stands in the time of the loop's body: the Overhead Analysis Report does not have it.\n\n",
            t->out);
        fprintf(t->out, "%16s %*s", "Type", OMPP_WIDTH_PLACE, "Location");
        for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) print_cell(t, titles[i]);
        ompp_layout_cell(t->out, OMPP_WIDTH_VALUE + t->extra, "out");
        print_cell(t, "out %");
        putc('\n', t->out);
        qsort(sums, n, sizeof *sums, by_time);
        for (size_t i = 0; i < n; i++)
            if (ompp_text_shows(t, sums[i].region)) print_row(t, &sums[i]);
        putc('\n', t->out);
    }
    free(sums);
    return 0;
}
