/*
 * Counts that a thread has made since its place changed last. Hooks count without knowing of regions; what they have
 * counted when the process died belongs to the region that was open.
 */
#include "model/ompp_collect_priv.h"

#include "base/ompp_path.h"
#include "base/ompp_vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 5 /* regions in a note */

/* ---- Counts that are in the arena -------------------------------------------------------------------------------- */

static const ompp_a_pending_t *next_pending(const ompp_collecting_t *c, const ompp_a_pending_t *p)
{
    return ompp_collect_record(c, p ? p->next : c->pending, sizeof *p);
}

static ompp_off_t node_of(const ompp_a_pending_t *p) { return atomic_load_explicit(&p->node, memory_order_acquire); }

static bool is_redone(const ompp_a_pending_t *p)
{
    return atomic_load_explicit(&p->redo.is, memory_order_acquire) != 0;
}

static bool has_item(const ompp_collecting_t *c, const ompp_a_page_t *page, uint32_t kind, uint32_t object, size_t size)
{
    return page->kind == kind && object >= page->first && object - page->first < page->n &&
           ompp_collect_lies(c, page->items, page->n * (uint64_t)size);
}

/* An object's item in the page of a kind that has it. Objects come in order: the last one's page is tried first. */
static const void *item_of(ompp_collecting_t *c, const ompp_a_pending_t *p, uint32_t kind, uint32_t object, size_t size)
{
    const ompp_a_page_t *page = c->page && has_item(c, c->page, kind, object, size)
                                    ? c->page
                                    : ompp_collect_record(c, ompp_collect_follow(&p->pages), sizeof *page);

    for (uint32_t n = 0; page && n < ompp_collect_most(c);
         n++, page = ompp_collect_record(c, page->next, sizeof *page)) {
        if (!has_item(c, page, kind, object, size)) continue;
        c->page = page;
        return c->base + page->items + (object - page->first) * size;
    }
    return NULL;
}

static void add_object(ompp_collecting_t *c, const ompp_a_pending_t *p, const ompp_counted_t *counted, uint32_t object,
                       uint32_t node, uint32_t location, uint64_t *total)
{
    const uint64_t none[2] = {0}, *blocks;
    uint64_t values[OMPP_COUNTED_VALUES];

    if (object > c->profile->nobjects || (is_redone(p) && p->redo.object == object)) return;
    if (!ompp_counted_values(counted, none, values)) return;
    if ((blocks = item_of(c, p, OMPP_A_PAGE_BLOCKS, object, 2 * sizeof *blocks)))
        ompp_counted_values(counted, blocks, values);
    if (object) ompp_collect_put(c, node, location, p->set, object, values, OMPP_COUNTED_VALUES);
    for (unsigned i = 0; i < OMPP_COUNTED_VALUES; i++) total[i] += values[i];
}

static void add_pending(ompp_collecting_t *c, const ompp_a_pending_t *p, uint32_t node, uint32_t location)
{
    const ompp_a_page_t *page = ompp_collect_record(c, ompp_collect_follow(&p->pages), sizeof *page);
    uint64_t total[OMPP_COUNTED_VALUES], any = 0;

    c->page = NULL; /* of another list */
    memcpy(total, is_redone(p) ? p->redo.total : p->total, sizeof total);
    for (uint32_t n = 0; page && n < ompp_collect_most(c);
         n++, page = ompp_collect_record(c, page->next, sizeof *page)) {
        const ompp_counted_t *counted = page->kind == OMPP_A_PAGE_COUNTS && page->items % _Alignof(ompp_counted_t) == 0
                                            ? ompp_collect_record(c, page->items, page->n * (uint64_t)sizeof *counted)
                                            : NULL;
        for (uint32_t i = 0; counted && i < page->n; i++)
            add_object(c, p, &counted[i], page->first + i, node, location, total);
    }
    for (unsigned i = 0; i < OMPP_COUNTED_VALUES; i++) any |= total[i];
    if (any) ompp_collect_put(c, node, location, p->set, 0, total, OMPP_COUNTED_VALUES);
}

void ompp_collect_pending(ompp_collecting_t *c, uint32_t location)
{
    uint32_t most = ompp_collect_most(c);

    for (const ompp_a_pending_t *p = next_pending(c, NULL); p && most-- > 0; p = next_pending(c, p)) {
        uint32_t node = ompp_collect_mapped(c, node_of(p));
        if (node != OMPP_NONE) add_pending(c, p, node, location);
    }
}

bool ompp_collect_find_redone(ompp_collecting_t *c)
{
    uint32_t most = ompp_collect_most(c);
    size_t allocated = 0;

    for (const ompp_a_pending_t *p = next_pending(c, NULL); p && most-- > 0; p = next_pending(c, p)) {
        if (!is_redone(p)) continue;
        if (!ompp_vector_reserve(&c->redone, &allocated, c->nredone + 1, sizeof(const ompp_a_pending_t *)))
            return false;
        c->redone[c->nredone++] = p;
    }
    return true;
}

const uint64_t *ompp_collect_redone(const ompp_collecting_t *c, const ompp_a_block_t *block)
{
    const ompp_off_t off = (ompp_off_t)((const char *)block - c->base);

    for (uint32_t i = 0; i < c->nredone && block->nvalues == OMPP_COUNTED_VALUES; i++) {
        const ompp_a_pending_t *p = c->redone[i];
        if (!ompp_collect_spend(c, sizeof p->redo)) break;
        if (p->set == block->set && p->redo.block == off) return p->redo.values;
    }
    return block->values;
}

/* ---- Counts that are not ----------------------------------------------------------------------------------------- */

/* Pages come as objects do: enough of each kind are all that are needed. */
static bool has_pages(const ompp_collecting_t *c, const ompp_a_pending_t *p, uint32_t nobjects)
{
    const ompp_a_page_t *page = ompp_collect_record(c, ompp_collect_follow(&p->pages), sizeof *page);
    uint64_t items[OMPP_A_PAGE_NUM] = {0};

    for (uint32_t n = 0; page && n < ompp_collect_most(c); n++, page = ompp_collect_record(c, page->next, sizeof *page))
        if (page->kind < OMPP_A_PAGE_NUM) items[page->kind] += page->n;
    return items[OMPP_A_PAGE_COUNTS] > nobjects && items[OMPP_A_PAGE_BLOCKS] > nobjects;
}

/* Whether the counts of a set, of all threads that were at work, are in the arena. */
static bool is_there(const ompp_collecting_t *c, uint32_t set, uint32_t nobjects)
{
    uint32_t most = ompp_collect_most(c);
    bool any = false;

    for (const ompp_a_pending_t *p = next_pending(c, NULL); p && most-- > 0; p = next_pending(c, p)) {
        if (p->set != set) continue;
        any = true;
        if (node_of(p) && !has_pages(c, p, nobjects)) return false;
    }
    return any;
}

/* Appends a name that is not in the list yet. \return false: it has no room. */
static void add_name(char *list, size_t size, const char *name, unsigned *n)
{
    const size_t length = strlen(list);

    if (strstr(list, name)) return;
    if ((*n)++ < SHOWN) snprintf(list + length, size - length, "%s%.60s", length ? ", " : "", name);
}

static void name_region(const ompp_collecting_t *c, ompp_off_t region, char *name, size_t size)
{
    const ompp_a_region_t *r = ompp_collect_record(c, region, sizeof *r);
    const char *type = ompp_collect_name(c, region), *file = r ? ompp_collect_text(c, r->file) : "";

    if (!type) snprintf(name, size, "outside of all regions");
    else if (*file) snprintf(name, size, "%.40s %.40s:%u", type, ompp_path_last(file), r->begin);
    else snprintf(name, size, "%.60s", type);
}

/* Names of the regions that threads were in. */
static void list_open(const ompp_collecting_t *c, const ompp_a_header_t *header, char *list, size_t size)
{
    const ompp_a_thread_t *t = ompp_collect_record(c, ompp_collect_follow(&header->threads), sizeof *t);
    unsigned names = 0;
    char name[100];

    *list = '\0';
    for (uint32_t n = 0; t && n < ompp_collect_most(c); n++, t = ompp_collect_record(c, t->next, sizeof *t)) {
        const ompp_off_t off = ompp_collect_follow(&t->stack);
        const ompp_a_stack_t *stack = ompp_collect_record(c, off, sizeof *stack);
        if (t->end_ns || !stack || stack->top >= stack->capacity || !ompp_collect_has_frames(c, off, stack->top + 1))
            continue;
        const ompp_a_node_t *node = ompp_collect_record(c, stack->frames[stack->top].node, sizeof *node);
        name_region(c, node ? node->region : 0, name, sizeof name);
        add_name(list, size, name, &names);
    }
    if (names > SHOWN) snprintf(list + strlen(list), size - strlen(list), ", ...");
}

void ompp_collect_note_pending(const ompp_collecting_t *c, const ompp_a_header_t *header, ompp_profile_t *profile)
{
    const uint64_t metered = ompp_collect_load(&header->metered);
    const ompp_a_object_t *newest = ompp_collect_record(c, ompp_collect_follow(&header->objects), sizeof *newest);
    char open[400], subject[200];

    list_open(c, header, open, sizeof open);
    for (size_t i = 0; i < profile->nmetrics; i++) {
        const ompp_metric_t *m = &profile->metrics[i];
        if (m->index != 0 || m->set >= 64 || !(metered >> m->set & 1)) continue;
        if (is_there(c, m->set, newest ? newest->id : 0)) continue;
        snprintf(subject, sizeof subject, "%.100s: what was counted since a thread last changed its region is missing",
                 ompp_profile_text(profile, m->source));
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_NOTE, subject, open, 1);
    }
}
