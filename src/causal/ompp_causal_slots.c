/*
 * Which regions are followed. A region gets a slot when a thread comes into it for the first time and one is free; the mask of a call
 * tree node, cached by each thread, says in which of them work at the node is done.
 */
#include "causal/ompp_causal_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <string.h>

static struct {
    _Atomic uint32_t lock;
    _Atomic(ompp_region_ref_t) region[OMPP_CLOCKS_SLOTS]; /* 0 = free, or known by its key only */
    _Atomic uint64_t key[OMPP_CLOCKS_SLOTS];              /* 0 = free */
    unsigned limit;                                       /* slots that are used */
} slots = {.limit = OMPP_CLOCKS_SLOTS};

ompp_region_ref_t ompp_causal_region(unsigned slot)
{
    return atomic_load_explicit(&slots.region[slot], memory_order_acquire);
}

void ompp_causal_limit_slots(unsigned limit)
{
    slots.limit = limit < 1 ? 1 : limit > OMPP_CLOCKS_SLOTS ? OMPP_CLOCKS_SLOTS : limit;
}

uint64_t ompp_causal_key(unsigned slot)
{
    return atomic_load_explicit(&slots.key[slot], memory_order_acquire);
}

/* Regions in which nobody works: they wait, or are over at once. */
static bool has_work(ompp_region_ref_t region)
{
    switch (ompp_region_construct(region)) {
    case OMPP_CONSTRUCT_BARRIER:
    case OMPP_CONSTRUCT_FLUSH:
    case OMPP_CONSTRUCT_TASKWAIT:
    case OMPP_CONSTRUCT_NUM:
        return false;
    default:
        return true;
    }
}

/* The key's slot, or the first free one for it; with the lock held. */
static int find(uint64_t key, bool take)
{
    for (unsigned s = 0; s < slots.limit; s++)
        if (ompp_causal_key(s) == key) return (int)s;
    for (unsigned s = 0; s < slots.limit && take; s++) {
        if (ompp_causal_key(s)) continue;
        atomic_store_explicit(&slots.key[s], key, memory_order_release);
        return (int)s;
    }
    return -1;
}

int ompp_causal_slot_of(uint64_t key)
{
    ompp_causal_lock(&slots.lock);
    int slot = find(key, true);
    ompp_causal_unlock(&slots.lock);
    return slot;
}

static unsigned bit_of(ompp_region_ref_t region)
{
    for (unsigned s = 0; s < slots.limit; s++)
        if (ompp_causal_region(s) == region) return 1u << s;
    if (!has_work(region)) return 0;
    const uint64_t key = ompp_whatif_region_key(region);
    bool is_new = false;
    ompp_causal_lock(&slots.lock);
    int slot = find(key, true);
    if (slot >= 0 && !ompp_causal_region((unsigned)slot)) {
        atomic_store_explicit(&slots.region[slot], region, memory_order_release);
        is_new = true;
    }
    ompp_causal_unlock(&slots.lock);
    if (is_new) ompp_causal_result_new((unsigned)slot);
    /* Two regions with one key are one to us (a macro expanded twice in a line). */
    return slot < 0 ? 0 : 1u << slot;
}

static unsigned mask_of(ompp_causal_thread_t *self, ompp_off_t node, unsigned depth)
{
    const unsigned entry = (node >> 4) * 0x9e3779b1u >> 24;
    const ompp_region_ref_t region = ompp_meter_region(node);

    if (!region || depth > 1000) return 0;
    if (self->nodes[entry].node == node) return self->nodes[entry].mask;
    unsigned mask = mask_of(self, ompp_meter_parent(node), depth + 1) | bit_of(region);
    self->nodes[entry].node = node;
    self->nodes[entry].mask = (uint16_t)mask;
    return mask;
}

uint16_t ompp_causal_mask(ompp_causal_thread_t *self, ompp_off_t node)
{
    const uint64_t set = atomic_load_explicit(&ompp_causal.set, memory_order_relaxed);

    if (__builtin_expect(self->nodes_set != set, 0)) {
        memset(self->nodes, 0, sizeof self->nodes);
        self->nodes_set = set;
    }
    return (uint16_t)mask_of(self, node, 0);
}

void ompp_causal_settle_slow(ompp_causal_thread_t *self, uint64_t set)
{
    ompp_clocks_reset(&self->clocks, set, atomic_load(&ompp_causal.set_begin));
    self->regions = ompp_causal_mask(self, self->node);
    self->clocks.mask = ompp_causal_counted(self->regions);
}
