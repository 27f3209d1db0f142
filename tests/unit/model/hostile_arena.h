/**
 * \file
 * A small arena with two records of every kind, and all links in it, by name: to be made hostile. For tests that read
 * what somebody else may have written.
 */
#ifndef OMPP_HOSTILE_ARENA_H
#define OMPP_HOSTILE_ARENA_H

#include "model/ompp_layout.h"
#include "model/ompp_profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HOSTILE_LINKS = 300,
    HOSTILE_WORDS = 300,
    HOSTILE_FRAMES = 3,
    HOSTILE_VALUES = OMPP_COUNTED_VALUES,
    HOSTILE_LEAST = 16384
};

typedef struct {
    const char *name;      /* of the record and its member */
    ompp_off_t at;         /* where it is */
    ompp_off_t own, other; /* records of the kind it leads to: the one it is in (0 = of another kind), and one more */
} hostile_link_t;

static struct {
    char *base;
    uint32_t size;
    ompp_off_t free;
    hostile_link_t links[HOSTILE_LINKS];
    ompp_off_t words[HOSTILE_WORDS]; /* numbers of 32 bits: lengths, indices, kinds */
    unsigned nlinks, nwords;
} hostile;

static inline void *hostile_at(ompp_off_t off) { return hostile.base + off; }

static ompp_off_t hostile_take(size_t bytes)
{
    const ompp_off_t off = hostile.free;

    hostile.free += (ompp_off_t)((bytes + 7) / 8 * 8);
    return off;
}

static void hostile_link(const char *name, void *link, ompp_off_t own, ompp_off_t to)
{
    *(ompp_off_t *)link = to;
    hostile.links[hostile.nlinks++] = (hostile_link_t){name, (ompp_off_t)((char *)link - hostile.base), own, to};
}

static void hostile_word(void *word, uint32_t value)
{
    *(uint32_t *)word = value;
    hostile.words[hostile.nwords++] = (ompp_off_t)((char *)word - hostile.base);
}

static ompp_off_t hostile_text(const char *text)
{
    const ompp_off_t off = hostile_take(sizeof(ompp_a_string_t) + strlen(text) + 1);
    ompp_a_string_t *s = hostile_at(off);

    hostile_word(&s->length, (uint32_t)strlen(text));
    strcpy(s->text, text);
    return off;
}

/*
 * Two records of a type, the second first in the list: HOSTILE_RECORDS(type, bytes behind it, members of r, which is
 * number i (0 or 1) at off).
 * It leaves the offset of the second one in `last`.
 */
#define HOSTILE_RECORDS(type, more, ...) HOSTILE_LIST(2, type, more, __VA_ARGS__)
#define HOSTILE_LIST(n, type, more, ...)                                         \
    for (ompp_off_t i = 0, off, before = 0; i < (n); i++, last = before = off) { \
        off = hostile_take(sizeof(type) + (more));                               \
        type *r = hostile_at(off);                                               \
        hostile_link(#type ".next", r, off, before);                             \
        __VA_ARGS__                                                              \
    }
#define HOSTILE_LINK(type, member, to) hostile_link(#type "." #member, &r->member, 0, to)

static void hostile_stacks(ompp_off_t node, ompp_off_t team, ompp_off_t *first)
{
    for (unsigned i = 0; i < 2; i++) {
        const ompp_off_t off = hostile_take(sizeof(ompp_a_stack_t) + HOSTILE_FRAMES * sizeof(ompp_a_frame_t));
        ompp_a_stack_t *r = hostile_at(off);
        hostile_link("ompp_a_stack_t.under", &r->under, off, *first);
        hostile_word(&r->top, HOSTILE_FRAMES - 1);
        hostile_word(&r->capacity, HOSTILE_FRAMES);
        hostile_word(&r->explicit_task, i);
        for (unsigned k = 0; k < HOSTILE_FRAMES; k++) {
            ompp_a_frame_t *f = &r->frames[k];
            *f = (ompp_a_frame_t){.flags = k ? OMPP_FRAME_F_TEAM : OMPP_FRAME_F_BASE, .enter = 10, .stamp = 20};
            hostile_link("ompp_a_frame_t.node", &f->node, 0, node);
            hostile_link("ompp_a_frame_t.team", &f->team, 0, team);
            hostile_link("ompp_a_frame_t.outer_base", &f->outer_base, 0, node);
            hostile_word(&f->state, f->state);
        }
        *first = off;
    }
}

static void hostile_whatif(ompp_a_header_t *h, ompp_off_t name, ompp_off_t region)
{
    const ompp_off_t off = hostile_take(sizeof(ompp_a_whatif_t));
    ompp_a_whatif_t *w = hostile_at(off);
    ompp_off_t last = 0;

    hostile_word(&w->mode, OMPP_WHATIF_VIRTUAL);
    hostile_link("ompp_a_whatif_t.why", &w->why, 0, name);
    HOSTILE_RECORDS(ompp_a_whatif_point_t, 0, HOSTILE_LINK(ompp_a_whatif_point_t, name, name);
                    HOSTILE_LINK(ompp_a_whatif_point_t, region, region); hostile_word(&r->kind, 0);)
    const ompp_off_t point = last;
    hostile_link("ompp_a_whatif_t.points", &w->points, 0, point);
    HOSTILE_RECORDS(ompp_a_whatif_region_t, 0, HOSTILE_LINK(ompp_a_whatif_region_t, region, region);
                    HOSTILE_LINK(ompp_a_whatif_region_t, point, i ? point : 0); hostile_word(&r->sequence, 0);
                    hostile_word(&r->result.clocks[0].nblocks, 1);)
    hostile_link("ompp_a_whatif_t.regions", &w->regions, 0, last);
    hostile_word(&w->control.nblocks, 1);
    hostile_link("ompp_a_header_t.whatif", &h->whatif, 0, off);
}

static ompp_off_t hostile_nodes(ompp_off_t region, ompp_off_t *root)
{
    ompp_off_t last = 0;

    HOSTILE_RECORDS(ompp_a_block_t, HOSTILE_VALUES * sizeof(uint64_t), hostile_word(&r->set, OMPP_SET_FIRST_FREE);
                    hostile_word(&r->object, (uint32_t)i); hostile_word(&r->nvalues, HOSTILE_VALUES); r->values[0] = 3;)
    const ompp_off_t block = last;
    HOSTILE_RECORDS(ompp_a_node_t, sizeof(ompp_a_slot_t), if (i == 0) *root = off;
                    HOSTILE_LINK(ompp_a_node_t, region, i ? region : 0);
                    HOSTILE_LINK(ompp_a_node_t, parent, i ? *root : 0); HOSTILE_LINK(ompp_a_node_t, sets, block);
                    r->construct = OMPP_CONSTRUCT_USER_REGION; r->nphases = 1; r->visits = 1;
                    r->slot[0] = (ompp_a_slot_t){.time = 5, .count = 1};)
    return last;
}

static ompp_off_t hostile_threads(ompp_off_t region, ompp_off_t *node)
{
    ompp_off_t last = 0, root = 0, team, stack = 0;
    const ompp_off_t first = hostile_nodes(region, &root);

    HOSTILE_RECORDS(ompp_a_team_t, 0, HOSTILE_LINK(ompp_a_team_t, fork_node, root); hostile_word(&r->level, 1);
                    r->fork = 5; r->join = 50;)
    team = last;
    hostile_stacks(first, team, &stack);
    HOSTILE_RECORDS(ompp_a_thread_t, 0, hostile_word(&r->ordinal, (uint32_t)i);
                    hostile_word(&r->kind, i ? OMPP_THREAD_OTHER : OMPP_THREAD_INITIAL); hostile_word(&r->index, 0);
                    HOSTILE_LINK(ompp_a_thread_t, root, root); HOSTILE_LINK(ompp_a_thread_t, nodes, first);
                    HOSTILE_LINK(ompp_a_thread_t, stack, stack); r->unclosed = 1;
                    HOSTILE_LINK(ompp_a_thread_t, first_unclosed, region); r->unopened = 1;
                    HOSTILE_LINK(ompp_a_thread_t, first_unopened, region);)
    *node = first;
    return last;
}

static void hostile_lists(ompp_a_header_t *h, ompp_off_t name, ompp_off_t other)
{
    ompp_off_t last = 0, node = 0;

    HOSTILE_RECORDS(ompp_a_module_t, 0, HOSTILE_LINK(ompp_a_module_t, path, name);
                    HOSTILE_LINK(ompp_a_module_t, id, name); hostile_word(&r->index, (uint32_t)i);)
    const ompp_off_t module = last;
    hostile_link("ompp_a_header_t.modules", &h->modules, 0, module);
    HOSTILE_RECORDS(ompp_a_region_t, 0, hostile_word(&r->index, (uint32_t)i); r->construct = OMPP_CONSTRUCT_USER_REGION;
                    hostile_word(&r->nphases, 1); HOSTILE_LINK(ompp_a_region_t, file, name);
                    HOSTILE_LINK(ompp_a_region_t, name, name); HOSTILE_LINK(ompp_a_region_t, module, module);
                    HOSTILE_LINK(ompp_a_region_t, exec, before);)
    const ompp_off_t region = last;
    hostile_link("ompp_a_header_t.regions", &h->regions, 0, region);
    HOSTILE_RECORDS(ompp_a_setting_t, 0, HOSTILE_LINK(ompp_a_setting_t, name, name);
                    HOSTILE_LINK(ompp_a_setting_t, value, name);)
    hostile_link("ompp_a_header_t.settings", &h->settings, 0, last);
    HOSTILE_LIST(HOSTILE_VALUES, ompp_a_metric_t, 0, hostile_word(&r->set, OMPP_SET_FIRST_FREE);
                 hostile_word(&r->index, (uint32_t)i); HOSTILE_LINK(ompp_a_metric_t, name, name);
                 HOSTILE_LINK(ompp_a_metric_t, source, name); HOSTILE_LINK(ompp_a_metric_t, meaning, name);)
    hostile_link("ompp_a_header_t.metrics", &h->metrics, 0, last);
    HOSTILE_RECORDS(ompp_a_object_t, 0, hostile_word(&r->id, (uint32_t)i + 1);
                    HOSTILE_LINK(ompp_a_object_t, name, i ? name : other); HOSTILE_LINK(ompp_a_object_t, origin, name);
                    r->size = 8; hostile_word(&r->nranges, 1);)
    hostile_link("ompp_a_header_t.objects", &h->objects, 0, last);
    HOSTILE_RECORDS(ompp_a_coverage_t, 0, hostile_word(&r->kind, OMPP_COVERAGE_NOTE);
                    HOSTILE_LINK(ompp_a_coverage_t, subject, name);
                    HOSTILE_LINK(ompp_a_coverage_t, reason, i ? name : 0); r->count = 1;)
    hostile_link("ompp_a_header_t.coverage", &h->coverage, 0, last);
    const ompp_off_t threads = hostile_threads(region, &node);
    hostile_link("ompp_a_header_t.threads", &h->threads, 0, threads);
    hostile.free = (hostile.free + 127) & ~127u; /* as ompp_counted_t wants it */
    const ompp_off_t items = hostile_take(4 * sizeof(ompp_counted_t));
    HOSTILE_RECORDS(ompp_a_page_t, 0, hostile_word(&r->kind, (uint32_t)i); hostile_word(&r->first, 0);
                    hostile_word(&r->n, 4); HOSTILE_LINK(ompp_a_page_t, items, items);)
    const ompp_off_t page = last;
    HOSTILE_RECORDS(ompp_a_pending_t, 0, hostile_word(&r->set, OMPP_SET_FIRST_FREE);
                    HOSTILE_LINK(ompp_a_pending_t, node, node); HOSTILE_LINK(ompp_a_pending_t, pages, page);
                    r->total[0] = 2; hostile_word(&r->redo.is, (uint32_t)i); hostile_word(&r->redo.object, 1);
                    HOSTILE_LINK(ompp_a_pending_t, redo.block, 0);)
    hostile_link("ompp_a_header_t.pending", &h->pending, 0, last);
    hostile_whatif(h, name, region);
}

/** \brief Makes the arena in memory of so many bytes, HOSTILE_LEAST or more; filler is in what it does not need. */
static void hostile_build(char *base, uint32_t size, char filler)
{
    char host[256] = "";

    hostile.base = base, hostile.size = size, hostile.free = OMPP_LAYOUT_HEADER, hostile.nlinks = hostile.nwords = 0;
    memset(base, 0, size);
    ompp_a_header_t *h = hostile_at(hostile_take(sizeof *h));
    memcpy(h->magic, OMPP_LAYOUT_MAGIC, sizeof h->magic);
    h->layout = OMPP_LAYOUT_VERSION;
    h->endian = OMPP_LAYOUT_ENDIAN;
    h->pid = 1;
    h->rank = -1;
    h->size = 1;
    h->metered = UINT64_MAX;
    gethostname(host, sizeof host - 1);
    const ompp_off_t name = hostile_text("a name that is read again and again");
    h->host = hostile_text(host);
    hostile_link("ompp_a_header_t.app", &h->app, 0, name);
    hostile_link("ompp_a_header_t.why", &h->why, 0, name);
    hostile_link("ompp_a_header_t.job", &h->job, 0, name);
    hostile_lists(h, name, hostile_text("another name"));
    if (hostile.free > HOSTILE_LEAST) abort(); /* the tests are to be mended */
    memset(base + hostile.free, filler, size - hostile.free);
}

/* ---- What is made of it ------------------------------------------------------------------------------------------ */

typedef enum {
    HOSTILE_NOTHING,
    HOSTILE_SELF,
    HOSTILE_CIRCLE,
    HOSTILE_HEADER,
    HOSTILE_OVERLAP,
    HOSTILE_BEYOND,
    HOSTILE_WAYS
} hostile_way_t;

/** \brief Bends one link. */
static void hostile_bend(const hostile_link_t *link, hostile_way_t way)
{
    ompp_off_t *const to = hostile_at(link->at), was = *to, own = link->own ? link->own : link->at;
    const ompp_off_t ways[HOSTILE_WAYS] = {0, own & ~7u, was, OMPP_LAYOUT_HEADER, own + 8, hostile.size - 8};

    if (way == HOSTILE_CIRCLE && link->own && was) *(ompp_off_t *)hostile_at(was) = link->own;
    *to = ways[way];
}

static inline uint32_t hostile_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/** \brief Bends some links and numbers, chosen by the seed. */
static inline void hostile_mutate(uint64_t seed)
{
    uint64_t state = seed * 2 + 1;
    const unsigned nlinks = 1 + hostile_random(&state) % 6, nwords = hostile_random(&state) % 4;

    for (unsigned i = 0; i < nlinks; i++) {
        const hostile_link_t *link = &hostile.links[hostile_random(&state) % hostile.nlinks];
        if (hostile_random(&state) % 4) hostile_bend(link, hostile_random(&state) % HOSTILE_WAYS);
        else *(ompp_off_t *)hostile_at(link->at) = hostile_random(&state) % hostile.size & ~7u;
    }
    for (unsigned i = 0; i < nwords; i++) {
        const uint32_t values[] = {
            0, 1, hostile_random(&state) % 100, hostile.size / 64, hostile.size, UINT32_MAX, UINT32_MAX - 1};
        *(uint32_t *)hostile_at(hostile.words[hostile_random(&state) % hostile.nwords]) =
            values[hostile_random(&state) % (sizeof values / sizeof values[0])];
    }
}

#endif
