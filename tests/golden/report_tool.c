/**
 * \file
 * What the tests of the report need beyond ompp-report:
 *   report_tool xml IN.xml OUT.xml            reads and writes again
 *   report_tool job IN.xml DIR [WORD...]      the end of a run; words: overwrite usepid local=R file=F digits=N csv notext
 */
#include "report/ompp_report.h"

#include <stdlib.h>
#include <string.h>

static ompp_profile_t *load(const char *path)
{
    ompp_profile_t *profile;
    char why[512];

    if (ompp_report_xml_read(path, &profile, why, sizeof why) == 0) return profile;
    fprintf(stderr, "%s\n", why);
    return NULL;
}

static int rewrite(const ompp_profile_t *profile, const char *path)
{
    FILE *out = fopen(path, "w");
    int rc = out ? ompp_report_xml_write(profile, out) : -1;

    if (out && fclose(out)) rc = -1;
    return rc;
}

static void set(ompp_job_t *job, const char *word)
{
    if (strcmp(word, "csv") == 0) job->formats |= OMPP_JOB_CSV;
    if (strcmp(word, "notext") == 0) job->formats &= ~OMPP_JOB_TEXT;
    if (strcmp(word, "overwrite") == 0) job->overwrite = true;
    if (strcmp(word, "usepid") == 0) job->usepid = true;
    if (strncmp(word, "local=", 6) == 0) job->local_rank = atoi(word + 6);
    if (strncmp(word, "digits=", 7) == 0) job->time_digits = atoi(word + 7);
    if (strncmp(word, "file=", 5) == 0) job->file = word + 5;
}

static int run_job(ompp_profile_t *profile, int argc, char **argv)
{
    ompp_job_t job = {.version = OMPP_JOB_VERSION, .formats = OMPP_JOB_TEXT, .dir = argv[0], .choose = "set OMPP_OUTDIR to a directory", .tmpdir = getenv("TMPDIR"), .file = "",
                      .local_rank = -1, .time_digits = 2};
    int rc;

    for (int i = 1; i < argc; i++) set(&job, argv[i]);
    rc = ompp_job_run(profile, &job);
    if (job.path[0]) printf("%s\n%s\n", job.path, job.xml_path);
    if (job.message[0]) fprintf(stderr, "%s\n", job.message);
    return rc;
}

int main(int argc, char **argv)
{
    ompp_profile_t *profile = argc > 3 ? load(argv[2]) : NULL;
    int rc;

    if (!profile) return 2;
    rc = strcmp(argv[1], "xml") == 0 ? rewrite(profile, argv[3]) : run_job(profile, argc - 3, argv + 3);
    ompp_profile_free(profile);
    return rc ? 1 : 0;
}
