/**
 * \file
 * Why gains of section ompp What-if may be off.
 */
#include "report/ompp_text_whatif_priv.h"

#include <math.h>

/* The flags that have this warning. */
static unsigned flags_of(unsigned warning)
{
    unsigned flags = 0;

    for (unsigned i = 0; i < OMPP_WHATIF_FLAG_NUM; i++)
        if (ompp_whatif_flags[i].warning == warning) flags |= 1u << i;
    return flags;
}

void ompp_text_whatif_warnings(ompp_text_t *t, const ompp_whatif_result_t *r)
{
    const char *between = "  ";

    for (unsigned w = 0; w < OMPP_WHATIF_WARNING_NUM; w++) {
        if (!(r->flags & flags_of(w))) continue;
        fprintf(t->out, "%s%s", between, ompp_whatif_warnings[w].name);
        between = ",";
    }
    if (r->contention) fprintf(t->out, "%scontention", between);
    putc('\n', t->out);
}

/* With the names that XML has, which docs/causal-method.md explains. */
static void print_meaning(ompp_text_t *t, unsigned warning, unsigned flags)
{
    const char *between = " (";

    fprintf(t->out, "     %-15s%s", ompp_whatif_warnings[warning].name, ompp_whatif_warnings[warning].sentence);
    for (unsigned i = 0; i < OMPP_WHATIF_FLAG_NUM; i++) {
        if (!(flags & flags_of(warning) & 1u << i)) continue;
        fprintf(t->out, "%s%s", between, ompp_whatif_flags[i].name);
        between = ", ";
    }
    fputs(")\n", t->out);
}

void ompp_text_whatif_meanings(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    unsigned flags = 0;
    bool corrected = false;

    for (size_t i = 0; i < n; i++) {
        flags |= results[i].flags;
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
            corrected = corrected || (results[i].gains[k].permille && fabs(results[i].gains[k].correction - 1) > 0.01);
    }
    if (flags) fputs("Flags: why a gain may be off, and what to do.\n", t->out);
    for (unsigned w = 0; w < OMPP_WHATIF_WARNING_NUM; w++)
        if (flags & flags_of(w)) print_meaning(t, w, flags);
    if (corrected)
        fputs("Gains of regions that were followed for a part of the run are corrected for how much they ran in the "
              "rest of it.\n",
              t->out);
    if (flags || corrected) putc('\n', t->out);
}
