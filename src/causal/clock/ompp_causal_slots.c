/*
 * Which regions are followed. Every region in which there can be work is known, with its key; those that come first get
 * a slot. The mask of a call tree node, cached by each thread, says in which of the slots' regions work at the node is
 * done.
 *
 * When there are more regions than slots they take turns (ompp_causal_turns.c): another set of regions, with another
 * number.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/replay/ompp_causal_replay_priv.h"

#include "base/ompp_hash.h"
#include "runtime/ompp_whatif_record.h"

#include <sched.h>
#include <string.h>

#define ROWS (2 * OMPP_CAUSAL_KNOWN) /* of the table by region; power of two */
#define NONE (-1)
#define PATIENCE 100000u /* looks; a moment is enough */
#define NOT_YET (-2)     /* a thread that met it first is about to give it one */

static struct {
    _Atomic uint32_t lock;
    unsigned limit;                          /* slots that are used */
    bool is_suspended;                       /* no slot is given to a region now */
    _Atomic uint64_t key[OMPP_CLOCKS_SLOTS]; /* 0 = free */
    _Atomic int known[OMPP_CLOCKS_SLOTS];    /* first region with the key + 1; 0 = only other ranks know it */
    _Atomic unsigned nknown;
    struct {
        ompp_region_ref_t region;
        uint64_t key;
        _Atomic(ompp_a_whatif_region_t *) record; /* NULL = none yet: another thread is making it */
        _Atomic int slot;                         /* NONE = not followed now */
    } regions[OMPP_CAUSAL_KNOWN];
    _Atomic uint16_t row[ROWS]; /* index of a region + 1; 0 = free */
    _Atomic uint64_t replaced;  /* times that a slot went from one region to another within a set */
} slots = {.limit = OMPP_CLOCKS_SLOTS};

void ompp_causal_limit_slots(unsigned limit)
{
    const unsigned all = limit + ompp_causal.rule.ideal;

    slots.limit = all < 1 ? 1 : all > OMPP_CLOCKS_SLOTS ? OMPP_CLOCKS_SLOTS : all;
}

unsigned ompp_causal_nslots(void) { return slots.limit; }

uint64_t ompp_causal_key(unsigned slot) { return atomic_load_explicit(&slots.key[slot], memory_order_acquire); }

int ompp_causal_known(unsigned slot) { return atomic_load_explicit(&slots.known[slot], memory_order_acquire) - 1; }

unsigned ompp_causal_nknown(void) { return atomic_load_explicit(&slots.nknown, memory_order_acquire); }

ompp_region_ref_t ompp_causal_known_region(unsigned index) { return slots.regions[index].region; }

uint64_t ompp_causal_known_key(unsigned index) { return slots.regions[index].key; }

ompp_a_whatif_region_t *ompp_causal_known_record(unsigned index) { return atomic_load(&slots.regions[index].record); }

/* What is outside of all regions is one, too: the reference 0, with a key that is the same everywhere. */
#define OUTSIDE_KEY 0x6f75747369646521u

/* So are the ideal clocks, which are of no region: they have their slot as long as others have one. */
#define IDEAL_KEY 0x696465616c212121u

/* Regions in which nobody works: they wait, are over at once, or lie outside of what ranks can tell each other. */
static bool has_work(ompp_region_ref_t region)
{
    char file[8], name[16];
    uint32_t line;

    switch (ompp_region_construct(region)) {
    case OMPP_CONSTRUCT_BARRIER:
    case OMPP_CONSTRUCT_FLUSH:
    case OMPP_CONSTRUCT_TASKWAIT:
    case OMPP_CONSTRUCT_NUM: return false;
    case OMPP_CONSTRUCT_MPI:
        ompp_whatif_region_place(region, file, sizeof file, &line, name, sizeof name);
        return strncmp(name, "MPI_Init", 8) != 0 && strncmp(name, "MPI_Finalize", 12) != 0;
    default: return true;
    }
}

int ompp_causal_find_slot(uint64_t key)
{
    for (unsigned s = 0; s < slots.limit; s++)
        if (ompp_causal_key(s) == key) return (int)s;
    return -1;
}

/* The slot belongs to the key from now on; regions with it that are known go there. With the lock held. */
static void give(unsigned slot, uint64_t key)
{
    int first = -1;

    for (unsigned i = 0; key && i < ompp_causal_nknown(); i++) {
        if (slots.regions[i].key != key) continue;
        if (first < 0) first = (int)i;
        atomic_store_explicit(&slots.regions[i].slot, (int)slot, memory_order_release);
    }
    atomic_store_explicit(&slots.known[slot], first + 1, memory_order_release);
    atomic_store_explicit(&slots.key[slot], key, memory_order_release);
}

static int take(uint64_t key)
{
    int slot = ompp_causal_find_slot(key);

    if (slot < 0 && !slots.is_suspended && (slot = ompp_causal_find_slot(0)) >= 0) give((unsigned)slot, key);
    return slot;
}

int ompp_causal_give_slot(uint64_t key)
{
    ompp_causal_lock(&slots.lock);
    int slot = take(key);
    ompp_causal_unlock(&slots.lock);
    return slot;
}

int ompp_causal_known_with(uint64_t key)
{
    for (unsigned i = 0; key && i < ompp_causal_nknown(); i++)
        if (slots.regions[i].key == key) return (int)i;
    return -1;
}

void ompp_causal_replace(unsigned slot, uint64_t key)
{
    ompp_causal_lock(&slots.lock);
    if (ompp_causal_find_slot(key) < 0) {
        const uint64_t before = ompp_causal_key(slot);
        for (unsigned i = 0; before && i < ompp_causal_nknown(); i++)
            if (slots.regions[i].key == before)
                atomic_store_explicit(&slots.regions[i].slot, NONE, memory_order_relaxed);
        give(slot, key);
        atomic_fetch_add_explicit(&slots.replaced, 1, memory_order_release);
    }
    ompp_causal_unlock(&slots.lock);
}

void ompp_causal_choose(const uint64_t keys[OMPP_CLOCKS_SLOTS])
{
    ompp_causal_lock(&slots.lock);
    for (unsigned i = 0; i < ompp_causal_nknown(); i++)
        atomic_store_explicit(&slots.regions[i].slot, NONE, memory_order_relaxed);
    slots.is_suspended = !keys[0];
    for (unsigned s = 0; s < slots.limit; s++) give(s, keys[s]);
    ompp_causal_unlock(&slots.lock);
}

/* ---- Regions that are known -------------------------------------------------------------------------------------- */

static uint32_t row_of(ompp_region_ref_t region) { return ompp_hash_place32(region >> 4, 16); }

int ompp_causal_find(ompp_region_ref_t region)
{
    for (uint32_t i = row_of(region);; i++) {
        const unsigned index = atomic_load_explicit(&slots.row[i % ROWS], memory_order_acquire);
        if (index == 0) return -1;
        if (slots.regions[index - 1].region == region) return (int)index - 1;
    }
}

static uint64_t key_of(ompp_region_ref_t region)
{
    if (!region) return OUTSIDE_KEY;
    if (region == OMPP_WHATIF_IDEAL) return IDEAL_KEY;
    return has_work(region) ? ompp_whatif_region_key(region) : 0;
}

int ompp_causal_add(ompp_region_ref_t region)
{
    const uint64_t key = key_of(region);
    int index = -1;
    bool is_new = false;

    ompp_causal_lock(&slots.lock);
    index = ompp_causal_find(region);
    if (index < 0 && slots.nknown < OMPP_CAUSAL_KNOWN) {
        uint32_t i = row_of(region);
        index = (int)slots.nknown;
        slots.regions[index].region = region;
        slots.regions[index].key = key;
        atomic_store(&slots.regions[index].slot, key ? NOT_YET : NONE);
        atomic_store_explicit(&slots.nknown, (unsigned)index + 1, memory_order_release);
        while (atomic_load(&slots.row[i % ROWS])) i++;
        atomic_store_explicit(&slots.row[i % ROWS], (uint16_t)(index + 1), memory_order_release);
        is_new = key != 0;
    }
    ompp_causal_unlock(&slots.lock);
    if (is_new) {
        atomic_store(&slots.regions[index].record, ompp_whatif_region_new(region));
        ompp_causal_lock(&slots.lock);
        const int slot = take(key);
        atomic_store_explicit(&slots.regions[index].slot, slot, memory_order_release);
        if (slot >= 0 && ompp_causal_known((unsigned)slot) < 0) give((unsigned)slot, key);
        ompp_causal_unlock(&slots.lock);
    }
    return index;
}

void ompp_causal_follow_ideal(void)
{
    slots.limit = 1;
    ompp_causal.rule.ideal = ompp_causal_add(OMPP_WHATIF_IDEAL) >= 0;
}

uint64_t ompp_causal_ideal_key(void) { return ompp_causal.rule.ideal ? IDEAL_KEY : 0; }

/* Threads of a team meet a region at the same moment: those that find it half known wait, since they would never ask
 * again. */
static int slot_of_region(unsigned index)
{
    int slot = NOT_YET;

    for (unsigned i = 0; i < PATIENCE; i++) {
        slot = atomic_load_explicit(&slots.regions[index].slot, memory_order_acquire);
        if (slot != NOT_YET) break;
        sched_yield();
    }
    return slot;
}

static unsigned bit_of(ompp_region_ref_t region)
{
    int index = ompp_causal_find(region);

    if (index < 0) index = ompp_causal_add(region);
    const int slot = index < 0 ? NONE : slot_of_region((unsigned)index);
    return slot < 0 ? 0 : 1u << slot;
}

static unsigned mask_of(ompp_causal_thread_t *self, ompp_off_t node, unsigned depth)
{
    const unsigned entry = ompp_hash_place32(node >> 4, 8);
    const ompp_region_ref_t region = ompp_meter_region(node);

    if (!region || depth > OMPP_CAUSAL_DEEPEST) return 0;
    if (self->nodes[entry].node == node) return self->nodes[entry].mask;
    unsigned mask = mask_of(self, ompp_meter_parent(node), depth + 1) | bit_of(region);
    self->nodes[entry].node = node;
    self->nodes[entry].mask = mask;
    return mask;
}

uint32_t ompp_causal_mask(ompp_causal_thread_t *self, ompp_off_t node)
{
    const uint64_t set = atomic_load_explicit(&ompp_causal.set, memory_order_relaxed) +
                         atomic_load_explicit(&slots.replaced, memory_order_acquire);

    if (__builtin_expect(self->nodes_set != set, 0)) {
        memset(self->nodes, 0, sizeof self->nodes);
        self->nodes_set = set;
    }
    /* At the root alone: what is below it is inside of something. */
    if (!ompp_meter_region(node)) return !ompp_causal.rule.delays || ompp_causal_is_outside(self) ? bit_of(0) : 0;
    return mask_of(self, node, 0);
}

/* Without making regions known. */
static bool is_in(ompp_off_t node, unsigned slot)
{
    for (unsigned depth = 0; ompp_meter_region(node) && depth <= OMPP_CAUSAL_DEEPEST; depth++) {
        const int index = ompp_causal_find(ompp_meter_region(node));
        if (index >= 0 && slots.regions[index].slot == (int)slot) return true;
        node = ompp_meter_parent(node);
    }
    return false;
}

bool ompp_causal_works(const ompp_causal_thread_t *thread)
{
    const ompp_sync_object_t kind = thread->wait.kind;
    const bool alone =
        kind == OMPP_SYNC_MUTEX || kind == OMPP_SYNC_READ || kind == OMPP_SYNC_ORDERED || kind == OMPP_SYNC_SEMAPHORE;

    if (!atomic_load(&thread->used) || (thread->clocks.waiting && !alone)) return false;
    return thread->main || thread->made || thread->clocks.where != OMPP_CLOCKS_OUTSIDE;
}

ompp_fine_t ompp_causal_saved(const ompp_causal_thread_t *thread, unsigned clock, ompp_time_t t)
{
    const ompp_clocks_t *c = &thread->clocks;
    const unsigned slot = clock / OMPP_WHATIF_SPEEDUPS;
    const bool settled = c->set == atomic_load(&ompp_causal.set),
               in_it = settled ? c->mask >> slot & 1 : is_in(thread->node, slot);
    const ompp_time_t since = settled ? c->since : atomic_load(&ompp_causal.set_begin),
                      more = in_it && t > since && !c->waiting && !thread->waits ? t - since : 0;

    return (settled ? ompp_clocks_offset(&ompp_causal.rule, c, clock) : 0) +
           ompp_causal.rule.percent[clock % OMPP_WHATIF_SPEEDUPS] * (ompp_fine_t)more;
}

ompp_clocks_where_t ompp_causal_where(ompp_off_t node)
{
    const ompp_region_ref_t region = ompp_meter_region(node);

    if (!region) return OMPP_CLOCKS_OUTSIDE;
    switch (ompp_region_construct(region)) {
    case OMPP_CONSTRUCT_MPI: return OMPP_CLOCKS_UNKNOWN;
    case OMPP_CONSTRUCT_TASK:
    case OMPP_CONSTRUCT_UTASK: return OMPP_CLOCKS_MAKES_TASKS;
    default: return OMPP_CLOCKS_INSIDE;
    }
}

/* What it does while clocks are suspended is not counted. */
static void pass_suspension(ompp_causal_thread_t *self, uint64_t set, ompp_time_t begin)
{
    const uint64_t suspension = atomic_load_explicit(&ompp_causal.suspension, memory_order_relaxed);
    const ompp_time_t suspension_begin = atomic_load_explicit(&ompp_causal.suspension_begin, memory_order_relaxed);
    ompp_clocks_t *c = &self->clocks;

    /* It has had no event since more than one suspension: what it did between them is not known. */
    if (suspension && c->set + 1 < suspension && c->since < begin) c->since = begin;
    if (c->set < suspension && suspension < set)
        ompp_clocks_reset(c, suspension, c->since > suspension_begin ? c->since : suspension_begin);
    if (c->set == suspension && c->since < begin) c->since = begin;
}

/* Where it has come to while moves were not reported. */
static void look_around(ompp_causal_thread_t *self)
{
    const ompp_place_now_t place = ompp_meter_place();

    self->node = place.node;
    self->waits = place.waits;
}

void ompp_causal_settle_slow(ompp_causal_thread_t *self, uint64_t set)
{
    const ompp_time_t begin = atomic_load(&ompp_causal.set_begin);
    const ompp_clocks_rule_t before = {.percent = {self->percent}, .delays = true};
    const uint64_t suspension = atomic_load_explicit(&ompp_causal.suspension, memory_order_relaxed);
    const bool suspended = suspension && self->clocks.set <= suspension && suspension < set;

    if (self->clocks.set == set) {
        /* Another experiment, in which offsets go on: work until its begin is of the one before. */
        ompp_clocks_count(&self->clocks, begin);
        ompp_clocks_book(&before, &self->clocks);
    } else {
        pass_suspension(self, set, begin);
        /* It has waited or paused until later than that: no work. */
        ompp_clocks_reset(&self->clocks, set, self->clocks.since > begin ? self->clocks.since : begin);
    }
    self->experiment = atomic_load(&ompp_causal.experiment);
    self->percent = ompp_causal.rule.percent[0];
    if (suspended) ompp_causal_time_often(self);
    if (suspended && !self->knows_place) look_around(self);
    self->regions = ompp_causal_mask(self, self->node);
    self->clocks.mask = ompp_causal_counted(self->regions);
    ompp_clocks_use(&self->clocks, self->clocks.mask);
    self->clocks.idle = self->waits || ompp_causal_is_suspended(self);
    self->clocks.where = (uint8_t)ompp_causal_where(self->node);
}
