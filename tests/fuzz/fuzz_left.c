/**
 * \file
 * What a run left that could not write its report: the memory of a process that died, and the compact form. What was
 * read can be packed again.
 */
#include "fuzz_file.h"

#include "model/ompp_collect.h"
#include "model/ompp_pack.h"

static void pack(const ompp_profile_t *profile)
{
    void *data;
    uint64_t bytes;
    ompp_profile_t *copy;

    if (ompp_pack(profile, &data, &bytes)) return;
    FUZZ_REQUIRE(ompp_unpack(data, bytes, &copy) == 0, "what was packed can be unpacked");
    ompp_profile_free(copy);
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ompp_profile_t *profile;
    char path[64];
    int fd = fuzz_file(data, size, path), rc = ompp_collect_file(path, &profile, NULL);

    if (rc) rc = ompp_pack_read_file(path, &profile);
    close(fd);
    FUZZ_REQUIRE((rc == 0) == (profile != NULL), "a profile, or an error");
    if (!profile) return 0;
    pack(profile);
    ompp_profile_free(profile);
    return 0;
}
