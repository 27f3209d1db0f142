/* For compare_opari.py: reads "CONSTRUCT begin-address end-address" (hex) lines, prints "CONSTRUCT begin-line
 * end-line". */
#include "analysis/ompp_analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ompp_profile_t *profile = ompp_profile_new();
    char name[64];
    uint64_t addr, addr_end;

    if (argc != 2 || !profile) return 2;
    ompp_module_t module = {.path = ompp_profile_string(profile, argv[1])};
    ompp_profile_add_module(profile, &module);
    while (scanf("%63s %" SCNx64 " %" SCNx64, name, &addr, &addr_end) == 3) {
        ompp_region_t region = {.construct = ompp_construct_by_name(name),
                                .flags = OMPP_REGION_F_ADDRESS,
                                .addr = addr,
                                .addr_end = addr_end};
        if (region.construct == OMPP_CONSTRUCT_NUM) return 2;
        if (region.construct == OMPP_CONSTRUCT_FUNCTION) region.flags |= OMPP_REGION_F_FUNCTION;
        ompp_profile_add_region(profile, &region);
    }
    if (ompp_analysis_resolve(profile, INFINITY, "nobody") != 0) return 1;
    for (size_t i = 0; i < profile->nregions; i++) {
        const ompp_region_t *region = &profile->regions[i];
        printf("%s %" PRIu32 " %" PRIu32 "\n", ompp_constructs[region->construct].full, region->begin, region->end);
    }
    ompp_profile_free(profile);
    return 0;
}
