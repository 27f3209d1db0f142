/* The metrics of simulated caches. */
#include "hooks/ompp_feed_rows_priv.h"

#include "runtime/ompp_metric.h"

#include <stdio.h>

#define ROW(name, meaning, use)                                                                                       \
    {                                                                                                                 \
        name, OMPP_UNIT_COUNT, OMPP_QUALITY_SIMULATED, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "simulated caches", meaning, \
            OMPP_USE_##use                                                                                            \
    }

static const ompp_metric_row_t model[] = {
    ROW("L1-load-misses", "loads that miss L1", MODEL),
    ROW("L1-store-misses", "stores that miss L1", VALUE),
    ROW("L2-load-misses", "loads that miss L2", VALUE),
    ROW("L2-store-misses", "stores that miss L2", VALUE),
    ROW("L3-load-misses", "loads that miss L3", VALUE),
    ROW("L3-store-misses", "stores that miss L3", VALUE),
    ROW("L1-compulsory", "misses of L1 on lines not touched before", VALUE),
    ROW("L2-compulsory", "misses of L2 on lines not touched before", VALUE),
    ROW("L3-compulsory", "misses of L3 on lines not touched before", VALUE),
    ROW("L1-conflict", "misses of L1 that a fully associative one would not have", VALUE),
    ROW("L2-conflict", "misses of L2 that a fully associative one would not have", VALUE),
    ROW("L3-conflict", "misses of L3 that a fully associative one would not have", VALUE),
    ROW("TLB1-misses", "accesses that miss the first TLB", VALUE),
    ROW("TLB2-misses", "accesses that miss the second TLB", VALUE),
    ROW("prefetched", "lines that were brought ahead", VALUE),
    ROW("true-sharing", "accesses to a line lost to a thread that wrote the same word", VALUE),
    ROW("false-sharing", "accesses to a line lost to a thread that wrote another word of it", VALUE),
};

_Static_assert(sizeof model / sizeof model[0] == OMPP_CACHED_MODEL_VALUES, "a row per value");

unsigned ompp_feed_rows_model(void) { return ompp_metric_register(model, OMPP_CACHED_MODEL_VALUES); }

static void name_row(ompp_metric_row_t *row, char *name, size_t n, unsigned distance, const char *what)
{
    const unsigned log2 = OMPP_CACHED_LEAST_BITS + 6 + distance, unit = (log2 - 10) / 10;

    if (distance == OMPP_CACHED_DISTANCES - 1) snprintf(name, n, "%s-new", what);
    else snprintf(name, n, "%s-%u%c", what, 1u << (log2 - 10) % 10, "kMG"[unit]);
    *row = (ompp_metric_row_t)ROW(name, "references with as many bytes of lines, or more, touched since their line was",
                                  VALUE);
    if (*what == 'b') row->meaning = "the same, of those in bursts";
    if (*what == 'u') row->meaning = "references to a line that a burst had not met, after as many bytes of lines";
    if (distance == OMPP_CACHED_DISTANCES - 1) row->meaning = "references to lines that are not known";
}

unsigned ompp_feed_rows_curves(void)
{
    ompp_metric_row_t rows[OMPP_CACHED_CURVE_VALUES] = {
        [OMPP_CACHED_ONE_IN] = ROW("one-in", "one of so many lines was followed", CURVES),
        [OMPP_CACHED_REFERENCES] = ROW("burst-references", "references when all lines were followed", VALUE),
        [OMPP_CACHED_SEEN] = ROW("burst-seen", "the same, each counted once: bursts stand for more", VALUE),
        [OMPP_CACHED_FOLLOWED] = ROW("reuse-references", "references to lines followed, for all lines", VALUE)};
    char names[3][OMPP_CACHED_DISTANCES][16];

    rows[OMPP_CACHED_ONE_IN].threads = rows[OMPP_CACHED_ONE_IN].ranks = OMPP_REDUCE_MAX;
    for (unsigned i = 0; i < OMPP_CACHED_DISTANCES; i++) {
        name_row(&rows[OMPP_CACHED_BURST + i], names[0][i], sizeof names[0][i], i, "burst");
        name_row(&rows[OMPP_CACHED_SAMPLED + i], names[1][i], sizeof names[1][i], i, "reuse");
    }
    for (unsigned i = 0; i < OMPP_CACHED_BURST_ROWS; i++)
        name_row(&rows[OMPP_CACHED_UNSURE + i], names[2][i], sizeof names[2][i], i, "unsure");
    return ompp_metric_register(rows, OMPP_CACHED_CURVE_VALUES);
}
