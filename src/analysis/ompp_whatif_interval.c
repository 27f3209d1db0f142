/*
 * How well what-if results are known: 95 % intervals by bootstrap, and the control of experiments.
 */
#include "analysis/ompp_whatif_priv.h"

#include "base/ompp_hash.h"

#include <math.h>
#include <stdlib.h>

#define RESAMPLES 1000
#define SEED OMPP_HASH_STEP /* fixed: the same profile gives the same interval */
#define WIDE 0.30           /* an interval that is wider than that, and than the gain, says nothing */
#define START 2             /* times as long as other blocks on average */
#define COMPARABLE 2u       /* experiments of either kind, for a gain without an interval */
#define UNLIKE 0.15         /* standard deviation of units at 0 %, of their mean, ... */
#define UNLIKE_CHECK 0.1    /* and of all units, where delays are to be found in their difference */
#define MOST 0.8            /* of the work */
#define DISTURBED 0.01      /* what delays take beyond what is known of them, before it is worth a word */

/* ---- Intervals --------------------------------------------------------------------------------------------------- */

double ompp_whatif_gain_of(double time, double saved, double paid)
{
    return time - paid > 0 ? (saved - paid) / (time - paid) : 0;
}

/* Blocks that follow each other are alike: drawn in runs of about the cube root of their number (circular block
 * bootstrap). */
static unsigned run_length(unsigned n)
{
    const unsigned run = (unsigned)lround(cbrt(n)), most = n / OMPP_WHATIF_ENOUGH;

    return run < most ? run : most;
}

/* ns. Sums of whole numbers, which are exact. */
typedef struct {
    double time, saved, paid, work;
} sum_t;

static void add(sum_t *to, sum_t sum)
{
    to->time += sum.time;
    to->saved += sum.saved;
    to->paid += sum.paid;
    to->work += sum.work;
}

static sum_t sum_of_block(const ompp_whatif_block_t *block)
{
    return (sum_t){.time = (double)block->time_ns,
                   .saved = (double)block->saved_ns,
                   .paid = (double)block->paid_ns,
                   .work = (double)block->work_ns};
}

/* Runs of so many blocks, by the first one; after the last block comes the first again. */
static void sum_runs(const ompp_whatif_clock_t *clock, unsigned length, sum_t runs[static OMPP_WHATIF_BLOCKS])
{
    for (unsigned first = 0; first < clock->nblocks; first++) {
        runs[first] = (sum_t){.time = 0};
        for (unsigned i = 0; i < length; i++)
            add(&runs[first], sum_of_block(&clock->blocks[(first + i) % clock->nblocks]));
    }
}

/* \return a number below n, which is less than 2^32. */
static unsigned draw(uint64_t *random, unsigned n)
{
    return (unsigned)((ompp_hash_mix(*random += OMPP_HASH_STEP) >> 32) * n >> 32);
}

/*
 * What blocks say of all of them. Where work is known they say it by what was saved for each ns of work: a block
 * without the region says nothing of the region, and would say much by the time that it took.
 */
static double gain_of_sum(sum_t sum, const sum_t *all)
{
    if (all->work <= 0) return ompp_whatif_gain_of(sum.time, sum.saved, sum.paid);
    return sum.work > 0 && all->time > all->paid
               ? (sum.saved - sum.paid) / sum.work * all->work / (all->time - all->paid)
               : 0;
}

/* Gains of as many blocks as there are, drawn in runs, again and again, with what comes once. all: the sum of all. */
static void resample(const ompp_whatif_clock_t *clock, const sum_t *once, const sum_t *all,
                     double gains[static RESAMPLES])
{
    const unsigned n = clock->nblocks, length = run_length(n);
    sum_t runs[OMPP_WHATIF_BLOCKS], last[OMPP_WHATIF_BLOCKS];
    uint64_t random = SEED;

    sum_runs(clock, length, runs);
    sum_runs(clock, n % length, last);
    for (unsigned k = 0; k < RESAMPLES; k++) {
        sum_t sum = *once;
        for (unsigned i = 0; i < n / length; i++) add(&sum, runs[draw(&random, n)]);
        if (n % length) add(&sum, last[draw(&random, n)]);
        gains[k] = gain_of_sum(sum, all);
    }
}

/*
 * A bootstrap of n observations is too narrow by sqrt((n - 1) / n), and by what the normal distribution is narrower
 * than Student's: of four, the plain interval holds two times of three. Student's quantile by Cornish and Fisher's
 * expansion (1938).
 */
static double small_sample(double n)
{
    const double v = n - 1;

    return (1.96 + 2.372 / v + 2.822 / (v * v) + 2.556 / (v * v * v)) / 1.96 * sqrt(n / v);
}

/* \return the number that `rank` others are not above: Hoare's quickselect. It orders the numbers as far as it has
 * to. */
static double select_number(double *numbers, int n, int rank)
{
    for (int low = 0, high = n - 1; low < high;) {
        const double pivot = numbers[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (numbers[i] < pivot) i++;
            while (numbers[j] > pivot) j--;
            if (i > j) break;
            const double swap = numbers[i];
            numbers[i++] = numbers[j];
            numbers[j--] = swap;
        }
        if (rank > j && rank < i) break;
        if (rank <= j) high = j;
        else low = i;
    }
    return numbers[rank];
}

/* What 95 % of the resamples are between. */
static void middle_of(double drawn[static RESAMPLES], double *low, double *high)
{
    *low = select_number(drawn, RESAMPLES, RESAMPLES * 25 / 1000);
    *high = select_number(drawn, RESAMPLES, RESAMPLES * 975 / 1000 - 1);
}

/*
 * The program cannot gain more than the region does: what is faster by so much throughout is no faster than that. A
 * correction that says otherwise is of ranks that were not followed for the same time.
 */
static double corrected(double gain, double correction, double limit)
{
    return correction > 1 ? fmin(gain * correction, fmax(gain, limit)) : gain * correction;
}

static bool says_nothing(double low, double high, double gain) { return high - low > fmax(WIDE, fabs(gain)); }

/*
 * The first block of a run begins with it. When it is much longer than the others it is about the start (MPI_Init,
 * reading of input), which comes once, and not now and then.
 */
static bool has_start(const ompp_whatif_clock_t *clock)
{
    double others = 0;

    if (clock->nblocks <= OMPP_WHATIF_ENOUGH || clock->blocks[0].number > 0) return false;
    for (uint32_t i = 1; i < clock->nblocks; i++) others += (double)clock->blocks[i].time_ns;
    return (double)clock->blocks[0].time_ns > START * others / (clock->nblocks - 1);
}

/* The blocks that are drawn: those behind the start; where the work of blocks is known, without those that have none in
 * the region. */
static void take_blocks(const ompp_whatif_clock_t *clock, const sum_t *all, sum_t *once, ompp_whatif_clock_t *to)
{
    const uint32_t first = has_start(clock);

    *once = first ? sum_of_block(&clock->blocks[0]) : (sum_t){.time = 0};
    to->nblocks = 0;
    for (uint32_t i = first; i < clock->nblocks; i++)
        if (all->work <= 0 || clock->blocks[i].work_ns) to->blocks[to->nblocks++] = clock->blocks[i];
}

/* Around the gain of the whole: what came after the last block is in that, and in no block. */
void ompp_whatif_interval(const ompp_whatif_clock_t *clock, double correction, ompp_gain_t *gain)
{
    const double whole = gain->gain;
    double drawn[RESAMPLES], low, high;
    ompp_whatif_clock_t blocks;
    sum_t sum = {.time = 0}, once;

    gain->gain = fmin(corrected(whole, correction, gain->permille / 1000.0), 1);
    gain->interval = OMPP_INTERVAL_FEW;
    if (clock->nblocks < OMPP_WHATIF_ENOUGH) return;
    for (unsigned i = 0; i < clock->nblocks; i++) add(&sum, sum_of_block(&clock->blocks[i]));
    if (sum.work < MOST * (double)clock->work_ns) sum.work = 0; /* of one rank of many: it says little of the others */
    take_blocks(clock, &sum, &once, &blocks);
    if (blocks.nblocks < OMPP_WHATIF_ENOUGH) return;
    resample(&blocks, &once, &sum, drawn);
    const double all = gain_of_sum(sum, &sum),
                 wider = small_sample((double)blocks.nblocks / run_length(blocks.nblocks));
    middle_of(drawn, &low, &high);
    const double reported_low = fmin((whole + wider * (low - all)) * correction, 1);
    const double reported_high = fmin((whole + wider * (high - all)) * correction, 1);
    gain->interval = OMPP_INTERVAL_WIDE;
    if (says_nothing(reported_low, reported_high, gain->gain)) return;
    gain->interval = OMPP_INTERVAL_KNOWN;
    gain->low = fmin(reported_low, gain->gain);
    gain->high = fmax(reported_high, gain->gain);
}

void ompp_whatif_spread_anew(double share, ompp_gain_t *gain)
{
    const double spread = share * gain->permille / 1000;

    if (gain->interval != OMPP_INTERVAL_KNOWN) return;
    gain->low = fmin(gain->low, spread);
    gain->high = fmax(gain->high, spread);
}

void ompp_whatif_still_passed(double passed, ompp_gain_t *gain)
{
    if (gain->interval == OMPP_INTERVAL_KNOWN && gain->permille) gain->low = fmin(gain->low, gain->gain - passed);
}

void ompp_whatif_ends_unsynchronised(const ompp_whatif_clock_t *clock, ompp_gain_t *gain)
{
    double units = 0;

    for (uint32_t i = 0; i < clock->nblocks; i++) units += clock->blocks[i].visits;
    if (gain->interval != OMPP_INTERVAL_KNOWN || units == 0) return;
    gain->low -= (double)clock->observations / units; /* blocks are experiments, joined where there are many */
    gain->high = fmin(gain->high + (double)clock->observations / units, 1);
    if (says_nothing(gain->low, gain->high, gain->gain)) gain->interval = OMPP_INTERVAL_UNSYNCHRONISED;
}

/* ---- Control ----------------------------------------------------------------------------------------------------- */

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

/* A block's time without its delays; or, faster, in the program with the faster region. */
static double time_of_block(const ompp_whatif_block_t *b, bool faster)
{
    return (double)b->time_ns - (faster ? (double)b->saved_ns : (double)b->paid_ns);
}

/* Mean time of a unit: of all, or of as many drawn ones. */
static double time_of_unit(const units_t *units, bool faster, uint64_t *random)
{
    double time = 0, visits = 0;

    for (unsigned i = 0; i < units->n; i++) {
        const ompp_whatif_block_t *b = units->blocks[random ? draw(random, units->n) : i];
        time += time_of_block(b, faster);
        visits += b->visits;
    }
    return visits > 0 ? time / visits : 0;
}

/* By what part a unit takes longer in some experiments than in those at 0 %, with its 95 % interval. */
typedef struct {
    double longer, low, high;
} excess_t;

/* Work of a unit, of who has told the blocks; 0 = not known. */
static double work_of_unit(const ompp_whatif_clock_t *clock)
{
    double work = 0, visits = 0;

    for (uint32_t i = 0; i < clock->nblocks; i++) {
        if (!clock->blocks[i].visits) continue;
        work += (double)clock->blocks[i].work_ns;
        visits += clock->blocks[i].visits;
    }
    return visits > 0 ? work / visits : 0;
}

/* Blocks may be those of one rank: together they have the work of the clock, of all ranks. */
static double work_of_all(const ompp_whatif_clock_t *clock)
{
    double reported = 0;

    for (uint32_t i = 0; i < clock->nblocks; i++) reported += (double)clock->blocks[i].work_ns;
    return reported > 0 ? (double)clock->work_ns / reported : 1;
}

/* \return what part of the run, as far as it has the region, is in units like these, by the work in them; 1 where that
 * is not known. */
static double part_in_units(const ompp_whatif_clock_t *clock, const units_t *without, double density)
{
    const double work = work_of_unit(clock) * work_of_all(clock);

    return work > 0 && density > 0 ? fmin(density * time_of_unit(without, false, NULL) / work, 1) : 1;
}

static double ratio(const units_t *with, const units_t *without, bool faster, uint64_t *random)
{
    const double base = time_of_unit(without, false, random);

    return base > 0 ? time_of_unit(with, faster, random) / base - 1 : 0;
}

/* Units that differ so much from each other are several kinds of them: which ones are in the others decides, not the
 * delays. */
static bool are_alike(const units_t *units, double limit)
{
    const double mean = time_of_unit(units, false, NULL);
    double squares = 0;

    for (unsigned i = 0; i < units->n; i++) {
        const double off = time_of_block(units->blocks[i], false) / units->blocks[i]->visits - mean;
        squares += off * off;
    }
    return sqrt(squares / units->n) <= limit * mean;
}

/* \return false when there are too few, or they are not alike. */
static bool compare_units(const units_t *with, const units_t *without, bool faster, excess_t *e)
{
    double drawn[RESAMPLES], low, high;
    uint64_t random = SEED;

    if (with->n < OMPP_WHATIF_ENOUGH || without->n < OMPP_WHATIF_ENOUGH || !are_alike(without, UNLIKE)) return false;
    e->longer = ratio(with, without, faster, NULL);
    for (unsigned i = 0; i < RESAMPLES; i++) drawn[i] = ratio(with, without, faster, &random);
    middle_of(drawn, &low, &high);
    const double wider = small_sample(with->n < without->n ? with->n : without->n);
    e->low = e->longer + wider * (low - e->longer);
    e->high = e->longer + wider * (high - e->longer);
    return true;
}

static void judge_control(const units_t *with, const units_t *without, ompp_whatif_control_t *c)
{
    excess_t e;

    c->interval = OMPP_INTERVAL_FEW;
    if (with->n < OMPP_WHATIF_ENOUGH || without->n < OMPP_WHATIF_ENOUGH) return;
    c->interval = OMPP_INTERVAL_WIDE;
    if (!are_alike(with, UNLIKE_CHECK) || !are_alike(without, UNLIKE_CHECK)) return;
    if (!compare_units(with, without, false, &e)) return;
    c->inflation = e.longer;
    c->low = e.low;
    c->high = e.high;
    c->interval = c->high - c->low > WIDE ? OMPP_INTERVAL_WIDE : OMPP_INTERVAL_KNOWN;
    c->disturbed = c->interval == OMPP_INTERVAL_KNOWN && (c->low > 0 || c->high < 0) && fabs(c->inflation) > DISTURBED;
}

/*
 * What an experiment would have taken without its delays, by its units, or where these are not known by its work: no
 * less than in the program with the faster region, no more than it did.
 */
static double time_by_units(const ompp_whatif_block_t *b, double work, double base)
{
    const double units = b->visits ? b->visits : work > 0 ? (double)b->work_ns / work : 0;

    return fmin(fmax(units * base, time_of_block(b, true)), (double)b->time_ns);
}

double ompp_whatif_excess(const ompp_whatif_clock_t *clock, const ompp_whatif_clock_t *control)
{
    const ompp_whatif_block_t *blocks[OMPP_WHATIF_BLOCKS];
    const double work = work_of_unit(clock);
    units_t without = {blocks, 0};
    double excess = 0;

    add_units(&without, control);
    if (without.n < COMPARABLE) return 0;
    const double base = time_of_unit(&without, false, NULL);
    for (uint32_t i = 0; i < clock->nblocks; i++)
        excess += time_of_block(&clock->blocks[i], false) - time_by_units(&clock->blocks[i], work, base);
    return excess;
}

bool ompp_whatif_by_control(const ompp_whatif_clock_t *clock, const ompp_whatif_clock_t *control, double density,
                            ompp_gain_t *gain)
{
    const ompp_whatif_block_t *blocks[2 * OMPP_WHATIF_BLOCKS];
    units_t with = {blocks, 0}, without = {blocks + OMPP_WHATIF_BLOCKS, 0};
    excess_t e;

    add_units(&with, clock);
    add_units(&without, control);
    const double part = part_in_units(clock, &without, density);
    const bool few = with.n < OMPP_WHATIF_ENOUGH || without.n < OMPP_WHATIF_ENOUGH;
    if (few && with.n >= COMPARABLE && without.n >= COMPARABLE && are_alike(&without, UNLIKE)) {
        /* better than by delays that have made another order */
        gain->gain = fmin(-ratio(&with, &without, true, NULL) * part, 1);
        gain->low = gain->high = gain->gain;
        gain->interval = OMPP_INTERVAL_FEW;
        gain->correction = part;
        gain->by_control = true;
    }
    if (!compare_units(&with, &without, true, &e) || says_nothing(e.low, e.high, e.longer)) return false;
    gain->gain = fmin(-e.longer * part, 1);
    gain->low = fmin(-e.high * part, 1);
    gain->high = fmin(-e.low * part, 1);
    gain->interval = OMPP_INTERVAL_KNOWN;
    gain->correction = part;
    gain->by_control = true;
    return true;
}

/* Gains of the program, from experiments that have the order of the program without delays. */
static bool is_judged(const ompp_whatif_region_t *r)
{
    return r->point == OMPP_NONE && !(r->flags & OMPP_WHATIF_F_BASELINE);
}

bool ompp_whatif_control(const ompp_whatif_t *w, ompp_whatif_control_t *c)
{
    const size_t most = (w->nregions * OMPP_WHATIF_SPEEDUPS + 1) * OMPP_WHATIF_BLOCKS;
    units_t with = {calloc(most, sizeof *with.blocks), 0},
            without = {calloc(OMPP_WHATIF_BLOCKS, sizeof *without.blocks), 0};

    *c = (ompp_whatif_control_t){.experiments = w->control.observations, .interval = OMPP_INTERVAL_FEW};
    if (with.blocks && without.blocks) {
        add_units(&without, &w->control);
        for (size_t i = 0; i < w->nregions; i++)
            for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
                if (is_judged(&w->regions[i])) add_units(&with, &w->regions[i].clocks[k]);
        for (size_t i = 0; i < w->nregions; i++)
            c->compared = c->compared || w->regions[i].flags & OMPP_WHATIF_F_BASELINE;
        c->compared = c->compared && without.n >= OMPP_WHATIF_ENOUGH;
        c->units = without.n > 0;
        c->others = with.n > 0;
        judge_control(&with, &without, c);
    }
    free(with.blocks);
    free(without.blocks);
    return c->experiments > 0;
}
