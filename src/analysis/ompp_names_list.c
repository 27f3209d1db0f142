/*
 * The new list of structures, when those that the user has not named have their names: what has the same name is one
 * structure.
 */
#define _GNU_SOURCE
#include "analysis/ompp_names_priv.h"

#include <stdlib.h>
#include <string.h>

void ompp_names_count_accesses(ompp_names_t *n)
{
    for (size_t k = 0; k < n->profile->nnodes; k++)
        for (uint32_t b = 0; b < n->profile->nodes[k].nblocks; b++) {
            const ompp_block_t *block = &n->profile->nodes[k].blocks[b];
            if (block->object && block->object <= n->profile->nobjects && block->nvalues >= 2)
                n->objects[block->object - 1].accesses += block->values[0] + block->values[1];
        }
}

bool ompp_names_join_accesses(ompp_names_t *n)
{
    uint64_t *sums = calloc(n->profile->nobjects + 1, sizeof *sums);
    ompp_table_t by_name = {0};
    bool ok = sums != NULL;

    for (int pass = 0; pass < 2 && ok; pass++)
        for (size_t i = 0; i < n->profile->nobjects && ok; i++) {
            if (!n->objects[i].text) continue;
            const ompp_str_t name = ompp_profile_string(n->profile, n->objects[i].text);
            const uint64_t first = ompp_table_get(&by_name, name);
            if (!first) ok = ompp_table_set(&by_name, name, i + 1);
            if (pass == 0) sums[first ? first - 1 : i] += n->objects[i].accesses;
            else n->objects[i].accesses = sums[first - 1];
        }
    ompp_table_fini(&by_name);
    free(sums);
    return ok;
}

static int by_accesses(const void *a, const void *b, void *argument)
{
    const ompp_names_t *n = argument;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const ompp_names_object_t *o = &n->objects[x], *p = &n->objects[y];

    if (!o->text != !p->text) return o->text ? 1 : -1;
    if (o->text && o->accesses != p->accesses) return o->accesses > p->accesses ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The user names what is to be told apart: all else is other data, unless that is asked for. */
static bool wants_all(const ompp_names_t *n)
{
    const char *at = ompp_profile_setting(n->profile, "OMPP_DATA");

    for (size_t i = 0; i < n->profile->nobjects; i++)
        if (!ompp_object_is_all(n->profile, &n->profile->objects[i])) {
            for (const char *all = at; (all = strstr(all, "all")); all += 3)
                if ((all == at || strchr(", ", all[-1])) && strchr(", ", all[3])) return true;
            return false;
        }
    return true;
}

/* Numbers of the new list by those of the old; 0 = it is left out. */
static bool renumber(ompp_names_t *n, uint32_t *order, uint32_t *number)
{
    ompp_profile_t *p = n->profile;
    ompp_object_t *objects = calloc(p->nobjects + 1, sizeof *objects);
    ompp_table_t by_name = {0};
    const bool all = wants_all(n);
    size_t kept = 0;
    bool ok = objects != NULL;

    for (size_t k = 0; k < p->nobjects && ok; k++) {
        const uint32_t i = order[k];
        ompp_object_t o = p->objects[i];
        if (n->objects[i].text && (!all || !n->objects[i].accesses)) continue;
        if (n->objects[i].text) o.name = ompp_profile_string(p, n->objects[i].text);
        if (n->objects[i].text)
            o.origin = ompp_profile_string(p, n->objects[i].members ? n->objects[i].members : OMPP_OBJECT_ALL);
        const uint64_t same = ompp_table_get(&by_name, o.name);
        number[i + 1] = same ? (uint32_t)same : (uint32_t)kept + 1;
        if (same) objects[same - 1].nranges += o.nranges;
        if (same) objects[same - 1].size += o.size;
        if (same) continue;
        objects[kept++] = o;
        ok = ompp_table_set(&by_name, o.name, kept);
    }
    ompp_table_fini(&by_name);
    if (!ok) {
        free(objects);
        return false;
    }
    free(p->objects);
    p->objects = objects;
    p->nobjects = kept;
    p->aobjects = p->nobjects + 1;
    return true;
}

static int compare_blocks(const void *a, const void *b) { return ompp_block_compare(a, b); }

static void renumber_node(ompp_node_t *node, const uint32_t *number)
{
    uint32_t kept = 0;

    for (uint32_t b = 0; b < node->nblocks; b++) {
        ompp_block_t block = node->blocks[b];
        const bool gone = block.object && !number[block.object];
        block.object = number[block.object];
        if (gone) free(block.values);
        else node->blocks[kept++] = block;
    }
    node->nblocks = kept;
    if (kept > 1) qsort(node->blocks, kept, sizeof *node->blocks, compare_blocks);
    kept = 0;
    for (uint32_t b = 0; b < node->nblocks; b++) {
        ompp_block_t *block = &node->blocks[b], *last = kept ? &node->blocks[kept - 1] : NULL;
        if (!last || ompp_block_compare(last, block) != 0 || last->nvalues != block->nvalues) {
            node->blocks[kept++] = *block;
            continue;
        }
        for (uint32_t v = 0; v < block->nvalues; v++) last->values[v] += block->values[v];
        free(block->values);
    }
    node->nblocks = kept;
}

bool ompp_names_apply(ompp_names_t *n)
{
    ompp_profile_t *p = n->profile;
    const size_t all = p->nobjects;
    uint32_t *order = calloc(all + 1, sizeof *order), *number = calloc(all + 1, sizeof *number);

    for (size_t i = 0; order && i < all; i++) order[i] = (uint32_t)i;
    if (order) qsort_r(order, all, sizeof *order, by_accesses, n);
    const bool ok = order && number && renumber(n, order, number);
    for (size_t k = 0; ok && k < p->nnodes; k++) renumber_node(&p->nodes[k], number);
    free(order);
    free(number);
    return ok;
}
