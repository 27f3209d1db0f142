/**
 * \file
 * Our XML. What was read can be printed as text and CSV, and written again; what was written is read.
 */
#include "fuzz_file.h"

#include "analysis/ompp_analysis.h"
#include "report/ompp_report.h"

#include <string.h>
#include <unistd.h>

static ompp_profile_t *read_again(const void *data, size_t size, char why[512])
{
    ompp_profile_t *profile;
    char path[64];
    int fd = fuzz_file(data, size, path);

    ompp_report_xml_read(path, &profile, why, 512);
    close(fd);
    return profile;
}

static bool is_numbered(const ompp_profile_t *profile)
{
    for (size_t r = 0; r < profile->nregions; r++)
        if (profile->regions[r].number == OMPP_NONE) return false;
    return true;
}

static void print(ompp_profile_t *profile)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    FUZZ_REQUIRE(out, "memory for the output");
    if (!is_numbered(profile)) ompp_analysis_number(profile);
    ompp_report_text(profile, 2, false, out);
    ompp_report_csv(profile, false, out);
    fclose(out);
    free(text);
}

static void rewrite(const ompp_profile_t *profile)
{
    char *text = NULL, why[512] = "";
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ompp_profile_t *copy;

    FUZZ_REQUIRE(out, "memory for the output");
    ompp_report_xml_write(profile, out);
    fclose(out);
    copy = read_again(text, length, why);
    if (!copy) fprintf(stderr, "%s\n%s", why, text);
    FUZZ_REQUIRE(copy, "what was written can be read");
    ompp_profile_free(copy);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[512] = "";
    ompp_profile_t *profile = read_again(data, size, why);

    if (!profile) {
        FUZZ_REQUIRE(strncmp(why, "/proc/self/fd/", 14) == 0 && !strchr(why, '\n'), "file:line: reason");
        return 0;
    }
    rewrite(profile);
    print(profile);
    ompp_profile_free(profile);
    return 0;
}
