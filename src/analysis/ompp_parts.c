#include "analysis/ompp_parts.h"

#include "base/ompp_error.h"
#include "base/ompp_vector.h"
#include "structure/ompp_fortran.h"
#include "structure/ompp_scope.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 64u /* the innermost ones are kept */
#define NEAR 2u        /* lines between two constructs, the one directly in the other */

typedef struct ompp_part_of {
    uint32_t region, first, n; /* its chains[first .. first + n) */
} part_of_t;

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

/* A part of a place, and those around it. */
typedef struct link {
    const struct link *outer; /* NULL = none */
    const ompp_scope_t *scope;
    uint32_t begin;   /* first line, by the text where that is known */
    const char *made; /* NULL: the source has it */
    bool again;       /* the loop around it is the same one */
} link_t;

/* The loop around a part, in the function that it is in, that begins on a line. */
static const link_t *loop_of(const link_t *link, uint32_t line)
{
    for (link = link->outer; link && link->scope->kind != OMPP_SCOPE_INLINED; link = link->outer)
        if (link->scope->kind == OMPP_SCOPE_LOOP && link->begin == line && !link->made) return link;
    return NULL;
}

/* Whether the loop is the one of the DO construct around its line. A construct without code on its line, as one that is
 * shared out among threads, has the line of the first one inside it. */
static bool is_do_itself(const ompp_fortran_t *text, const link_t *link, uint32_t around)
{
    const uint32_t next = ompp_fortran_do(text, around);

    return !loop_of(link, around) || (next && around - next <= NEAR && !loop_of(link, next));
}

static const ompp_source_t *source_of(ompp_parts_t *parts, const char *file, ompp_structure_t *structure)
{
    if (!parts->file || strcmp(parts->file, file) != 0) {
        ompp_source_close(parts->source);
        free(parts->file);
        parts->file = strdup(file);
        parts->source = ompp_source_open(file, ompp_structure_mtime(structure));
    }
    return parts->source;
}

static bool jumps_back(const ompp_fortran_t *text, const ompp_scope_t *scope)
{
    return scope->line < scope->line_end && ompp_fortran_uses(text, scope->line, scope->line_end, "goto", NULL, 0) +
                                                ompp_fortran_uses(text, scope->line, scope->line_end, "go", NULL, 0);
}

/*
 * A loop of Fortran: the text knows the source's own, of which the body alone may have code, and tells copies of
 * arguments from expressions. Copies of a loop that lie in each other are one.
 */
static void read_text(ompp_parts_t *parts, link_t *link, ompp_structure_t *structure)
{
    const ompp_scope_t *scope = link->scope;
    const bool has_line = scope->line && scope->file;

    link->made = scope->made ? "made by the compiler" : NULL;
    if (!has_line || !ompp_fortran_is(scope->file)) return;
    const ompp_fortran_t text = {source_of(parts, scope->file, structure), ompp_fortran_is_fixed(scope->file)};
    if (!text.text) return;
    link->made = NULL;
    if (ompp_fortran_statement(&text, scope->line, "do")) return;
    const uint32_t around = ompp_fortran_do(&text, scope->line);
    const link_t *outer = around ? loop_of(link, around) : NULL;
    if (around && is_do_itself(&text, link, around)) link->begin = around;
    else if (outer && scope->line <= outer->scope->line && scope->line_end >= outer->scope->line_end &&
             scope->line < scope->line_end)
        link->again = true;
    else if (jumps_back(&text, scope)) return;
    else if (ompp_fortran_statement(&text, scope->line, "call")) link->made = OMPP_PARTS_COPY;
    else link->made = "made by the compiler: array expression or copy";
}

/* A loop by its lines, an inlined call by its line and the function. */
static ompp_region_t region_of(ompp_profile_t *profile, const link_t *link, uint32_t module)
{
    const ompp_scope_t *scope = link->scope;
    const bool loop = scope->kind == OMPP_SCOPE_LOOP;
    const char *name = !loop ? scope->function : link->made ? link->made : "";

    return (ompp_region_t){.construct = loop ? OMPP_CONSTRUCT_SOURCE_LOOP : OMPP_CONSTRUCT_INLINED,
                           .file = scope->file ? ompp_profile_string(profile, scope->file) : 0,
                           .name = name ? ompp_profile_string(profile, name) : 0,
                           .begin = scope->file ? link->begin : 0,
                           .end = scope->file ? (loop ? scope->line_end : scope->line) : 0,
                           .module = module,
                           .addr = scope->low,
                           .number = OMPP_NONE};
}

/* Of instrumented functions the entry is known, and not where they call others. */
static bool is_entry(const ompp_profile_t *profile, uint32_t region, uint64_t address, ompp_structure_t *structure,
                     double deadline)
{
    const ompp_procedure_t *procedure;

    return profile->regions[region].construct == OMPP_CONSTRUCT_FUNCTION &&
           ompp_scope_procedure(structure, address, deadline, &procedure) == 0 && address == procedure->parts[0].low;
}

static bool add_part(ompp_parts_t *parts, ompp_profile_t *profile, const ompp_region_t *region)
{
    uint32_t *to = ompp_vector_push(&parts->chains, &parts->nchains, &parts->achains, sizeof *to);

    if (to) *to = ompp_profile_add_region(profile, region);
    return to;
}

/* A call of what copies an argument for the compiler: the library's loop stands in the source as one. */
static bool is_copy(const ompp_profile_t *profile, uint32_t region, uint64_t address, ompp_structure_t *structure,
                    const ompp_spot_t *spot)
{
    const bool call = profile->regions[region].construct == OMPP_CONSTRUCT_FUNCTION && spot->file && spot->line;
    const char *callee = call ? ompp_scope_callee(structure, address) : NULL;

    return callee && ompp_fortran_copies(callee);
}

int ompp_parts_find(ompp_parts_t *parts, ompp_profile_t *profile, uint32_t region, uint64_t address,
                    ompp_structure_t *structure, double deadline)
{
    link_t chain[MOST_DEPTH];
    const uint32_t module = profile->regions[region].module;
    ompp_spot_t spot;
    size_t n = 0;

    const int rc = ompp_scope_at(structure, address, deadline, &spot);
    if (rc != 0) return rc == -OMPP_E_NOTFOUND ? 0 : rc;
    for (const ompp_scope_t *s = spot.scope; s && n < MOST_DEPTH && s->kind != OMPP_SCOPE_PROCEDURE; s = s->outer)
        chain[n++] = (link_t){.scope = s, .begin = s->line};
    const bool copy = is_copy(profile, region, address, structure, &spot);
    if ((!n && !copy) || is_entry(profile, region, address, structure, deadline)) return 0;
    part_of_t *part = ompp_vector_push(&parts->places, &parts->n, &parts->allocated, sizeof *part);
    if (!part) return -OMPP_E_NOMEM;
    *part = (part_of_t){region, (uint32_t)parts->nchains, 0};
    for (size_t i = n; i-- > 0;) {
        if (i + 1 < n) chain[i].outer = &chain[i + 1];
        if (chain[i].scope->kind == OMPP_SCOPE_LOOP) read_text(parts, &chain[i], structure);
        const ompp_region_t link = region_of(profile, &chain[i], module);
        if (!chain[i].again && !add_part(parts, profile, &link)) return -OMPP_E_NOMEM;
    }
    const ompp_region_t copying = {.construct = OMPP_CONSTRUCT_SOURCE_LOOP,
                                   .file = copy ? ompp_profile_string(profile, spot.file) : 0,
                                   .name = copy ? ompp_profile_string(profile, OMPP_PARTS_COPY) : 0,
                                   .begin = spot.line,
                                   .end = spot.line,
                                   .module = module,
                                   .addr = address,
                                   .number = OMPP_NONE};
    if (copy && !add_part(parts, profile, &copying)) return -OMPP_E_NOMEM;
    part->n = (uint32_t)parts->nchains - part->first;
    return profile->failed ? -OMPP_E_NOMEM : 0;
}

/* ---- Inserting --------------------------------------------------------------------------------------------------- */

static uint32_t push_node(ompp_profile_t *profile, const ompp_node_t *like, uint32_t region, uint32_t parent)
{
    return ompp_profile_add_node(profile, region, parent, like->first_ns, like->first_rank);
}

static const part_of_t *place_of(const ompp_parts_t *parts, const uint32_t *which, size_t nregions, uint32_t region)
{
    return region < nregions && which[region] != OMPP_NONE ? &parts->places[which[region]] : NULL;
}

/* A line's own; else those of the call in the function above. */
static const part_of_t *above(const ompp_parts_t *parts, const ompp_profile_t *profile, const uint32_t *which,
                              const ompp_node_t *nodes, uint32_t node)
{
    const uint32_t region = nodes[node].region, nregions = profile->nregions;

    if (node == 0 || region >= nregions) return NULL;
    if (profile->regions[region].construct == OMPP_CONSTRUCT_SOURCE_LINE)
        return place_of(parts, which, nregions, region);
    const uint32_t caller = nodes[nodes[node].parent].region;
    if (caller >= nregions || profile->regions[caller].construct != OMPP_CONSTRUCT_FUNCTION) return NULL;
    return place_of(parts, which, nregions, caller);
}

bool ompp_parts_insert(const ompp_parts_t *parts, ompp_profile_t *profile)
{
    ompp_node_t *old = profile->nodes;
    const size_t n = profile->nnodes;
    uint32_t *map = malloc(n * sizeof *map), *which = malloc((profile->nregions + 1) * sizeof *which);

    if (!parts->n || !map || !which) {
        const bool ok = !parts->n;
        free(map);
        free(which);
        return ok;
    }
    memset(which, 0xff, (profile->nregions + 1) * sizeof *which);
    for (uint32_t i = 0; i < parts->n; i++) which[parts->places[i].region] = i;
    profile->nodes = NULL;
    profile->nnodes = profile->anodes = 0;
    for (uint32_t i = 0; i < n && !profile->failed; i++) {
        const part_of_t *place = above(parts, profile, which, old, i);
        uint32_t parent = i ? map[old[i].parent] : OMPP_NONE;
        for (uint32_t k = 0; place && k < place->n; k++)
            parent = push_node(profile, &old[i], parts->chains[place->first + k], parent);
        map[i] = push_node(profile, &old[i], old[i].region, parent);
        if (profile->failed) break;
        const uint32_t at = map[i];
        profile->nodes[at] = old[i];
        profile->nodes[at].parent = parent;
    }
    free(map);
    free(which);
    free(old); /* blocks have moved */
    return !profile->failed;
}

void ompp_parts_fini(ompp_parts_t *parts)
{
    free(parts->places);
    free(parts->chains);
    free(parts->file);
    ompp_source_close(parts->source);
    *parts = (ompp_parts_t){0};
}
