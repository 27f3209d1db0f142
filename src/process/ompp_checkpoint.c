#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "checkpoint"
#include "process/ompp_checkpoint.h"

#include "base/ompp_log.h"
#include "base/ompp_write.h"
#include "model/ompp_pack.h"
#include "preload/ompp_launch.h"
#include "process/ompp_lifecycle.h"
#include "process/ompp_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[4600]; /* of the copy; "" = there is none yet */

/* Named after the process: copies of two runs are never mixed up. */
static void choose_path(void)
{
    const ompp_a_header_t *header = ompp_process.header;
    const char *app = header->app ? ((const ompp_a_string_t *)(ompp_process.arena.base + header->app))->text : "";
    int rank = header->rank >= 0 ? header->rank : ompp_launch_rank();
    char dir[4200], number[16] = "";

    ompp_runtime_report_dir(dir, sizeof dir);
    if (rank >= 0) snprintf(number, sizeof number, ":%d", rank);
    snprintf(path, sizeof path, "%s/%.200s%s.checkpoint-%u-%llx.ompp.bin", dir, app, number, header->pid,
             (unsigned long long)header->origin_epoch);
}

static void note_copy(ompp_profile_t *profile)
{
    char rank[16], why[120];

    snprintf(rank, sizeof rank, "%u", profile->ranks[0].rank);
    snprintf(why, sizeof why, "known from a copy that was made %.3f s after its start (OMPP_CHECKPOINT)",
             1e-9 * (double)profile->ranks[0].duration_ns);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_INCOMPLETE, rank, why, 1);
}

void ompp_checkpoint_write(void)
{
    static bool said;
    char remedy[100];
    int error = ENOMEM;

    if (!path[0]) choose_path();
    ompp_profile_t *profile = ompp_snapshot_profile(OMPP_END_INCOMPLETE);
    if (profile && profile->nranks_kept == 1) {
        note_copy(profile);
        error = ompp_pack_write_file(path, profile, true) ? errno : 0;
    }
    ompp_profile_free(profile);
    if (error && !said)
        ompp_warn_common("%s: no copy of the profile (OMPP_CHECKPOINT): %s: %s",
                         ompp_write_remedy(error, "set OMPP_OUTDIR to a directory", remedy, sizeof remedy), path,
                         ompp_write_why(error));
    said = said || error;
}

void ompp_checkpoint_remove(void)
{
    if (path[0]) unlink(path);
}
