/**
 * \file
 * Section ompp Ideal: what the run would gain if one thing were ideal, as far as its profile says it.
 */
#include "report/ompp_text_priv.h"

#include "analysis/ompp_ideal.h"

#include <stdlib.h>
#include <string.h>

#define TINY 3u      /* regions that are named */
#define LEAST 0.0005 /* of the run, that such a region takes at least */

static const char *const reasons[OMPP_IDEAL_WHY_NUM] = {
    [OMPP_IDEAL_NO_CLOCKS] = "OMPP_EFFICIENCY=full tells more",
    [OMPP_IDEAL_OWN_COST] = "measuring took too much of the time: it may be anything",
    [OMPP_IDEAL_VAGUE] = "threads wait for the barrier itself, or for one after the other: the gain may be anything",
};

static void put_range(const ompp_text_t *t, const ompp_gain_range_t *gain)
{
    char low[16], high[16];

    snprintf(low, sizeof low, "%.1f", 100 * gain->low);
    snprintf(high, sizeof high, "%.1f", 100 * gain->high);
    if (strcmp(low, high) == 0) fprintf(t->out, "        %5s %%  ", high);
    else fprintf(t->out, "%5s - %5s %%  ", low, high);
}

/* Those that are not determined for one reason. What clocks tell is said where it is only them that lack. */
static void put_unknown(const ompp_text_t *t, const ompp_gain_range_t *gains, ompp_ideal_why_t why)
{
    const char *between = "not determined: ";
    bool tells = why != OMPP_IDEAL_NO_CLOCKS;

    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++) {
        if (gains[i].known || !gains[i].applies || gains[i].why != why) continue;
        fprintf(t->out, "%s%s", between, ompp_ideal_rows[i].name);
        between = ", ";
        tells |= t->profile->whatif.mode == OMPP_WHATIF_OFF && (i == OMPP_IDEAL_LOCKS || i == OMPP_IDEAL_NETWORK);
    }
    if (*between == ',') fprintf(t->out, tells ? " (%s)\n" : "\n", reasons[why]);
}

static void put_locks(const ompp_text_t *t, const ompp_gain_range_t *all)
{
    ompp_lock_gain_t locks[OMPP_IDEAL_NLOCKS];
    const size_t n = ompp_analysis_ideal_locks(t->profile, all, locks);

    for (size_t i = 0; i < n; i++) {
        char *subject = ompp_text_subject(t, locks[i].region);
        put_range(t, &locks[i].gain);
        fprintf(t->out, "without the lock of %s\n", subject ? subject : "");
        free(subject);
    }
}

static void put_gains(const ompp_text_t *t, const ompp_gain_range_t *gains)
{
    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++) {
        if (!gains[i].known || !gains[i].applies) continue;
        put_range(t, &gains[i]);
        fprintf(t->out, "%s\n                 (assumes: %s)\n", ompp_ideal_rows[i].text, ompp_ideal_rows[i].assumes);
        if (i == OMPP_IDEAL_LOCKS) put_locks(t, &gains[i]);
    }
    for (unsigned why = 0; why < OMPP_IDEAL_WHY_NUM; why++) put_unknown(t, gains, (ompp_ideal_why_t)why);
}

int ompp_text_ideal(ompp_text_t *t)
{
    ompp_gain_range_t gains[OMPP_IDEAL_NUM];
    ompp_tiny_t *tiny;
    size_t n;
    const int rc = ompp_analysis_ideal(t->profile, t->paths, gains, &tiny, &n);
    bool any = n > 0;

    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++)
        any |= gains[i].applies && (gains[i].known || gains[i].why != OMPP_IDEAL_NO_CLOCKS);
    if (rc == 0 && any && t->nslots > 1) {
        ompp_layout_title(t->out, "ompp Ideal");
        fputs("What the run would gain, by its profile, if one thing were ideal and all else as it was:\n", t->out);
        ompp_text_cautions(t);
        put_gains(t, gains);
        for (size_t i = 0; i < n && i < TINY && tiny[i].share >= LEAST; i++) {
            char *subject = ompp_text_subject(t, tiny[i].region);
            fprintf(t->out,
                    "%.0f %% of %s (%.1f %% of the run) is fork, join and barriers: one thread, without the directive, "
                    "gains %.1f - %.1f %% of the run (if(0) less)\n",
                    100 * tiny[i].cost, subject ? subject : "", 100 * tiny[i].share, 100 * tiny[i].low,
                    100 * tiny[i].high);
            free(subject);
        }
        putc('\n', t->out);
    }
    free(tiny);
    return rc;
}
