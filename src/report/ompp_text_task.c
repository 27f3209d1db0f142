/**
 * \file
 * Section ompp Tasks: size and wait of the tasks of each construct. ompP does not have it.
 */
#include "base/ompp_utf8.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_tasks.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum { COUNT, COUNT32, SECONDS, MICROSECONDS, MEAN, MEAN_IF_REPORTED } style_t;

/* Columns, in print order. MEAN: microseconds, sum over the count at per; not every source tells how long a creation
 * takes. */
static const struct {
    const char *title;
    style_t style;
    size_t value, per;
} columns[] = {
    {"Tasks", COUNT, offsetof(ompp_task_sum_t, ended), 0},
    {"Threads", COUNT32, offsetof(ompp_task_sum_t, nthreads), 0},
    {"Time", SECONDS, offsetof(ompp_task_sum_t, run_ns), 0},
    {"mean us", MEAN, offsetof(ompp_task_sum_t, run_ns), offsetof(ompp_task_sum_t, ended)},
    {"min us", MICROSECONDS, offsetof(ompp_task_sum_t, run_min_ns), 0},
    {"max us", MICROSECONDS, offsetof(ompp_task_sum_t, run_max_ns), 0},
    {"wait us", MEAN, offsetof(ompp_task_sum_t, wait_ns), offsetof(ompp_task_sum_t, started)},
    {"longest us", MICROSECONDS, offsetof(ompp_task_sum_t, wait_max_ns), 0},
    {"create us", MEAN_IF_REPORTED, offsetof(ompp_task_sum_t, create_ns), offsetof(ompp_task_sum_t, created)},
};
#define NCOLUMNS (sizeof columns / sizeof columns[0])

static int by_time(const void *a, const void *b)
{
    const ompp_task_sum_t *x = a, *y = b;

    if (x->run_ns != y->run_ns) return x->run_ns > y->run_ns ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

static uint64_t value_at(const ompp_task_sum_t *sum, size_t offset)
{
    return *(const uint64_t *)((const char *)sum + offset);
}

static void print_cell(ompp_text_t *t, size_t c, const ompp_task_sum_t *sum)
{
    uint64_t value = columns[c].style == COUNT32 ? sum->nthreads : value_at(sum, columns[c].value);
    bool mean = columns[c].style == MEAN || columns[c].style == MEAN_IF_REPORTED;
    char text[32];

    /* A program that ended in a task has begun more than it ended: perhaps none. */
    if ((columns[c].style == MEAN_IF_REPORTED && !value) || (mean && !value_at(sum, columns[c].per))) {
        ompp_layout_cell(t->out, OMPP_WIDTH_VALUE, "-");
        return;
    }
    if (mean) value = ompp_text_mean(value, value_at(sum, columns[c].per));
    if (columns[c].style == SECONDS) snprintf(text, sizeof text, "%s", ompp_text_short_seconds(t, value).text);
    else if (columns[c].style == COUNT || columns[c].style == COUNT32) snprintf(text, sizeof text, "%" PRIu64, value);
    else snprintf(text, sizeof text, "%" PRIu64 ".%02" PRIu64, (value + 5) / 1000, (value + 5) % 1000 / 10);
    ompp_layout_cell(t->out, OMPP_WIDTH_VALUE + (columns[c].style == SECONDS ? t->extra : 0), text);
}

static void print_row(ompp_text_t *t, const ompp_task_sum_t *sum)
{
    const ompp_region_t *region = &t->profile->regions[sum->region];
    const char *place = t->places[sum->region];
    size_t used = ompp_utf8_width(place);

    ompp_layout_number(t->out, region->number);
    fprintf(t->out, "  %8s %*s%s", ompp_constructs[region->construct].brief,
            used < OMPP_WIDTH_PLACE ? OMPP_WIDTH_PLACE - (int)used : 0, "", place);
    for (size_t c = 0; c < NCOLUMNS; c++) print_cell(t, c, sum);
    putc('\n', t->out);
}

/* Executions that were counted without a time of their own, or were still open at the end. */
static void put_missing(ompp_text_t *t, const ompp_task_sum_t *sums, size_t n)
{
    uint64_t missing = 0;

    for (size_t i = 0; i < n; i++) missing += sums[i].started > sums[i].ended ? sums[i].started - sums[i].ended : 0;
    if (missing)
        fprintf(t->out,
                "\nNot in the table: %" PRIu64 " tasks that began, and whose time is not known (ompp Coverage).\n",
                missing);
    for (size_t i = 0; i < t->profile->ncoverage; i++) {
        const ompp_coverage_t *c = &t->profile->coverage[i];
        if (c->kind != OMPP_COVERAGE_DROPPED || strncmp(ompp_profile_text(t->profile, c->subject), "task", 4) != 0)
            continue;
        fprintf(t->out, "\nNot in the table: %" PRIu64 " %s that found no room (ompp Coverage).\n", c->count,
                ompp_profile_text(t->profile, c->subject));
    }
}

static uint64_t untimed_of(const ompp_task_sum_t *sums, size_t n)
{
    uint64_t untimed = 0;

    for (size_t i = 0; i < n; i++) untimed += sums[i].untimed;
    return untimed;
}

int ompp_text_tasks(ompp_text_t *t)
{
    ompp_task_sum_t *sums;
    size_t n;
    int rc = ompp_analysis_tasks(t->profile, t->paths, &sums, &n);
    const uint64_t untimed = rc == 0 ? untimed_of(sums, n) : 0;

    if (rc == 0 && n) {
        qsort(sums, n, sizeof *sums, by_time);
        ompp_layout_title(t->out, "ompp Tasks");
        fputs("Time, mean, min, max: without other tasks that ran meanwhile. wait: from creation to begin, mean and "
              "longest.\n",
              t->out);
        if (untimed)
            fprintf(t->out,
                    "%" PRIu64
                    " of them are counted, and not timed (ompp Coverage): min, max and longest are of the others.\n",
                    untimed);
        putc('\n', t->out);
        fprintf(t->out, "%16s %*s", "Type", OMPP_WIDTH_PLACE, "Location");
        for (size_t c = 0; c < NCOLUMNS; c++)
            ompp_layout_cell(t->out, OMPP_WIDTH_VALUE + (columns[c].style == SECONDS ? t->extra : 0), columns[c].title);
        putc('\n', t->out);
        for (size_t i = 0; i < n; i++)
            if (ompp_text_shows(t, sums[i].region)) print_row(t, &sums[i]);
        put_missing(t, sums, n);
        fputs("\n", t->out);
    }
    free(sums);
    return rc;
}
