/*
 * Addresses on call paths of an arena to regions of the profile: the function, and of samples the line.
 */
#include "model/ompp_collect_priv.h"

#include "base/ompp_hash.h"

/* The module that has the address, or, of one that was unloaded, had it last. */
static const ompp_a_module_t *module_of(ompp_collecting_t *c, uint64_t address)
{
    const ompp_a_module_t *m = ompp_collect_record(c, c->modules, sizeof *m), *was = NULL;

    for (uint32_t n = 0; m && n < c->nmodules; n++, m = ompp_collect_record(c, m->next, sizeof *m)) {
        if (address >= m->low && address < m->high) return m;
        if (!was && address >= m->was_low && address < m->was_high) was = m;
    }
    return was;
}

static const char *name_of(uint64_t code)
{
    return code == OMPP_CODE_UNKNOWN ? "(callers not found)"
           : code == OMPP_CODE_OWN   ? OMPP_OWN_FUNCTION
                                     : "(in no file)";
}

static ompp_region_t region_of(ompp_collecting_t *c, ompp_construct_t construct, uint64_t code)
{
    const uint64_t address = code & ~OMPP_CODE_EXACT;
    const ompp_a_module_t *m = module_of(c, address);
    const bool known = m && m->index < c->nmodules && c->module_of[m->index] != OMPP_NONE;

    return (ompp_region_t){.construct = construct,
                           .flags = (known ? OMPP_REGION_F_ADDRESS : 0) |
                                    (construct == OMPP_CONSTRUCT_FUNCTION ? OMPP_REGION_F_FUNCTION : 0),
                           .name = ompp_profile_string(c->profile, known ? "" : name_of(code)),
                           .module = known ? c->module_of[m->index] : OMPP_NONE,
                           .addr = known ? address - m->base : 0,
                           .number = OMPP_NONE};
}

uint32_t ompp_collect_code(ompp_collecting_t *c, ompp_construct_t construct, uint64_t code)
{
    const uint64_t key = ompp_collect_key(c, ompp_hash_pair(construct, 0) ^ code * OMPP_HASH_STEP),
                   found = ompp_table_get(&c->codes, key);

    if (found) return (uint32_t)found - 1;
    const ompp_region_t region = region_of(c, construct, code);
    const uint32_t index = ompp_profile_add_region(c->profile, &region);
    if (!ompp_table_set(&c->codes, key, index + 1u)) c->profile->failed = true;
    return index;
}
