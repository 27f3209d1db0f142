/*
 * Turns that end where threads do not meet. Threads go on with what they have saved; when they meet, the one that has
 * saved least decides. Until then the sums of all turns since they met last are compared, as if they met now. Turns are
 * short, and threads that do the same work differ in them by chance. As long as a thread is not further behind than
 * that explains, the mean counts.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include <string.h>

#define SPEEDUPS OMPP_WHATIF_SPEEDUPS
#define CHANCE 2.0 /* standard deviations */

/* Under the lock of the results. */
static struct {
    bool on;                                       /* the turn that ends does so where threads do not meet */
    uint64_t at_work;                              /* which threads are */
    ompp_time_t opportunity;                       /* they met last */
    ompp_fine_t told[OMPP_CAUSAL_KNOWN][SPEEDUPS]; /* of the sums, by regions */
} carry;

static uint64_t workers(void)
{
    uint64_t sum = 0;

    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next)
        if (ompp_causal_works(p)) sum += (uint64_t)(uintptr_t)p;
    return sum;
}

void ompp_causal_carry_begin(bool anywhere)
{
    const uint64_t at_work = anywhere ? workers() : 0;
    const ompp_time_t opportunity = atomic_load(&ompp_causal.opportunity);

    carry.on = at_work != 0;
    if (at_work == carry.at_work && (!at_work || opportunity == carry.opportunity)) return;
    carry.at_work = at_work;
    carry.opportunity = opportunity;
    memset(carry.told, 0, sizeof carry.told);
    for (ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next)
        memset(p->carried, 0, sizeof p->carried);
}

void ompp_causal_carry_end(void) { carry.on = false; }

/* Adds what each has saved in the turn that ends. \return the mean of the sums. */
static ompp_fine_t add_saved(unsigned slot, unsigned k, int known, ompp_time_t t)
{
    const unsigned clock = slot * SPEEDUPS + k;
    ompp_fine_t turn = 0, all = 0;
    unsigned n = 0;

    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) {
        if (!ompp_causal_works(p)) continue;
        turn += ompp_causal_saved(p, clock, t);
        n++;
    }
    for (ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p && n; p = p->next) {
        if (!ompp_causal_works(p)) continue;
        const ompp_fine_t saved = ompp_causal_saved(p, clock, t), apart = (saved - turn / n) / OMPP_FINE;
        p->carried[known][k].sum += saved;
        p->carried[known][k].squares += (float)(apart * apart);
        all += p->carried[known][k].sum;
    }
    return n ? all / n : 0;
}

/* Whether the thread has saved less than the mean, and that is no chance. */
static bool lags(const ompp_causal_thread_t *p, int known, unsigned k, ompp_fine_t mean)
{
    const ompp_fine_t less = (mean - p->carried[known][k].sum) / OMPP_FINE;

    return less > 0 && less * less > CHANCE * CHANCE * (double)p->carried[known][k].squares;
}

ompp_fine_t ompp_causal_carry_saved(const ompp_causal_thread_t *self, unsigned slot, unsigned k, ompp_time_t t)
{
    const int known = ompp_causal_known(slot);

    if (!carry.on || known < 0) return ompp_clocks_offset(&ompp_causal.rule, &self->clocks, slot * SPEEDUPS + k);
    const ompp_fine_t mean = add_saved(slot, k, known, t);
    ompp_fine_t sum = mean;
    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next)
        if (ompp_causal_works(p) && lags(p, known, k, mean) && p->carried[known][k].sum < sum)
            sum = p->carried[known][k].sum;
    const ompp_fine_t more = sum - carry.told[known][k];
    carry.told[known][k] = sum;
    return more;
}
