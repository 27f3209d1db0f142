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

static void put_gains(const ompp_text_t *t, const ompp_gain_range_t *gains)
{
    const char *between = "not determined: ";
    bool by_clocks = false;

    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++) {
        char low[16], high[16];
        if (!gains[i].known) continue;
        snprintf(low, sizeof low, "%.1f", 100 * gains[i].low);
        snprintf(high, sizeof high, "%.1f", 100 * gains[i].high);
        if (strcmp(low, high) == 0) fprintf(t->out, "        %5s %%  ", high);
        else fprintf(t->out, "%5s - %5s %%  ", low, high);
        fprintf(t->out, "%s\n                 (assumes: %s)\n", ompp_ideal_rows[i].text, ompp_ideal_rows[i].assumes);
    }
    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++) {
        if (gains[i].known || !gains[i].applies) continue;
        fprintf(t->out, "%s%s", between, ompp_ideal_rows[i].name);
        between = ", ";
        by_clocks |= i == OMPP_IDEAL_LOCKS || i == OMPP_IDEAL_NETWORK;
    }
    if (by_clocks && t->profile->whatif.mode == OMPP_WHATIF_OFF) fputs(" (OMPP_EFFICIENCY=full tells more)", t->out);
    if (*between == ',') putc('\n', t->out);
}

int ompp_text_ideal(ompp_text_t *t)
{
    ompp_gain_range_t gains[OMPP_IDEAL_NUM];
    ompp_tiny_t *tiny;
    size_t n;
    const int rc = ompp_analysis_ideal(t->profile, t->paths, gains, &tiny, &n);
    bool any = n > 0;

    for (unsigned i = 0; i < OMPP_IDEAL_NUM; i++) any |= gains[i].known;
    if (rc == 0 && any && t->nslots > 1) {
        ompp_layout_title(t->out, "ompp Ideal");
        fputs("What the run would gain, by its profile, if one thing were ideal and all else as it was:\n", t->out);
        ompp_text_cautions(t);
        put_gains(t, gains);
        for (size_t i = 0; i < n && i < TINY && tiny[i].share >= LEAST; i++) {
            char *subject = ompp_text_subject(t, tiny[i].region);
            fprintf(t->out, "%.0f %% of %s (%.1f %% of the run) is fork, join and barriers: let one thread do it\n",
                    100 * tiny[i].cost, subject ? subject : "", 100 * tiny[i].share);
            free(subject);
        }
        putc('\n', t->out);
    }
    free(tiny);
    return rc;
}
