/*
 * A treap: a search tree over (begin, order), and a heap over random numbers, which keep it balanced. Each node also
 * knows the highest end below it, by which subtrees without a match are left out.
 */
#define _GNU_SOURCE
#include "base/ompp_pages.h"
#include "data/ompp_data_ranges_priv.h"

#include <string.h>
#include <sys/mman.h>

typedef uint32_t at_t; /* place in the pool; 0 = none */

typedef struct {
    ompp_data_entry_t entry;
    uintptr_t last; /* highest end in this subtree */
    at_t left, right;
    uint32_t rank; /* higher than those below */
} node_t;

typedef struct {
    void *items;
    size_t room; /* bytes */
} block_t;

static block_t pool, results;
static size_t nnodes = 1, nranges;
static at_t root, unused; /* nodes that were removed, by their left ones */
static uint64_t newest_order;

/* Makes room for size bytes, at least twice what there was. */
static bool grow(block_t *block, size_t size)
{
    size_t room = block->room ? 2 * block->room : 16384;
    void *items;

    if (size <= block->room) return true;
    while (room < size) room *= 2;
    items = block->items ? ompp_mremap(block->items, block->room, room, MREMAP_MAYMOVE, NULL)
                         : ompp_mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (items == MAP_FAILED) return false;
    *block = (block_t){items, room};
    return true;
}

static node_t *node(at_t at) { return (node_t *)pool.items + at; }

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

static bool before(const ompp_data_entry_t *a, const ompp_data_entry_t *b)
{
    return a->range.begin != b->range.begin ? a->range.begin < b->range.begin : a->order < b->order;
}

static void update(at_t at)
{
    node_t *n = node(at);

    n->last = n->entry.range.end;
    if (n->left && node(n->left)->last > n->last) n->last = node(n->left)->last;
    if (n->right && node(n->right)->last > n->last) n->last = node(n->right)->last;
}

/* What comes before the entry goes to *left, all else to *right. */
static void split(at_t at, const ompp_data_entry_t *entry, at_t *left, at_t *right)
{
    if (!at) {
        *left = *right = 0;
        return;
    }
    if (before(&node(at)->entry, entry)) {
        split(node(at)->right, entry, &node(at)->right, right);
        *left = at;
    } else {
        split(node(at)->left, entry, left, &node(at)->left);
        *right = at;
    }
    update(at);
}

/* All of left comes before all of right. */
static at_t join(at_t left, at_t right)
{
    at_t top = !right || (left && node(left)->rank > node(right)->rank) ? left : right;

    if (!left || !right) return top;
    if (top == left) node(left)->right = join(node(left)->right, right);
    else node(right)->left = join(left, node(right)->left);
    update(top);
    return top;
}

static uint32_t random_rank(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static at_t new_node(const ompp_data_entry_t *entry)
{
    at_t at = unused;

    if (at) {
        unused = node(at)->left;
    } else {
        if (nnodes == UINT32_MAX || !grow(&pool, (nnodes + 1) * sizeof(node_t))) return 0;
        at = (at_t)nnodes++;
    }
    *node(at) = (node_t){*entry, entry->range.end, 0, 0, random_rank()};
    return at;
}

/* \return the subtree without the entry. */
static at_t without(at_t at, const ompp_data_entry_t *entry)
{
    if (!at) return 0;
    node_t *n = node(at);
    if (before(entry, &n->entry)) {
        n->left = without(n->left, entry);
    } else if (before(&n->entry, entry)) {
        n->right = without(n->right, entry);
    } else {
        at_t rest = join(n->left, n->right);
        n->left = unused;
        unused = at;
        nranges--;
        return rest;
    }
    update(at);
    return at;
}

/* ---- For the register -------------------------------------------------------------------------------------------- */

size_t ompp_data_ranges_count(void) { return nranges; }

bool ompp_data_ranges_put(ompp_data_entry_t entry)
{
    at_t added = new_node(&entry), left, right;

    if (!added) return false;
    split(root, &entry, &left, &right);
    root = join(join(left, added), right);
    nranges++;
    return true;
}

bool ompp_data_ranges_add(ompp_data_range_t range)
{
    return ompp_data_ranges_put((ompp_data_entry_t){range, ++newest_order});
}

void ompp_data_ranges_remove(ompp_data_entry_t entry) { root = without(root, &entry); }

typedef struct {
    uintptr_t begin, end;
    size_t n;
    bool newest_only;
} search_t;

static void take(search_t *s, const ompp_data_entry_t *entry)
{
    ompp_data_entry_t *to = results.items;

    if (s->newest_only) {
        if (s->n == 0 || to[0].order < entry->order) to[0] = *entry;
        s->n = 1;
    } else if (grow(&results, (s->n + 1) * sizeof *to)) {
        ((ompp_data_entry_t *)results.items)[s->n++] = *entry;
    }
}

static void search(search_t *s, at_t at)
{
    while (at && node(at)->last > s->begin) {
        search(s, node(at)->left);
        if (node(at)->entry.range.begin >= s->end) return;
        if (node(at)->entry.range.end > s->begin) take(s, &node(at)->entry);
        at = node(at)->right;
    }
}

/* Lets the entry at place i sink to where it belongs in a heap whose top is the newest. */
static void sink(ompp_data_entry_t *heap, size_t n, size_t i)
{
    for (size_t below; (below = 2 * i + 1) < n; i = below) {
        if (below + 1 < n && heap[below + 1].order > heap[below].order) below++;
        if (heap[i].order >= heap[below].order) return;
        const ompp_data_entry_t entry = heap[i];
        heap[i] = heap[below];
        heap[below] = entry;
    }
}

/* Not by qsort(), which may call malloc(). */
static void sort(ompp_data_entry_t *entries, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sink(entries, n, i);
    while (n > 1) {
        const ompp_data_entry_t newest = entries[0];
        entries[0] = entries[--n];
        entries[n] = newest;
        sink(entries, n, 0);
    }
}

size_t ompp_data_ranges_over(uintptr_t begin, uintptr_t end, const ompp_data_entry_t **found)
{
    search_t s = {.begin = begin, .end = end};

    search(&s, root);
    sort(results.items, s.n);
    *found = results.items;
    return s.n;
}

bool ompp_data_ranges_newest(uintptr_t begin, uintptr_t end, ompp_data_range_t *newest)
{
    search_t s = {.begin = begin, .end = end, .newest_only = true};

    if (!grow(&results, sizeof(ompp_data_entry_t))) return false;
    search(&s, root);
    if (s.n) *newest = ((ompp_data_entry_t *)results.items)[0].range;
    return s.n > 0;
}
