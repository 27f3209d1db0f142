/**
 * \file
 * Section ompp Efficiency: how much of the thread time is work, of the run and of the largest user regions, and to what
 * the rest is lost. At most 15 lines.
 */
#include "report/ompp_text_priv.h"

#include "analysis/ompp_efficiency.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS = 3, LOSSES = 5 }; /* that have a line */

/* ---- Efficiencies ------------------------------------------------------------------------------------------------ */

static void put_pop(const ompp_text_t *t, const ompp_pop_t *pop)
{
    fprintf(t->out, "%.2f = %.2f x %.2f   ", pop->parallel, pop->balance, pop->communication);
}

/* Ranks of one thread each, and nothing is lost to OpenMP. */
static bool is_without(const ompp_efficiency_t *e) { return e->nthreads <= e->nranks && e->openmp.parallel >= 0.995; }

static void put_none(const ompp_text_t *t) { fprintf(t->out, "%-*s", (int)strlen("0.00 = 0.00 x 0.00   "), "-"); }

static void put_line(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    char *subject = e->region == OMPP_NONE ? NULL : ompp_text_subject(t, e->region);

    put_pop(t, &e->all);
    if (t->profile->mpi) {
        put_pop(t, &e->mpi);
        if (is_without(e)) put_none(t);
        else put_pop(t, &e->openmp);
    }
    fprintf(t->out, "%s\n", e->region == OMPP_NONE ? "the run" : subject ? subject : "");
    free(subject);
}

static void put_quotient(const ompp_text_t *t, const ompp_pop_t *pop)
{
    fprintf(t->out, "%.2f = %.2f x %.2f   ", pop->communication, pop->serialisation, pop->transfer);
}

/* Of the run, by ideal clocks. */
static void put_division(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    if (e->all.transfer <= 0) return;
    put_quotient(t, &e->all);
    if (t->profile->mpi) {
        put_quotient(t, &e->mpi);
        if (is_without(e)) put_none(t);
        else put_quotient(t, &e->openmp);
    }
    fputs("communication = serialisation x transfer", t->out);
    if (e->is_estimate && e->all.high > 0) fprintf(t->out, " (estimate: %.2f - %.2f)", e->all.low, e->all.high);
    else if (e->is_estimate) fputs(" (estimate, interval not known)", t->out);
    putc('\n', t->out);
}

/* As large as it is printed, so that the parts make up the whole as they are printed, too. */
static double rounded(double part) { return (double)(int64_t)(1e4 * part + (part < 0 ? -0.5 : 0.5)) / 1e4; }

/* The additive form: parts of 1, which add up to what is lost. */
static void put_additive(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    const double all = rounded(1 - e->all.parallel), mpi = rounded(1 - e->mpi.parallel),
                 moving = rounded(1 - e->mpi.communication);

    fprintf(t->out, "Additive: lost %.4f of 1 =", all);
    if (t->profile->mpi)
        fprintf(t->out, " MPI %.4f (load balance %.4f, communication %.4f) +", mpi, rounded(mpi - moving), moving);
    fprintf(t->out, " OpenMP %.4f", rounded(all - mpi));
    if (e->measuring_ns)
        fprintf(t->out, " (of the rest, measuring took about %.4f)", (double)e->measuring_ns / (double)e->thread_ns);
    putc('\n', t->out);
}

/* ---- Losses ------------------------------------------------------------------------------------------------------ */

static bool is_rank(const ompp_loss_t *loss)
{
    return loss->region == OMPP_NONE && loss->lost == OMPP_LOST_ENDED; /* a line for each rank */
}

static int by_region(const void *a, const void *b)
{
    const ompp_loss_t *x = a, *y = b;

    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    if (x->lost != y->lost) return x->lost < y->lost ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Of one region what it loses to one thing is one line, on whichever call path it is. */
static size_t join(ompp_loss_t *losses, size_t n)
{
    size_t joined = 0;

    if (n) qsort(losses, n, sizeof *losses, by_region);
    for (size_t i = 0; i < n;) {
        ompp_loss_t line = losses[i];
        uint64_t of_rank = 0; /* of the rank that is being looked at */
        line.lost_ns = line.rank_ns = 0;
        do {
            of_rank = (of_rank && losses[i].rank == losses[i - 1].rank ? of_rank : 0) + losses[i].rank_ns;
            line.lost_ns += losses[i].lost_ns;
            if (of_rank > line.rank_ns) line.rank = losses[i].rank, line.rank_ns = of_rank;
            i++;
        } while (i < n && !is_rank(&line) && losses[i].region == line.region && losses[i].lost == line.lost);
        losses[joined++] = line;
    }
    return joined;
}

/* In hundredths of a percent. What is printed adds up: each line ends where the next one begins. */
typedef struct {
    const ompp_text_t *t;
    uint64_t all, before; /* thread time; of the lines before */
} sum_t;

static uint64_t hundredths(uint64_t ns, uint64_t all) { return (uint64_t)(1e4 * (double)ns / (double)all + 0.5); }

static void put_share(sum_t *sum, uint64_t ns)
{
    const uint64_t share = hundredths(sum->before + ns, sum->all) - hundredths(sum->before, sum->all);

    sum->before += ns;
    fprintf(sum->t->out, "%8s sec %3" PRIu64 ".%02" PRIu64 " %%  ", ompp_text_seconds_digits(ns, 2).text, share / 100,
            share % 100);
}

static void put_loss(sum_t *sum, const ompp_loss_t *loss)
{
    const ompp_text_t *t = sum->t;

    put_share(sum, loss->lost_ns);
    fputs(ompp_lost_rows[loss->lost].text, t->out);
    if (loss->region != OMPP_NONE) {
        char *subject = ompp_text_subject(t, loss->region);
        fprintf(t->out, ": %s", subject ? subject : "");
        free(subject);
    } else if (loss->lost == OMPP_LOST_SERIAL) {
        fputs(", outside of regions", t->out);
    }
    if (t->nranks > 1 && loss->rank != OMPP_NONE) {
        if (loss->lost == OMPP_LOST_ENDED) fprintf(t->out, ": rank %" PRIu32, loss->rank);
        else fprintf(t->out, ", most on rank %" PRIu32, loss->rank);
    }
    putc('\n', t->out);
}

static int largest_first(const void *a, const void *b)
{
    const ompp_loss_t *x = a, *y = b;

    if (x->lost_ns != y->lost_ns) return x->lost_ns > y->lost_ns ? -1 : 1;
    return x->region != y->region ? x->region < y->region ? -1 : 1 : x->lost < y->lost ? -1 : x->lost > y->lost;
}

static void put_losses(const ompp_text_t *t, const ompp_efficiency_t *e, ompp_loss_t *losses, size_t n)
{
    const uint64_t lost = e->thread_ns - e->useful_ns, share = hundredths(lost, e->thread_ns);
    sum_t sum = {t, e->thread_ns, 0};

    n = join(losses, n);
    if (n) qsort(losses, n, sizeof *losses, largest_first);
    fprintf(t->out, "Loss budget: %s sec of %s sec thread time, %" PRIu64 ".%02" PRIu64 " %%:\n",
            ompp_text_seconds_digits(lost, 2).text, ompp_text_seconds_digits(e->thread_ns, 2).text, share / 100,
            share % 100);
    const size_t shown = n <= LOSSES + 1 ? n : LOSSES;
    for (size_t i = 0; i < shown; i++) put_loss(&sum, &losses[i]);
    if (shown == n) return;
    put_share(&sum, lost - sum.before);
    fprintf(t->out, "%zu smaller ones (all in CSV and XML)\n", n - shown);
}

int ompp_text_efficiency(ompp_text_t *t)
{
    ompp_efficiency_t *all;
    ompp_loss_t *losses;
    size_t n, nlosses;
    const int rc = ompp_analysis_efficiency(t->profile, t->paths, &all, &n, &losses, &nlosses);

    if (rc || !n || all[0].nthreads < 2) {
        free(all);
        free(losses);
        return rc;
    }
    ompp_layout_title(t->out, "ompp Efficiency");
    fprintf(t->out, "Parallel efficiency = load balance x communication efficiency (POP, multiplicative)%s\n",
            t->profile->mpi ? "; all = MPI x OpenMP" : "");
    if (t->profile->mpi) fputs("all                  MPI                  OpenMP\n", t->out);
    for (size_t i = 0; i < n && i < REGIONS + 1; i++) put_line(t, &all[i]);
    put_division(t, &all[0]);
    put_additive(t, &all[0]);
    put_losses(t, &all[0], losses, nlosses);
    putc('\n', t->out);
    free(all);
    free(losses);
    return 0;
}
