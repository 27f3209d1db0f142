/**
 * \file
 * Section ompp Summary: what the run was, where its time went, what to look at first. At most 15 lines of 80 columns.
 */
#define _GNU_SOURCE /* fmemopen */
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_outline.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_sample_sums.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 3u      /* losses that are named */
#define LEAST_PART 0.01 /* of the thread time, that a loss has at least */

static void put_part(const ompp_text_t *t, uint64_t ns, uint64_t all, const char *what)
{
    fprintf(t->out, "%8s sec %5.1f %%  %s\n", ompp_text_seconds_digits(ns, 2).text, 100 * (double)ns / (double)all,
            what);
}

static void put_openmp(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    const double all = (double)e->thread_ns;
    const uint64_t imbalance = e->class_ns[OMPP_CLASS_IMBAL] + e->class_ns[OMPP_CLASS_LIMPAR],
                   sum = imbalance + e->class_ns[OMPP_CLASS_SYNCH] + e->class_ns[OMPP_CLASS_MGMT];
    char text[120];

    if (!sum) return;
    snprintf(text, sizeof text, "OpenMP: imbalance %.1f, synchronising %.1f, management %.1f", 100 * imbalance / all,
             100 * e->class_ns[OMPP_CLASS_SYNCH] / all, 100 * e->class_ns[OMPP_CLASS_MGMT] / all);
    put_part(t, sum, e->thread_ns, text);
}

static void put_parts(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    const bool several = t->profile->nranks > 1;

    fprintf(t->out, "%s sec", ompp_text_seconds_digits(t->duration_ns, 2).text);
    if (several) fprintf(t->out, ", %" PRIu32 " ranks", t->profile->nranks);
    fprintf(t->out, ", %" PRIu64 " thread%s: %s sec of thread time\n", e->nthreads, e->nthreads > 1 ? "s" : "",
            ompp_text_seconds_digits(e->thread_ns, 2).text);
    put_part(t, e->useful_ns, e->thread_ns, "work");
    put_openmp(t, e);
    if (e->class_ns[OMPP_CLASS_MPI]) put_part(t, e->class_ns[OMPP_CLASS_MPI], e->thread_ns, "MPI");
    if (e->idle_ns > e->thread_ns / 1000)
        put_part(t, e->idle_ns, e->thread_ns,
                 several ? "idle: others work alone, or the rank has ended" : "idle: others work alone");
    if (e->nthreads > 1)
        fprintf(t->out, "Parallel efficiency %.2f = load balance %.2f x communication efficiency %.2f\n",
                e->all.parallel, e->all.balance, e->all.communication);
}

static int put_losses(ompp_text_t *t)
{
    ompp_finding_t *findings;
    const double basis = ompp_analysis_basis(t->profile);
    size_t n, k = 0;

    if (ompp_analysis_properties(t->profile, t->paths, &findings, &n) != 0) return -OMPP_E_NOMEM;
    for (; k < n && k < LARGEST && (double)findings[k].lost_ns >= LEAST_PART * basis; k++) {
        char *subject = ompp_text_subject(t, findings[k].region);
        if (k == 0) fputs("Largest losses:\n", t->out);
        fprintf(t->out, "%8s sec %5.1f %%  %s\n%21s%s\n", ompp_text_seconds_digits(findings[k].lost_ns, 2).text,
                100 * (double)findings[k].lost_ns / basis, ompp_properties[findings[k].property].name, "",
                subject ? subject : "");
        free(subject);
    }
    free(findings);
    return 0;
}

static int put_hottest(const ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_samples_t samples;

    if (ompp_samples_init(&samples, profile) != 0) return -OMPP_E_NOMEM;
    size_t f = 0;
    while (f < samples.nfunctions &&
           ompp_code_owner(profile, &profile->regions[samples.functions[f].index]) != OMPP_CODE_PROGRAM)
        f++;
    if (f < samples.nfunctions && samples.functions[f].own_ns) {
        const ompp_region_t *r = &profile->regions[samples.functions[f].index];
        char *name = ompp_text_printable(ompp_profile_text(profile, r->name), false);
        const char *file = ompp_path_last(ompp_profile_text(profile, r->file));
        const double own = 100 * (double)samples.functions[f].own_ns / (double)samples.total_ns;
        const double all = 100 * (double)samples.functions[f].all_ns / (double)samples.total_ns;
        fprintf(t->out, "Hottest function of the program: %.40s%s%s, %.1f %% of the processor time\n",
                name && *name ? name : "one without a name", *file ? " in " : "", file, own);
        if (all - own > 1) fprintf(t->out, "  (%.1f %% with what it calls)\n", all);
        free(name);
    }
    ompp_samples_fini(&samples);
    return 0;
}

static bool has_parallel(const ompp_text_t *t)
{
    for (size_t i = 0; i < t->nexecuted; i++)
        if (ompp_construct_forks(t->profile->regions[t->regions[i]].construct)) return true;
    return false;
}

static int put_lines(ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_efficiency_t *all;
    size_t n;

    if (ompp_analysis_efficiency(t->profile, t->paths, &all, &n, NULL, NULL) != 0) return -OMPP_E_NOMEM;
    if (n) put_parts(t, all);
    free(all);
    if (t->profile->mpi && !has_parallel(t))
        fputs("No parallel region: sections on OpenMP are empty. MPI stands in the callgraph.\n", t->out);
    const int rc = put_losses(t);
    return rc == 0 ? put_hottest(t, profile) : rc;
}

int ompp_text_summary(ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_layout_title(t->out, "ompp Summary");
    const int rc = put_lines(t, profile);
    putc('\n', t->out);
    return rc;
}

int ompp_report_summary(const ompp_profile_t *profile, char *text, size_t size)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, true);
    ompp_text_t t = {.out = fmemopen(text, size, "w"), .profile = outline, .digits = OMPP_REPORT_DIGITS};
    /* as in ompp_report_text() */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), saved = plain ? uselocale(plain) : (locale_t)0;
    int rc = -OMPP_E_NOMEM;

    *text = '\0';
    if (outline && t.out) {
        rc = ompp_text_prepare(&t);
        if (rc == 0) rc = put_lines(&t, profile);
        ompp_text_release(&t);
    }
    if (t.out) fclose(t.out);
    text[size - 1] = '\0';
    ompp_outline_free(outline, profile);
    if (plain) {
        uselocale(saved);
        freelocale(plain);
    }
    return rc;
}
