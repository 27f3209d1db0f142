#include "runtime/ompp_whatif_record.h"

#include "base/ompp_path.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_thread.h"

#include <stdio.h>
#include <string.h>

static void *at(ompp_off_t off) { return ompp_process.arena.base + off; }

static ompp_a_whatif_t *existing(void)
{
    ompp_off_t off = 0;

    if (atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING)
        off = atomic_load_explicit(&ompp_process.header->whatif, memory_order_acquire);
    return off ? at(off) : NULL;
}

static void note_full(const char *what)
{
    ompp_event_coverage(OMPP_COVERAGE_DROPPED, what, "memory for the profile is full: OMPP_MEMORY");
}

ompp_a_whatif_t *ompp_whatif_record(ompp_whatif_mode_t mode)
{
    if (existing() || atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return existing();
    const ompp_locked_t locked = ompp_lock();
    ompp_off_t off = existing() ? 0 : ompp_arena_take_kept(&ompp_process.arena, sizeof(ompp_a_whatif_t));
    if (off) {
        ((ompp_a_whatif_t *)at(off))->mode = mode;
        atomic_store_explicit(&ompp_process.header->whatif, off, memory_order_release);
    }
    ompp_unlock(locked);
    if (!existing()) note_full("causal profiles");
    return existing();
}

void ompp_whatif_say_why(const char *why)
{
    ompp_a_whatif_t *whatif = existing();

    if (!whatif) return;
    const ompp_locked_t locked = ompp_lock();
    ompp_off_t off = why ? ompp_string_take(why) : 0;
    atomic_store_explicit(&whatif->why, off, memory_order_release);
    ompp_unlock(locked);
}

ompp_a_whatif_region_t *ompp_whatif_region_new(ompp_region_ref_t region) { return ompp_whatif_unit_new(region, NULL); }

ompp_a_whatif_region_t *ompp_whatif_unit_new(ompp_region_ref_t region, ompp_a_whatif_point_t *point)
{
    ompp_a_whatif_t *whatif = existing();
    ompp_a_whatif_region_t *record = NULL;

    if (!whatif) return NULL;
    const ompp_locked_t locked = ompp_lock();
    ompp_off_t off = ompp_arena_take(&ompp_process.arena, sizeof *record);
    if (off) {
        record = at(off);
        record->region = region;
        record->point = point ? (ompp_off_t)((const char *)point - (const char *)at(0)) : 0;
        record->next = atomic_load_explicit(&whatif->regions, memory_order_relaxed);
        atomic_store_explicit(&whatif->regions, off, memory_order_release);
    }
    ompp_unlock(locked);
    if (!record) note_full(point ? "regions in units of latency" : "regions of the causal profile");
    return record;
}

ompp_a_whatif_point_t *ompp_whatif_point_new(const char *name, uint32_t kind, bool automatic, ompp_region_ref_t region)
{
    ompp_a_whatif_t *whatif = existing();
    ompp_a_whatif_point_t *record = NULL;

    if (!whatif) return NULL;
    const ompp_locked_t locked = ompp_lock();
    ompp_described_t described = {sizeof *record, {name}, {0}};
    ompp_off_t off = ompp_described_take(&described, ompp_arena_take);
    if (off) {
        record = at(off);
        record->name = described.copies[0];
        record->region = region;
        record->kind = kind;
        record->automatic = automatic;
        record->next = atomic_load_explicit(&whatif->points, memory_order_relaxed);
        atomic_store_explicit(&whatif->points, off, memory_order_release);
    }
    ompp_unlock(locked);
    if (!record) note_full("progress points");
    return record;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t mix_text(uint64_t hash, ompp_off_t text)
{
    const ompp_a_string_t *s = text ? at(text) : NULL;

    return s ? mix(hash, s->text, s->length + 1) : mix(hash, "", 1);
}

uint64_t ompp_whatif_region_key(ompp_region_ref_t region)
{
    const ompp_a_region_t *r = region ? at(region) : NULL;
    uint64_t hash = 0xcbf29ce484222325u;

    if (!r) return 0;
    hash = mix(hash, &r->construct, sizeof r->construct);
    hash = mix(hash, &r->key, sizeof r->key);
    hash = mix_text(hash, r->name);
    if (r->key) return hash; /* a lock on the heap: its address differs from rank to rank */
    if (r->begin) {
        hash = mix_text(hash, r->file);
        hash = mix(hash, &r->begin, sizeof r->begin);
        return mix(hash, &r->end, sizeof r->end);
    }
    const ompp_a_module_t *m = r->module ? at(r->module) : NULL;
    if (m) hash = mix_text(hash, m->id);
    return mix(hash, &r->addr, sizeof r->addr);
}

static void copy_text(char *to, size_t n, ompp_off_t text)
{
    snprintf(to, n, "%s", text ? ((const ompp_a_string_t *)at(text))->text : "");
}

void ompp_whatif_region_place(ompp_region_ref_t region, char *file, size_t nfile, uint32_t *line, char *name,
                              size_t nname)
{
    const ompp_a_region_t *r = region ? at(region) : NULL;

    copy_text(file, nfile, r ? r->file : 0);
    copy_text(name, nname, r ? r->name : 0);
    *line = r ? r->begin : 0;
}

void ompp_whatif_region_address(ompp_region_ref_t region, char *text, size_t size)
{
    const ompp_a_region_t *r = region ? at(region) : NULL;
    const ompp_a_module_t *m = r && r->addr && r->module ? at(r->module) : NULL;
    const char *path = m && m->path ? ((const ompp_a_string_t *)at(m->path))->text : "";

    *text = '\0';
    if (m) snprintf(text, size, "%s+0x%llx", ompp_path_last(path), (unsigned long long)r->addr);
}

int ompp_whatif_rank(void)
{
    return atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING ? ompp_process.header->rank : -1;
}

static uint64_t work_of(const ompp_a_node_t *node)
{
    uint64_t ns = 0;

    for (unsigned i = 0; node->construct < OMPP_CONSTRUCT_NUM && i < node->nphases; i++)
        if (ompp_phase_is_work[ompp_constructs[node->construct].phases[i]]) ns += node->slot[i].time;
    return ns;
}

void ompp_whatif_region_times(void (*each)(ompp_region_ref_t region, uint64_t ns, void *argument), void *argument)
{
    for (ompp_off_t t = atomic_load_explicit(&ompp_process.header->threads, memory_order_acquire); t;) {
        const ompp_a_thread_t *thread = at(t);
        for (ompp_off_t n = atomic_load_explicit(&thread->nodes, memory_order_acquire); n;) {
            const ompp_a_node_t *node = at(n);
            if (node->region) each(node->region, work_of(node), argument);
            n = node->next;
        }
        t = thread->next;
    }
}

unsigned ompp_whatif_ranks(void)
{
    return atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING ? ompp_process.header->size : 1;
}
