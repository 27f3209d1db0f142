#include "model/ompp_profile.h"

#include "base/ompp_vector.h"
#include "model/ompp_record.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more element in a growing array; false and profile->failed when out of memory. */
static bool room(ompp_profile_t *profile, void *array, size_t *allocated, size_t used, size_t size)
{
    const bool ok = ompp_vector_reserve(array, allocated, used + 1, size);

    if (!ok) profile->failed = true;
    return ok;
}

ompp_profile_t *ompp_profile_new(void)
{
    ompp_profile_t *profile = calloc(1, sizeof *profile);

    if (!profile) return NULL;
    profile->nranks = 1;
    profile->rest_first_rank = OMPP_NONE;
    ompp_profile_string(profile, "");
    ompp_profile_add_node(profile, OMPP_NONE, OMPP_NONE, 0, 0);
    if (!profile->failed) return profile;
    ompp_profile_free(profile);
    return NULL;
}

void ompp_profile_free(ompp_profile_t *profile)
{
    if (!profile) return;
    for (size_t i = 0; i < profile->nstrings; i++) free(profile->strings[i]);
    for (size_t i = 0; i < profile->nnodes; i++) {
        for (size_t k = 0; k < profile->nodes[i].nblocks; k++) free(profile->nodes[i].blocks[k].values);
        free(profile->nodes[i].blocks);
    }
    free(profile->strings);
    free(profile->ranks);
    free(profile->locations);
    free(profile->modules);
    free(profile->regions);
    free(profile->nodes);
    free(profile->metrics);
    free(profile->objects);
    free(profile->coverage);
    free(profile->settings);
    free(profile->messages);
    free(profile->whatif.regions);
    free(profile->whatif.points);
    ompp_table_fini(&profile->index);
    free(profile);
}

static bool is_string(const void *strings, uint64_t value, const void *wanted)
{
    return strcmp(((char *const *)strings)[value - 1], wanted) == 0;
}

ompp_str_t ompp_profile_string(ompp_profile_t *profile, const char *text)
{
    if (!text) text = "";
    uint64_t key = ompp_hash_text(OMPP_HASH_START, text),
             found = ompp_table_search(&profile->index, &key, is_string, profile->strings, text);
    if (found) return (ompp_str_t)found - 1;
    char *copy = strdup(text);
    if (!copy || !room(profile, &profile->strings, &profile->astrings, profile->nstrings, sizeof *profile->strings) ||
        !ompp_table_set(&profile->index, key, profile->nstrings + 1)) {
        free(copy);
        profile->failed = true;
        return 0;
    }
    profile->strings[profile->nstrings] = copy;
    return profile->nstrings++;
}

uint32_t ompp_profile_append(ompp_profile_t *profile, const ompp_record_t *record, const void *item)
{
    char *const p = (char *)profile;
    size_t *const count = (size_t *)(p + record->count);
    void *const to = ompp_vector_push(p + record->array, count, (size_t *)(p + record->allocated), record->bytes);

    if (to) return memcpy(to, item, record->bytes), (uint32_t)*count - 1;
    profile->failed = true;
    return 0;
}

uint32_t ompp_profile_add_node(ompp_profile_t *profile, uint32_t region, uint32_t parent, uint64_t first_ns,
                               uint32_t first_rank)
{
    ompp_node_t node = {.region = region, .parent = parent, .first_ns = first_ns, .first_rank = first_rank};

    return ompp_profile_append(profile, &ompp_record_node, &node);
}

uint32_t ompp_profile_add_setting(ompp_profile_t *profile, const char *name, const char *value)
{
    ompp_setting_t setting = {ompp_profile_string(profile, name), ompp_profile_string(profile, value)};

    return ompp_profile_append(profile, &ompp_record_setting, &setting);
}

void ompp_profile_add_coverage(ompp_profile_t *profile, ompp_coverage_kind_t kind, const char *subject,
                               const char *reason, uint64_t count)
{
    ompp_coverage_t line = {
        kind, ompp_profile_string(profile, subject), ompp_profile_string(profile, reason), count, 1, OMPP_NONE};

    for (size_t i = 0; i < profile->ncoverage; i++) {
        ompp_coverage_t *old = &profile->coverage[i];
        if (old->kind == kind && old->subject == line.subject && old->reason == line.reason) {
            old->count += count;
            return;
        }
    }
    ompp_profile_append(profile, &ompp_record_coverage, &line);
}

int ompp_block_compare(const ompp_block_t *a, const ompp_block_t *b)
{
    if (a->location != b->location) return a->location < b->location ? -1 : 1;
    if (a->set != b->set) return a->set < b->set ? -1 : 1;
    return a->object < b->object ? -1 : a->object > b->object;
}

/* Where a block stands or belongs: index of the first one not before the key. The end is tried first: most come in
 * order. */
static uint32_t position(const ompp_node_t *node, const ompp_block_t *key)
{
    uint32_t low = 0, high = node->nblocks;

    if (high && ompp_block_compare(&node->blocks[high - 1], key) < 0) return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ompp_block_compare(&node->blocks[middle], key) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

const ompp_block_t *ompp_profile_find_block(const ompp_profile_t *profile, uint32_t node, uint32_t location,
                                            uint32_t set, uint32_t object)
{
    const ompp_node_t *n = &profile->nodes[node];
    ompp_block_t key = {.location = location, .set = set, .object = object};
    uint32_t i = position(n, &key);

    return i < n->nblocks && ompp_block_compare(&n->blocks[i], &key) == 0 ? &n->blocks[i] : NULL;
}

uint64_t *ompp_profile_block(ompp_profile_t *profile, uint32_t node, uint32_t location, uint32_t set, uint32_t object,
                             uint32_t nvalues)
{
    ompp_node_t *n = &profile->nodes[node];
    ompp_block_t block = {location, set, object, nvalues, NULL};
    uint32_t i = position(n, &block);
    size_t allocated = n->ablocks;

    if (i < n->nblocks && ompp_block_compare(&n->blocks[i], &block) == 0)
        return n->blocks[i].nvalues == nvalues ? n->blocks[i].values : NULL;
    if (!room(profile, &n->blocks, &allocated, n->nblocks, sizeof *n->blocks)) return NULL;
    n->ablocks = allocated;
    block.values = calloc(nvalues ? nvalues : 1, sizeof *block.values);
    if (!block.values) {
        profile->failed = true;
        return NULL;
    }
    memmove(&n->blocks[i + 1], &n->blocks[i], (n->nblocks++ - i) * sizeof block);
    n->blocks[i] = block;
    return block.values;
}

/* Whether a value at (rank, tid) is the one to name as extreme; sign turns the comparison: 1 minimum, -1 maximum. */
static bool names_extreme(uint64_t value, uint32_t rank, uint32_t tid, uint64_t old, uint32_t old_rank,
                          uint32_t old_tid, int sign)
{
    if (value != old) return (value < old) == (sign > 0);
    return rank != old_rank ? rank < old_rank : tid < old_tid;
}

static void extremes(ompp_spread_t *s, uint64_t min, uint32_t min_rank, uint32_t min_tid, uint64_t max,
                     uint32_t max_rank, uint32_t max_tid)
{
    if (s->count == 0 || names_extreme(min, min_rank, min_tid, s->min, s->min_rank, s->min_tid, 1)) {
        s->min = min;
        s->min_rank = min_rank;
        s->min_tid = min_tid;
    }
    if (s->count == 0 || names_extreme(max, max_rank, max_tid, s->max, s->max_rank, s->max_tid, -1)) {
        s->max = max;
        s->max_rank = max_rank;
        s->max_tid = max_tid;
    }
}

void ompp_spread_add(ompp_spread_t *spread, uint64_t value, uint32_t rank, uint32_t tid)
{
    double delta = (double)value - spread->mean;

    extremes(spread, value, rank, tid, value, rank, tid);
    spread->count++;
    spread->sum += value;
    spread->mean += delta / (double)spread->count;
    spread->m2 += delta * ((double)value - spread->mean);
}

void ompp_spread_merge(ompp_spread_t *into, const ompp_spread_t *from)
{
    double delta = from->mean - into->mean, n = (double)into->count + (double)from->count;

    if (from->count == 0) return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    extremes(into, from->min, from->min_rank, from->min_tid, from->max, from->max_rank, from->max_tid);
    into->m2 += from->m2 + delta * delta * (double)into->count * (double)from->count / n;
    into->mean += delta * (double)from->count / n;
    into->count += from->count;
    into->sum += from->sum;
}

bool ompp_profile_find_objects(const ompp_profile_t *profile, ompp_table_t *found)
{
    bool ok = true;

    for (size_t n = 0; n < profile->nnodes; n++)
        for (uint32_t b = 0; ok && b < profile->nodes[n].nblocks; b++) {
            const ompp_block_t *block = &profile->nodes[n].blocks[b];
            if (block->object) ok = ompp_table_set(found, ompp_hash_pair(block->set, block->object), 1);
        }
    return ok;
}
