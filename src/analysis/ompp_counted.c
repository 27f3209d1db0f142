/*
 * What Coverage says of counts: what back ends have lost, where the counts of a program without parallel regions are,
 * and which bytes of messages are those that a call had room for.
 */
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_idle.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_sample_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ASLEEP 0.05 /* of the thread time: worth a line */
#define MUCH 0.01   /* of the thread time: what counting may take before times are others than those of the program */

static uint64_t sum_of(const ompp_profile_t *profile, const ompp_metric_t *m)
{
    uint64_t sum = 0;

    for (size_t n = 0; n < profile->nnodes; n++) {
        const ompp_node_t *node = &profile->nodes[n];
        for (uint32_t b = 0; b < node->nblocks; b++)
            if (node->blocks[b].set == m->set && node->blocks[b].object == 0 && m->index < node->blocks[b].nvalues)
                sum += node->blocks[b].values[m->index];
    }
    return sum;
}

/* Said of the run, not by ranks. */
static void say(ompp_profile_t *profile, ompp_coverage_kind_t kind, const char *subject, const char *reason,
                uint64_t count)
{
    ompp_profile_add_coverage(profile, kind, subject, reason, count);
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0;
}

/* What counting took of the threads' time itself: accesses that were trapped, one by one. Where that is little, times
 * hold. */
static void say_cost(ompp_profile_t *profile, const ompp_metric_t *m)
{
    const double ns = (double)sum_of(profile, m), all = ompp_analysis_basis(profile);
    const ompp_metric_t counted = {.set = m->set, .index = 0};
    const uint64_t n = sum_of(profile, &counted);
    char subject[200];

    if (n == 0) return;
    snprintf(subject, sizeof subject,
             "%s: %" PRIu64 " accesses were trapped, which took about %.3f s of %.3f s thread time, some %.0f us each",
             ompp_profile_text(profile, m->source), n, 1e-9 * ns, 1e-9 * all, 1e-3 * ns / (double)n);
    say(profile, ns >= MUCH * all ? OMPP_COVERAGE_TRAPPED : OMPP_COVERAGE_NOTE, subject, NULL, 1);
}

static void say_loss(ompp_profile_t *profile, const ompp_metric_t *m)
{
    const uint64_t lost = sum_of(profile, m);
    char subject[200];

    if (!lost) return;
    snprintf(subject, sizeof subject, "%s: %s", ompp_profile_text(profile, m->source),
             ompp_profile_text(profile, m->name));
    say(profile, OMPP_COVERAGE_LOSS, subject, ompp_profile_text(profile, m->meaning), lost);
}

static bool has_parallel(const ompp_profile_t *profile)
{
    for (size_t n = 1; n < profile->nnodes; n++)
        if (ompp_construct_forks(profile->regions[profile->nodes[n].region].construct)) return true;
    return false;
}

static bool has_columns(const ompp_profile_t *profile)
{
    for (size_t i = 0; i < profile->nmetrics; i++)
        if (profile->metrics[i].use == OMPP_USE_COLUMN) return true;
    return false;
}

/* Bytes of messages that were sent, and that the calls which receive had room for; those of collective calls are left
 * out. */
static void message_bytes(const ompp_profile_t *profile, uint64_t *sent, uint64_t *room)
{
    *sent = *room = 0;
    for (size_t n = 0; n < profile->nnodes; n++)
        for (uint32_t b = 0; b < profile->nodes[n].nblocks; b++) {
            const ompp_block_t *block = &profile->nodes[n].blocks[b];
            if (block->set != OMPP_SET_MPI || block->object != 0) continue;
            if (block->values[OMPP_METRIC_SENDS]) *sent += block->values[OMPP_METRIC_BYTES_OUT];
            if (block->values[OMPP_METRIC_RECVS]) *room += block->values[OMPP_METRIC_BYTES_IN];
        }
}

static void say_room(ompp_profile_t *profile)
{
    uint64_t sent, room;
    char subject[160], reason[80];

    message_bytes(profile, &sent, &room);
    if (room <= sent) return;
    snprintf(subject, sizeof subject,
             "bytes received (%s) of messages are what the calls had room for, %" PRIu64 " bytes",
             ompp_columns[OMPP_COLUMN_IN_V].title, room);
    snprintf(reason, sizeof reason, "%" PRIu64 " bytes were sent", sent);
    say(profile, OMPP_COVERAGE_NOTE, subject, reason, 1);
}

/* Ranks on processors of several kinds: one line each, with the number of ranks, and what follows from it. */
static void say_kinds(ompp_profile_t *profile)
{
    char subject[80];
    size_t n = 0;

    for (size_t i = 0; i < profile->ncoverage; i++) n += profile->coverage[i].kind == OMPP_COVERAGE_PROCESSOR;
    snprintf(subject, sizeof subject, "ranks run on %zu kinds of processors", n);
    if (n > 1) say(profile, OMPP_COVERAGE_UNEQUAL, subject, NULL, 1);
}

/* ns that threads worked; 0 = of ranks that are not known one by one. */
static uint64_t work_of(const ompp_profile_t *profile)
{
    ompp_efficiency_t *all = NULL;
    ompp_paths_t paths;
    size_t n = 0;

    for (size_t r = 0; r < profile->nranks_kept; r++)
        if (profile->ranks[r].end == OMPP_END_INCOMPLETE) return 0; /* nobody knows its processor time */
    if (profile->nrest || !ompp_paths_init(&paths, profile)) return 0;
    ompp_analysis_efficiency(profile, &paths, &all, &n, NULL, NULL);
    const uint64_t work = n ? all[0].useful_ns : 0;
    free(all);
    ompp_paths_fini(&paths);
    return work;
}

/* What counts as work may be sleep, or a lock of a library: that much has used no processor, and waited for none. Time
 * in the OpenMP and MPI libraries may have used all of the processor time: so it is the least. */
static void say_asleep(ompp_profile_t *profile)
{
    const double work = (double)work_of(profile), all = ompp_analysis_basis(profile),
                 waited = fmax(ompp_analysis_waited(profile), ASLEEP); /* less than that is not told */
    const double asleep = work - (double)ompp_samples_cpu_ns(profile) - waited * all;
    char reason[40];

    if (work <= 0 || asleep < ASLEEP * all) return;
    snprintf(reason, sizeof reason, "%.1f %% of it", 100 * asleep / work);
    say(profile, OMPP_COVERAGE_NOTE,
        "threads slept or were blocked (input, output, locks of libraries) in what counts as work, at least", reason,
        1);
}

void ompp_analysis_counted(ompp_profile_t *profile)
{
    for (size_t i = 0; i < profile->nmetrics; i++)
        if (profile->metrics[i].use == OMPP_USE_LOSS)
            (profile->metrics[i].unit == OMPP_UNIT_NS ? say_cost : say_loss)(profile, &profile->metrics[i]);
    if (has_columns(profile) && !has_parallel(profile))
        say(profile, OMPP_COVERAGE_NOTE, "counters in the table of parallel regions add up to 0",
            "no parallel region was run; what was counted stands in the flat profiles and in Outside Regions", 1);
    say_room(profile);
    say_kinds(profile);
    say_asleep(profile);
}
