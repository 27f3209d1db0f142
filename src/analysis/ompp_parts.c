#include "analysis/ompp_parts.h"

#include "base/ompp_vector.h"
#include "structure/ompp_scope.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 64u /* the innermost ones are kept */

typedef struct ompp_part_of {
    uint32_t line, first, n; /* region; its chains[first .. first + n) */
} part_of_t;

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

/* A loop by its lines, an inlined call by its line and the function. */
static ompp_region_t region_of(ompp_profile_t *profile, const ompp_scope_t *scope, uint32_t module)
{
    const bool loop = scope->kind == OMPP_SCOPE_LOOP;
    const char *name = !loop ? scope->function : scope->made ? "(made by the compiler)" : "";

    return (ompp_region_t){.construct = loop ? OMPP_CONSTRUCT_SOURCE_LOOP : OMPP_CONSTRUCT_INLINED,
                           .file = scope->file ? ompp_profile_string(profile, scope->file) : 0,
                           .name = name ? ompp_profile_string(profile, name) : 0,
                           .begin = scope->file ? scope->line : 0,
                           .end = scope->file ? (loop ? scope->line_end : scope->line) : 0,
                           .module = module,
                           .addr = scope->low,
                           .number = OMPP_NONE};
}

bool ompp_parts_find(ompp_parts_t *parts, ompp_profile_t *profile, uint32_t line, ompp_structure_t *structure,
                     double deadline)
{
    const ompp_scope_t *chain[MOST_DEPTH];
    const uint32_t module = profile->regions[line].module;
    ompp_spot_t spot;
    size_t n = 0;

    if (ompp_scope_at(structure, profile->regions[line].addr, deadline, &spot) != 0) return true;
    for (const ompp_scope_t *s = spot.scope; s && n < MOST_DEPTH && s->kind != OMPP_SCOPE_PROCEDURE; s = s->outer)
        chain[n++] = s;
    if (!n) return true;
    part_of_t *part = ompp_vector_push(&parts->lines, &parts->n, &parts->allocated, sizeof *part);
    if (!part) return false;
    *part = (part_of_t){line, (uint32_t)parts->nchains, (uint32_t)n};
    while (n-- > 0) {
        const ompp_region_t region = region_of(profile, chain[n], module);
        uint32_t *link = ompp_vector_push(&parts->chains, &parts->nchains, &parts->achains, sizeof *link);
        if (!link) return false;
        *link = ompp_profile_add_region(profile, &region);
    }
    return !profile->failed;
}

/* ---- Inserting --------------------------------------------------------------------------------------------------- */

static uint32_t push_node(ompp_profile_t *profile, const ompp_node_t *like, uint32_t region, uint32_t parent)
{
    return ompp_profile_add_node(profile, region, parent, like->first_ns, like->first_rank);
}

bool ompp_parts_insert(const ompp_parts_t *parts, ompp_profile_t *profile)
{
    ompp_node_t *old = profile->nodes;
    const size_t n = profile->nnodes;
    uint32_t *map = malloc(n * sizeof *map), *part = malloc((profile->nregions + 1) * sizeof *part);

    if (!parts->n || !map || !part) {
        const bool ok = !parts->n;
        free(map);
        free(part);
        return ok;
    }
    memset(part, 0xff, (profile->nregions + 1) * sizeof *part);
    for (uint32_t i = 0; i < parts->n; i++) part[parts->lines[i].line] = i;
    profile->nodes = NULL;
    profile->nnodes = profile->anodes = 0;
    for (uint32_t i = 0; i < n && !profile->failed; i++) {
        const uint32_t region = old[i].region, which = region < profile->nregions ? part[region] : OMPP_NONE;
        uint32_t parent = i ? map[old[i].parent] : OMPP_NONE;
        for (uint32_t k = 0; which != OMPP_NONE && k < parts->lines[which].n; k++)
            parent = push_node(profile, &old[i], parts->chains[parts->lines[which].first + k], parent);
        map[i] = push_node(profile, &old[i], region, parent);
        if (profile->failed) break;
        const uint32_t at = map[i];
        profile->nodes[at] = old[i];
        profile->nodes[at].parent = parent;
    }
    free(map);
    free(part);
    free(old); /* blocks have moved */
    return !profile->failed;
}

void ompp_parts_fini(ompp_parts_t *parts)
{
    free(parts->lines);
    free(parts->chains);
    *parts = (ompp_parts_t){0};
}
