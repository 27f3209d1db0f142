/*
 * Regions: defined once, under the process lock, kept in the arena. Called on the slow side of the event functions and
 * by sources that know lines (OPARI2).
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "region"
#include "runtime/ompp_region_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_hash.h"
#include "base/ompp_pages.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_callpath.h"
#include "runtime/ompp_module_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* offset: of the region, 0 = free, OMPP_REGION_LOST = there was no room for it. */
typedef struct {
    uint64_t hash;
    ompp_off_t off;
} slot_t;

/* Open addressing over all regions of the process by hash of their definition. */
static struct {
    slot_t *slots;
    uint32_t size, used, locks, lost;
} table;

#define MOST_LOST 65536u /* in the table: a program may go on making names */

static void *at(ompp_off_t off) { return ompp_process.arena.base + off; }

static const char *text_at(ompp_off_t off) { return off ? ((ompp_a_string_t *)at(off))->text : ""; }

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * OMPP_HASH_STEP; }

static uint64_t mix_text(uint64_t h, const char *text)
{
    for (; text && *text; text++) h = mix(h, (unsigned char)*text);
    return h;
}

/* What identifies a region in this process: where its code or object is, or its lines. */
typedef struct {
    const ompp_region_def_t *def;
    ompp_a_module_t *module;
    uint64_t addr, hash;
} region_key_t;

static uint64_t hash_of(const ompp_region_def_t *def, uint64_t addr, const ompp_a_module_t *module)
{
    uint64_t h = mix(mix(mix(0, def->construct), addr), module ? module->index + 1 : 0);

    h = mix(mix_text(mix_text(h, def->file), def->name), (uint64_t)def->begin << 32 | def->end);
    return h ^ h >> 32;
}

/* Address of the code or object; 0 = none. A return address belongs to the instruction before it. */
static uintptr_t address_of(const ompp_region_def_t *def)
{
    return def->object ? (uintptr_t)def->object : def->code ? (uintptr_t)def->code - 1 : 0;
}

/* search: where the address was looked for; NULL = among known modules only. */
static region_key_t make_key(const ompp_region_def_t *def, const ompp_module_search_t *search)
{
    region_key_t key = {.def = def};
    uintptr_t address = address_of(def);

    if (address) {
        key.module = search ? ompp_module_add(search) : ompp_module_known(address);
        key.addr = key.module ? address - key.module->base : address;
    }
    key.hash = hash_of(def, key.addr, key.module);
    return key;
}

static bool same_text(ompp_off_t off, const char *text) { return strncmp(text_at(off), text ? text : "", 4096) == 0; }

static bool same_region(const ompp_a_region_t *r, const region_key_t *key)
{
    const ompp_region_def_t *def = key->def;

    return r->construct == def->construct && r->addr == key->addr &&
           r->module == (key->module ? (ompp_off_t)((char *)key->module - ompp_process.arena.base) : 0) &&
           r->begin == def->begin && r->end == def->end && same_text(r->file, def->file) &&
           same_text(r->name, def->name);
}

static bool table_grow(void)
{
    uint32_t size = table.size ? 2 * table.size : 1024;
    slot_t *slots = ompp_mmap(NULL, size * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (slots == MAP_FAILED) return false;
    for (uint32_t k = 0; k < table.size; k++) {
        uint32_t i = (uint32_t)table.slots[k].hash;
        if (!table.slots[k].off) continue;
        while (slots[i & (size - 1)].off) i++;
        slots[i & (size - 1)] = table.slots[k];
    }
    if (table.slots) ompp_munmap(table.slots, table.size * sizeof *slots);
    table.slots = slots;
    table.size = size;
    return true;
}

static ompp_off_t make_region(const region_key_t *key)
{
    const ompp_region_def_t *def = key->def;
    ompp_off_t first = atomic_load_explicit(&ompp_process.header->regions, memory_order_relaxed);
    ompp_described_t described = {sizeof(ompp_a_region_t), {def->file, def->name}, {0}};
    ompp_off_t off = ompp_described_take(&described, ompp_arena_take);

    if (!off) return OMPP_REGION_LOST;
    ompp_a_region_t *r = at(off);
    r->next = first;
    r->index = first ? ((ompp_a_region_t *)at(first))->index + 1 : 0;
    r->construct = (uint16_t)def->construct;
    r->flags = (uint16_t)(def->flags | (def->code ? OMPP_REGION_F_ADDRESS : 0));
    r->nphases = ompp_constructs[def->construct].nphases;
    r->file = described.copies[0];
    r->name = described.copies[1];
    r->module = key->module ? (ompp_off_t)((char *)key->module - ompp_process.arena.base) : 0;
    r->begin = def->begin;
    r->end = def->end;
    r->addr = key->addr;
    /* A lock on the heap has another address on each rank: there, its number tells it. */
    if (def->object && !key->module) r->key = ++table.locks;
    atomic_store_explicit(&ompp_process.header->regions, off, memory_order_release);
    return off;
}

/* Slot of the region with this key, or the free one where it belongs. */
static slot_t *find_slot(const region_key_t *key)
{
    for (uint32_t i = (uint32_t)key->hash;; i++) {
        slot_t *slot = &table.slots[i & (table.size - 1)];
        if (!slot->off) return slot;
        if (slot->hash == key->hash && (slot->off == OMPP_REGION_LOST || same_region(at(slot->off), key))) return slot;
    }
}

/* *lost: counts one that is lost, each once. */
static ompp_off_t fill_slot(slot_t *slot, const region_key_t *key, bool known_place, uint64_t *lost)
{
    const ompp_off_t off = known_place ? make_region(key) : OMPP_REGION_LOST;

    if (off == OMPP_REGION_LOST) {
        if (table.lost >= MOST_LOST) return off;
        table.lost++;
        ++*lost;
    }
    *slot = (slot_t){key->hash, off};
    table.used++;
    return off;
}

/* *unknown: it is met for the first time, and in no known module: a lock on the heap, or code of a module to be
 * discovered. */
static ompp_off_t find_or_make(const ompp_region_def_t *def, const ompp_module_search_t *search, bool *unknown,
                               uint64_t *lost)
{
    region_key_t key = make_key(def, search);
    slot_t *slot;

    *unknown = false;
    if (table.size < 2 * (table.used + 1) && !table_grow()) return OMPP_REGION_LOST;
    slot = find_slot(&key);
    if (slot->off) return slot->off;
    if (!key.module && !search && address_of(def)) {
        *unknown = true;
        return 0;
    }
    return fill_slot(slot, &key, !search || !search->found || key.module, lost);
}

static ompp_off_t discover_and_make(const ompp_region_def_t *def, uint64_t *lost)
{
    ompp_module_search_t search = {.address = address_of(def)};
    bool unknown;

    ompp_module_find(&search);
    const ompp_locked_t locked = ompp_lock();
    ompp_off_t off = find_or_make(def, &search, &unknown, lost);
    ompp_unlock(locked);
    return off;
}

typedef struct {
    const ompp_region_def_t *def;
    ompp_off_t off;
} definition_t;

static void define(void *definition)
{
    definition_t *d = definition;
    ompp_thread_t *thread = ompp_thread_get();
    bool unknown;
    uintptr_t low, high;

    while (address_of(d->def) && ompp_module_is_gone(&low, &high)) ompp_region_unloaded(low, high);
    if (!thread || thread == &ompp_thread_none || d->def->construct >= OMPP_CONSTRUCT_NUM ||
        ompp_process.disabled[d->def->construct] || !ompp_guard_enter(thread))
        return;
    const ompp_locked_t locked = ompp_lock();
    d->off = find_or_make(d->def, NULL, &unknown, &thread->record->lost[OMPP_LOSS_REGIONS]);
    ompp_unlock(locked);
    if (unknown) d->off = discover_and_make(d->def, &thread->record->lost[OMPP_LOSS_REGIONS]);
    ompp_guard_leave(thread);
}

ompp_region_ref_t ompp_region_define(const ompp_region_def_t *def)
{
    definition_t definition = {def, 0};

    /* Events of constructs that are not measured come here each time. */
    if (ompp_thread_self == &ompp_thread_none || def->construct >= OMPP_CONSTRUCT_NUM ||
        (ompp_thread_self && ompp_process.disabled[def->construct]))
        return 0;
    ompp_caller_run(define, &definition);
    return definition.off;
}

bool ompp_region_some_lost(void) { return __atomic_load_n(&table.lost, __ATOMIC_RELAXED) > 0; }

bool ompp_region_wanted(ompp_construct_t construct)
{
    return !ompp_runtime_start() || construct >= OMPP_CONSTRUCT_NUM || !ompp_process.disabled[construct];
}

/* ---- Locks ------------------------------------------------------------------------------------------------------- */

/*
 * Regions of locks by address, for programs with more locks than a thread's cache holds: looked up without the
 * process's lock, filled under it. Open addressing. A table that has become too small stays where it is, because
 * readers may be in it: together the old ones are as large as the one in use.
 */
typedef struct {
    _Atomic(const void *) lock; /* NULL = free; set after region */
    ompp_region_ref_t region;
} lock_slot_t;

typedef struct {
    uint32_t size, used;
    lock_slot_t slots[];
} lock_table_t;

#define FIRST_LOCKS 1024u

static _Atomic(lock_table_t *) lock_table;

/* In the place of a lock whose library is gone. */
static const char gone_lock;
#define GONE ((const void *)&gone_lock)

static uint32_t lock_hash(const void *lock) { return (uint32_t)(((uintptr_t)lock >> 3) * OMPP_HASH_STEP >> 32); }

static ompp_region_ref_t find_lock(const void *lock)
{
    lock_table_t *t = atomic_load_explicit(&lock_table, memory_order_acquire);

    for (uint32_t i = lock_hash(lock); t; i++) {
        const lock_slot_t *slot = &t->slots[i & (t->size - 1)];
        const void *found = atomic_load_explicit(&slot->lock, memory_order_acquire);
        if (found == lock) return slot->region;
        if (!found) break;
    }
    return 0;
}

static void put_lock(lock_table_t *t, const void *lock, ompp_region_ref_t region)
{
    uint32_t i = lock_hash(lock);

    while (atomic_load_explicit(&t->slots[i & (t->size - 1)].lock, memory_order_relaxed)) i++;
    t->slots[i & (t->size - 1)].region = region;
    atomic_store_explicit(&t->slots[i & (t->size - 1)].lock, lock, memory_order_release);
    t->used++;
}

static lock_table_t *bigger_lock_table(const lock_table_t *old)
{
    uint32_t size = old ? 2 * old->size : FIRST_LOCKS;
    lock_table_t *t = ompp_mmap(NULL, sizeof *t + size * sizeof t->slots[0], PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (t == MAP_FAILED) return NULL;
    t->size = size;
    for (uint32_t i = 0; old && i < old->size; i++)
        if (old->slots[i].lock && old->slots[i].lock != GONE) put_lock(t, old->slots[i].lock, old->slots[i].region);
    return t;
}

static void forget_locks(uintptr_t low, uintptr_t high)
{
    lock_table_t *t = atomic_load_explicit(&lock_table, memory_order_relaxed);

    for (uint32_t i = 0; t && i < t->size; i++) {
        uintptr_t lock = (uintptr_t)atomic_load_explicit(&t->slots[i].lock, memory_order_relaxed);
        if (lock >= low && lock < high) atomic_store_explicit(&t->slots[i].lock, GONE, memory_order_relaxed);
    }
}

static void remember_lock(const void *lock, ompp_region_ref_t region)
{
    const ompp_locked_t locked = ompp_lock();
    lock_table_t *t = atomic_load_explicit(&lock_table, memory_order_relaxed);
    if (!t || t->size < 2 * (t->used + 1)) t = bigger_lock_table(t);
    if (t && !find_lock(lock)) put_lock(t, lock, region);
    if (t) atomic_store_explicit(&lock_table, t, memory_order_release);
    ompp_unlock(locked);
}

static ompp_region_ref_t lock_region(ompp_thread_t *thread, const void *lock)
{
    const ompp_region_def_t def = {.construct = OMPP_CONSTRUCT_LOCK, .object = lock};
    ompp_region_ref_t region = find_lock(lock);

    if (region) return region;
    region = ompp_region_define(&def);
    if (ompp_region_is_kept(region) && ompp_guard_enter(thread)) {
        int saved_errno = errno;
        remember_lock(lock, region);
        errno = saved_errno;
        ompp_guard_leave(thread);
    }
    return region;
}

/* The second of a pair is taken where the first is not free, and each second time the first is: places that are met
 * once, as at the start, go. */
static ompp_site_t *victim(const ompp_thread_t *thread, ompp_site_t *second)
{
    ompp_site_t *first = second - 1;

    return !first->code || (second->code && thread->guard & 2) ? first : second;
}

ompp_region_ref_t ompp_region_at_slow(ompp_thread_t *thread, ompp_site_t *second, ompp_construct_t construct,
                                      const void *code, const char *name)
{
    const ompp_region_def_t def = {.construct = construct, .name = name, .code = code};
    ompp_region_ref_t region = construct == OMPP_CONSTRUCT_LOCK ? lock_region(thread, code) : ompp_region_define(&def);

    if (region || ompp_process.disabled[construct]) {
        if (thread != &ompp_thread_none)
            *victim(thread, second) =
                (ompp_site_t){code, name ? (const void *)name : ompp_site_key(construct), region, 0, {0}};
    }
    return region;
}

void ompp_region_ends_at_slow(ompp_a_region_t *region, const void *code)
{
    const ompp_a_module_t *m = region->module ? at(region->module) : NULL;

    if (m) atomic_store_explicit(&region->addr_end, (uintptr_t)code - 1 - m->base, memory_order_relaxed);
}

ompp_region_ref_t ompp_region_exec_of(ompp_region_ref_t task_region)
{
    if (!ompp_region_is_kept(task_region)) return task_region;
    ompp_a_region_t *task = at(task_region);
    ompp_off_t exec = atomic_load_explicit(&task->exec, memory_order_acquire);
    if (exec) return exec;
    const ompp_a_module_t *m = task->module ? at(task->module) : NULL;
    ompp_region_def_t def = {.construct = task->construct == OMPP_CONSTRUCT_UTASK ? OMPP_CONSTRUCT_UTASKEXEC
                                                                                  : OMPP_CONSTRUCT_TASKEXEC,
                             .file = text_at(task->file),
                             .name = text_at(task->name),
                             .begin = task->begin,
                             .end = task->end,
                             .code = m ? (const void *)(uintptr_t)(m->base + task->addr + 1) : NULL,
                             .flags = task->flags};
    exec = ompp_region_define(&def);
    if (!ompp_region_is_kept(exec)) return exec;
    atomic_store_explicit(&((ompp_a_region_t *)at(exec))->exec, task_region, memory_order_release);
    atomic_store_explicit(&task->exec, exec, memory_order_release);
    return exec;
}

/* ---- Libraries that are gone ------------------------------------------------------------------------------------- */

/*
 * Caches by address: what is loaded there next is something else. A thread may be filling an entry of its own cache
 * meanwhile; then either it stays, complete, or its address is gone and it is looked up again.
 */
static void forget(uintptr_t low, uintptr_t high)
{
    for (ompp_thread_t *thread = atomic_load(&ompp_process.threads); thread; thread = thread->next_all)
        for (unsigned i = 0; i < OMPP_SITES; i++) {
            const void **code = &thread->sites[i].code;
            uintptr_t address = (uintptr_t)__atomic_load_n(code, __ATOMIC_RELAXED);
            if (address >= low && address < high) __atomic_store_n(code, NULL, __ATOMIC_RELAXED);
        }
    forget_locks(low, high);
}

void ompp_region_unloaded(uintptr_t low, uintptr_t high)
{
    ompp_callpath_early_unloaded(low, high);
    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    const ompp_locked_t locked = ompp_lock();
    ompp_module_unloaded(low, high);
    forget(low, high);
    ompp_unlock(locked);
    ompp_runtime_hooks.unloaded(low, high);
}
