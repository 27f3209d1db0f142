/*
 * How well what-if results are known: 95 % intervals by bootstrap, and the control of experiments.
 */
#include "analysis/ompp_whatif_priv.h"

#include <math.h>
#include <stdlib.h>

#define RESAMPLES 1000
#define SEED 0x9e3779b97f4a7c15u /* fixed: the same profile gives the same interval */
#define WIDE 0.30                /* an interval that is wider than that, and than the gain, says nothing */
#define DISTURBED 0.01           /* what delays take beyond what is known of them, before it is worth a word */

/* ---- Intervals ------------------------------------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double ompp_whatif_gain_of(double time, double saved, double paid)
{
    return time - paid > 0 ? (saved - paid) / (time - paid) : 0;
}

/* Blocks that follow each other are alike: drawn in runs of about the cube root of their number (circular block bootstrap). */
static unsigned run_length(unsigned n)
{
    const unsigned run = (unsigned)lround(cbrt(n)), most = n / OMPP_WHATIF_ENOUGH;

    return run < most ? run : most;
}

static double resample(const ompp_whatif_clock_t *clock, uint64_t *random)
{
    unsigned n = clock->nblocks, run = run_length(n);
    double time = 0, saved = 0, paid = 0;

    for (unsigned drawn = 0; drawn < n;) {
        unsigned first = (unsigned)(next_random(random) % n);
        for (unsigned i = 0; i < run && drawn < n; i++, drawn++) {
            const ompp_whatif_block_t *block = &clock->blocks[(first + i) % n];
            time += (double)block->time_ns;
            saved += (double)block->saved_ns;
            paid += (double)block->paid_ns;
        }
    }
    return ompp_whatif_gain_of(time, saved, paid);
}

/*
 * A bootstrap of n observations is too narrow by sqrt((n - 1) / n), and by what the normal distribution is narrower than Student's: of
 * four, the plain interval holds two times of three. Student's quantile by Cornish and Fisher's expansion (1938).
 */
static double small_sample(double n)
{
    const double v = n - 1;

    return (1.96 + 2.372 / v + 2.822 / (v * v) + 2.556 / (v * v * v)) / 1.96 * sqrt(n / v);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Around the gain of the whole: what came after the last block is in that, and in no block. */
void ompp_whatif_interval(const ompp_whatif_clock_t *clock, double correction, ompp_gain_t *gain)
{
    const double whole = gain->gain;
    double drawn[RESAMPLES], time = 0, saved = 0, paid = 0;
    uint64_t random = SEED;

    gain->gain = fmin(whole * correction, 1);
    gain->interval = OMPP_INTERVAL_FEW;
    if (clock->nblocks < OMPP_WHATIF_ENOUGH) return;
    for (unsigned i = 0; i < clock->nblocks; i++) {
        time += (double)clock->blocks[i].time_ns;
        saved += (double)clock->blocks[i].saved_ns;
        paid += (double)clock->blocks[i].paid_ns;
    }
    for (unsigned i = 0; i < RESAMPLES; i++) drawn[i] = resample(clock, &random);
    qsort(drawn, RESAMPLES, sizeof *drawn, compare_doubles);
    const double all = ompp_whatif_gain_of(time, saved, paid), wider = small_sample((double)clock->nblocks / run_length(clock->nblocks));
    const double low = wider * (drawn[RESAMPLES * 25 / 1000] - all), high = wider * (drawn[RESAMPLES * 975 / 1000 - 1] - all);
    const double told_low = fmin((whole + low) * correction, 1), told_high = fmin((whole + high) * correction, 1);
    gain->interval = OMPP_INTERVAL_WIDE;
    if (told_high - told_low > fmax(WIDE, fabs(gain->gain))) return;
    gain->interval = OMPP_INTERVAL_KNOWN;
    gain->low = told_low;
    gain->high = told_high;
}

/* ---- Control ---------------------------------------------------------------------------------------------------------- */

/* Experiments with units of work in them. */
typedef struct {
    const ompp_whatif_block_t **blocks;
    unsigned n;
} units_t;

static void add_units(units_t *units, const ompp_whatif_clock_t *clock)
{
    for (uint32_t i = 0; i < clock->nblocks; i++)
        if (clock->blocks[i].visits) units->blocks[units->n++] = &clock->blocks[i];
}

/* Mean time of a unit without the delays: of all, or of as many drawn ones. */
static double time_of_unit(const units_t *units, uint64_t *random)
{
    double time = 0, visits = 0;

    for (unsigned i = 0; i < units->n; i++) {
        const ompp_whatif_block_t *b = units->blocks[random ? next_random(random) % units->n : i];
        time += (double)b->time_ns - (double)b->paid_ns;
        visits += b->visits;
    }
    return visits > 0 ? time / visits : 0;
}

static double ratio(const units_t *with, const units_t *without, uint64_t *random)
{
    const double base = time_of_unit(without, random);

    return base > 0 ? time_of_unit(with, random) / base - 1 : 0;
}

static void compare_units(const units_t *with, const units_t *without, ompp_whatif_control_t *c)
{
    double drawn[RESAMPLES];
    uint64_t random = SEED;

    c->interval = OMPP_INTERVAL_FEW;
    if (with->n < OMPP_WHATIF_ENOUGH || without->n < OMPP_WHATIF_ENOUGH) return;
    c->inflation = ratio(with, without, NULL);
    for (unsigned i = 0; i < RESAMPLES; i++) drawn[i] = ratio(with, without, &random);
    qsort(drawn, RESAMPLES, sizeof *drawn, compare_doubles);
    const double wider = small_sample(with->n < without->n ? with->n : without->n);
    c->low = c->inflation + wider * (drawn[RESAMPLES * 25 / 1000] - c->inflation);
    c->high = c->inflation + wider * (drawn[RESAMPLES * 975 / 1000 - 1] - c->inflation);
    c->interval = c->high - c->low > WIDE ? OMPP_INTERVAL_WIDE : OMPP_INTERVAL_KNOWN;
    c->disturbed = c->interval == OMPP_INTERVAL_KNOWN && (c->low > 0 || c->high < 0) && fabs(c->inflation) > DISTURBED;
}

bool ompp_whatif_control(const ompp_whatif_t *w, ompp_whatif_control_t *c)
{
    const size_t most = (w->nregions * OMPP_WHATIF_SPEEDUPS + 1) * OMPP_WHATIF_BLOCKS;
    units_t with = {calloc(most, sizeof *with.blocks), 0}, without = {calloc(OMPP_WHATIF_BLOCKS, sizeof *without.blocks), 0};

    *c = (ompp_whatif_control_t){.experiments = w->control.observations, .interval = OMPP_INTERVAL_FEW};
    if (with.blocks && without.blocks) {
        add_units(&without, &w->control);
        for (size_t i = 0; i < w->nregions; i++)
            for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
                if (w->regions[i].point == OMPP_NONE) add_units(&with, &w->regions[i].clocks[k]);
        c->units = without.n > 0;
        compare_units(&with, &without, c);
    }
    free(with.blocks);
    free(without.blocks);
    return c->experiments > 0;
}
