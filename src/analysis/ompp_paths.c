#include "analysis/ompp_paths.h"
#include "analysis/ompp_node.h"

#include <stdlib.h>

/* Each region's part is filled from its end, so that its nodes stay in their order. */
static void sort_by_region(ompp_paths_t *paths, const ompp_profile_t *p)
{
    for (size_t n = 1; n < p->nnodes; n++)
        if (p->nodes[n].region < p->nregions) paths->first[p->nodes[n].region]++;
    for (size_t r = 1; r <= p->nregions; r++) paths->first[r] += paths->first[r - 1];
    for (size_t n = p->nnodes; n-- > 1;)
        if (p->nodes[n].region < p->nregions) paths->nodes[--paths->first[p->nodes[n].region]] = (uint32_t)n;
}

static bool by_own_threads(const ompp_profile_t *p, const ompp_node_t *top)
{
    for (uint32_t b = 0; b < top->nblocks; b++)
        if (top->blocks[b].set == OMPP_SET_PHASES && p->locations[top->blocks[b].location].kind == OMPP_THREAD_OTHER)
            return true;
    return false;
}

/*
 * Of paths->slots. Many threads run a node that lies in a team; a construct that one thread of a team runs is run by as
 * many as there are teams, in teams of teams.
 */
enum {
    IN_TEAM = OMPP_PATHS_SLOTS, /* many threads run it */
    IN_ONE_MORE = 2,            /* it lies in a team, without such a construct in between, or in a team of teams */
    IN_TWO = 4,                 /* in two teams, in the same sense: many run such a construct in it */
    IN_ALL = IN_TEAM | IN_ONE_MORE | IN_TWO,
};

/* Of a function, what is below it says it. */
static void look_for_own(ompp_paths_t *paths, const ompp_profile_t *p)
{
    for (uint32_t n = (uint32_t)p->nnodes; n-- > 1;) {
        if (by_own_threads(p, &p->nodes[n])) paths->own[n] = true;
        if (paths->own[n] && ompp_node_is_path(p, p->nodes[n].parent)) paths->own[p->nodes[n].parent] = true;
    }
}

static void look_above(ompp_paths_t *paths, const ompp_profile_t *p)
{
    look_for_own(paths, p);
    for (uint32_t n = 1; n < p->nnodes; n++) {
        const ompp_node_t *node = &p->nodes[n];
        const unsigned construct = node->region < p->nregions ? p->regions[node->region].construct : OMPP_CONSTRUCT_NUM;
        const bool known = construct < OMPP_CONSTRUCT_NUM, forks = known && ompp_construct_forks(construct),
                   alone = known && ompp_constructs[construct].flags & OMPP_CONSTRUCT_F_ALONE;
        const uint32_t top = paths->top[node->parent];
        const bool outermost = node->parent == 0 || ompp_node_is_path(p, top); /* no region is above it */
        paths->fork[n] = forks ? n : paths->fork[node->parent];
        paths->top[n] = outermost ? n : top;
        if (!outermost) paths->own[n] = paths->own[node->parent];
        const unsigned above = !outermost ? paths->slots[node->parent] : paths->own[n] ? IN_ALL : 0;
        if (alone) paths->slots[n] = above & IN_TWO ? IN_ALL : 0;
        else if (forks) paths->slots[n] = (uint8_t)(IN_TEAM | IN_ONE_MORE | (above & IN_ONE_MORE ? IN_TWO : 0));
        else paths->slots[n] = (uint8_t)above;
    }
}

bool ompp_paths_init(ompp_paths_t *paths, const ompp_profile_t *profile)
{
    *paths = (ompp_paths_t){.first = calloc(profile->nregions + 1, sizeof *paths->first),
                            .nodes = calloc(profile->nnodes + 1, sizeof *paths->nodes),
                            .fork = calloc(profile->nnodes + 1, sizeof *paths->fork),
                            .top = calloc(profile->nnodes + 1, sizeof *paths->top),
                            .own = calloc(profile->nnodes + 1, sizeof *paths->own),
                            .slots = calloc(profile->nnodes + 1, sizeof *paths->slots)};
    if (!paths->first || !paths->nodes || !paths->fork || !paths->top || !paths->own || !paths->slots) {
        ompp_paths_fini(paths);
        return false;
    }
    sort_by_region(paths, profile);
    look_above(paths, profile);
    return true;
}

void ompp_paths_fini(ompp_paths_t *paths)
{
    free(paths->first);
    free(paths->nodes);
    free(paths->fork);
    free(paths->top);
    free(paths->own);
    free(paths->slots);
    *paths = (ompp_paths_t){0};
}
