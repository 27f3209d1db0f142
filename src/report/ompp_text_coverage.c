/**
 * \file
 * What was not measured, or not as it should be: section ompp Coverage, and the cautions before what advises by times.
 */
#define _GNU_SOURCE /* fmemopen */
#include "report/ompp_text_priv.h"

#include "analysis/ompp_properties.h"

#include <inttypes.h>
#include <string.h>

#define SHORT 71 /* columns of a caution in the summary */

/* Fills the text of ompp_coverage.def: %s subject, %r reason, %n count, %p count as thousandths in percent, %m that
 * in the mean of the ranks that say it, %c count as ms in seconds, [only with a reason]. */
static void coverage_words(ompp_text_t *t, const ompp_coverage_t *c)
{
    const char *reason = ompp_profile_text(t->profile, c->reason);
    bool skip = false;

    for (const char *f = ompp_coverage_rows[c->kind].text; *f; f++) {
        if (*f == '[') skip = !*reason;
        if (*f == ']') skip = false;
        if (skip || *f == '[' || *f == ']') continue;
        if (*f != '%') {
            putc(*f, t->out);
        } else if (*++f == 's') {
            ompp_text_put(t, ompp_profile_text(t->profile, c->subject));
        } else if (*f == 'r') {
            ompp_text_put(t, reason);
        } else if (*f == 'p' || *f == 'm') {
            const uint64_t permille = *f == 'm' ? ompp_text_mean(c->count, c->nranks ? c->nranks : 1) : c->count;
            fprintf(t->out, "%" PRIu64 ".%" PRIu64 " %%", permille / 10, permille % 10);
        } else if (*f == 'c') {
            fputs(ompp_text_seconds_digits(c->count * 1000000u, 2).text, t->out);
        } else {
            fprintf(t->out, "%" PRIu64, c->count);
        }
    }
    if (t->nranks < 2 || !c->nranks || c->nranks >= t->nranks) return;
    if (c->first_rank == OMPP_NONE) fprintf(t->out, " [%" PRIu32 " of %" PRIu64 " ranks]", c->nranks, t->nranks);
    else if (c->nranks == 1) fprintf(t->out, " [rank %" PRIu32 " of %" PRIu64 "]", c->first_rank, t->nranks);
    else fprintf(t->out, " [%" PRIu32 " of %" PRIu64 " ranks, first %" PRIu32 "]", c->nranks, t->nranks, c->first_rank);
}

/* The first line of a kind that says so. */
static bool is_caution(const ompp_text_t *t, size_t line)
{
    const ompp_coverage_t *all = t->profile->coverage;

    if (ompp_coverage_rows[all[line].kind].weight != OMPP_WEIGHT_TIMES) return false;
    for (size_t i = 0; i < line; i++)
        if (all[i].kind == all[line].kind) return false;
    return true;
}

static bool is_own(const ompp_coverage_t *c)
{
    return c->kind == OMPP_COVERAGE_OWN_MUCH || c->kind == OMPP_COVERAGE_OWN_SAMPLED;
}

/* Our own part of the blame comes first. */
void ompp_text_cautions(ompp_text_t *t)
{
    for (size_t k = 0; k < 2 * t->profile->ncoverage; k++) {
        const size_t i = k % t->profile->ncoverage;
        const bool own = is_own(&t->profile->coverage[i]);
        if (!is_caution(t, i) || own != (k < t->profile->ncoverage)) continue;
        fputs("Caution: ", t->out);
        coverage_words(t, &t->profile->coverage[i]);
        fputs(" (more in ompp Coverage, and in docs/report.md)\n", t->out);
    }
}

size_t ompp_text_short_cautions(ompp_text_t *t)
{
    FILE *const out = t->out;
    size_t lines = 0;

    for (size_t i = 0; i < t->profile->ncoverage; i++) {
        char text[400] = "";
        if (!is_caution(t, i) || !(t->out = fmemopen(text, sizeof text, "w"))) continue;
        coverage_words(t, &t->profile->coverage[i]);
        fclose(t->out);
        text[sizeof text - 1] = '\0';
        text[strcspn(text, ":;")] = '\0';
        for (char *cut = text + strlen(text); strlen(text) > SHORT && cut > text; cut--)
            if (*cut == ' ') *cut = '\0'; /* what is left out is in Coverage */
        char *open = strrchr(text, '(');
        if (open && open > text && !strchr(open, ')')) open[-(open[-1] == ' ')] = '\0';
        fprintf(out, "Caution: %.*s\n", SHORT, text);
        lines++;
    }
    t->out = out;
    return lines;
}

/* Losses are without what measuring took: one that is twice as much is the program's. */
static bool is_above_own(const ompp_text_t *t, const ompp_coverage_t *own, uint64_t lost_ns)
{
    return (double)lost_ns >= 2 * (double)own->count / 1000 * ompp_analysis_basis(t->profile);
}

char *ompp_text_remedy(const ompp_text_t *t, uint64_t lost_ns, const char *advice)
{
    const char *mend = NULL; /* the reason for which threads wait for processors */
    bool waits = false, own = false, others = false;
    char *text = NULL;

    for (size_t i = 0; i < t->profile->ncoverage; i++) {
        const ompp_coverage_t *c = &t->profile->coverage[i];
        if (!is_caution(t, i)) continue;
        if (c->kind == OMPP_COVERAGE_SHARED && !mend) mend = ompp_profile_text(t->profile, c->reason);
        if (c->kind == OMPP_COVERAGE_CPU_WAIT || c->kind == OMPP_COVERAGE_SHARED) waits = true;
        else if (!is_own(c)) others = true;
        else if (!is_above_own(t, c, lost_ns)) own = true;
    }
    if (!waits && !own && !others) return NULL;
    if (others) return strdup("Remove what the caution names (see section ompp Coverage), and measure again.");
    if (!waits)
        return asprintf(&text, "Measuring may explain this (see section ompp Caution). %s%s",
                        strstr(advice, "Else: ") ? "" : "Else: ", advice) < 0
                   ? NULL
                   : text;
    if (mend && *mend)
        return asprintf(&text, "Measure again with a processor for each thread: %s.", mend) < 0 ? NULL : text;
    return strdup(
        "Measure again with a processor for each thread: fewer threads, and no other programs on this machine.");
}

/* A section of its own: programs that read ompP's reports know each line of the overheads, and leave out sections that
 * they do not. */
void ompp_text_caution_section(ompp_text_t *t)
{
    for (size_t i = 0; i < t->profile->ncoverage; i++) {
        if (!is_caution(t, i)) continue;
        ompp_layout_title(t->out, "ompp Caution");
        ompp_text_cautions(t);
        putc('\n', t->out);
        return;
    }
}

/* ompP's sections divide by different times, and have no room to say so. */
static void percentages(ompp_text_t *t)
{
    const uint64_t all = t->duration_ns * t->nslots;

    fprintf(t->out, "%% of thread time (%s sec, %" PRIu64 " threads): callgraph, 'whole program', properties\n",
            ompp_text_seconds(t, all).text, t->nslots);
    fprintf(t->out,
            "%% of wallclock (%s sec): 'Parallel coverage', 'sorted by wallclock time'\n"
            "%% of a region's own thread time: 'each individual parallel region'\n",
            ompp_text_seconds(t, t->duration_ns).text);
}

/* What a function takes itself is not measured, but sampled. */
static void functions(const ompp_text_t *t)
{
    for (size_t n = 1; n < t->profile->nnodes; n++) {
        if (t->profile->regions[t->profile->nodes[n].region].construct != OMPP_CONSTRUCT_FUNCTION) continue;
        fputs("FUNCTION rows: time and executions of the regions below; of functions: ompp Samples\n", t->out);
        return;
    }
}

void ompp_text_coverage(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    char folded[300];

    ompp_layout_title(t->out, "ompp Coverage");
    if (!p->ncoverage && !t->refused && !t->folded.regions && !t->folded.nodes)
        fputs("everything was measured\n", t->out);
    for (uint32_t kind = 0; kind < OMPP_COVERAGE_NUM; kind++) {
        for (size_t i = 0; i < p->ncoverage; i++)
            if (p->coverage[i].kind == kind) {
                coverage_words(t, &p->coverage[i]);
                putc('\n', t->out);
            }
        if (kind == OMPP_COVERAGE_OUTSIDE && t->nslots > 1) percentages(t);
        if (kind == OMPP_COVERAGE_OUTSIDE) functions(t);
        if (kind == OMPP_COVERAGE_OUTSIDE && t->ncounters)
            fputs("counters have a dot between groups of three digits, as in ompP's reports: 1.953 is 1953\n", t->out);
        /* expressions are the report's matter */
        if (kind == OMPP_COVERAGE_REFUSED && t->refused) fputs(t->refused, t->out);
    }
    if (ompp_text_folded(t, folded, sizeof folded)) fprintf(t->out, "%s\n", folded);
    putc('\n', t->out);
}
