#include "cache/ompp_levels.h"

#include "cache/ompp_reuse.h"
#include "cache/ompp_sets_priv.h"

#include <string.h>

#define SEEN_BITS 22 /* pages of 4 KiB whose lines are remembered: 16 GiB */
#define STREAMS 16
#define AGAIN 2 /* equal strides behind the first */
#define TRIES 1000

/* Lines of a page that were touched ever: a bit for each 64 bytes. */
typedef struct {
    uint64_t page; /* + 1; 0 = free */
    uint64_t lines;
} seen_t;

typedef struct {
    uint64_t page, last;
    int64_t stride;
    unsigned equal;
} stream_t;

typedef struct {
    ompp_sets_t sets;
    uint32_t held; /* a shared one: a thread is at it; written by all threads */
} shared_t;

struct ompp_levels {
    ompp_machine_t machine;
    unsigned with, nlevels;
    unsigned shift[OMPP_LEVELS], page_shift;
    ompp_sets_t own[OMPP_LEVELS];
    shared_t *shared; /* the last level, when it is */
    ompp_sets_t tlb[OMPP_TLBS];
    uint64_t last_page;
    ompp_reuse_t shadow[OMPP_LEVELS];
    seen_t *seen;
    uint32_t nseen;
    stream_t streams[STREAMS];
    uint64_t lost;
};

/* ---- Made -------------------------------------------------------------------------------------------------------- */

static uint32_t power_above(uint64_t n)
{
    uint32_t power = 64;

    while (power < n) power *= 2;
    return power;
}

static bool make_shadow(ompp_levels_t *v, unsigned i, ompp_memory_new_t memory_new)
{
    const ompp_level_t *l = &v->machine.level[i];
    const uint32_t capacity = power_above(l->size / l->line);
    void *memory = memory_new(ompp_reuse_bytes(capacity));

    if (!memory) return false;
    ompp_reuse_init(&v->shadow[i], capacity, memory);
    return true;
}

static bool make_shared(ompp_levels_t *v, ompp_levels_t *other, const ompp_level_t *l, ompp_memory_new_t memory_new)
{
    if (other && other->shared) return v->shared = other->shared, true;
    v->shared = memory_new(sizeof *v->shared);
    return v->shared && ompp_sets_init(&v->shared->sets, l->sets, l->ways, l->policy, memory_new);
}

ompp_levels_t *ompp_levels_new(const ompp_machine_t *machine, unsigned with, ompp_memory_new_t memory_new,
                               ompp_levels_t *shared)
{
    ompp_levels_t *v = memory_new(sizeof *v);
    bool ok = v != NULL;

    if (!ok) return NULL;
    v->machine = *machine;
    v->with = with;
    v->page_shift = (unsigned)__builtin_ctz(machine->page);
    while (v->nlevels < OMPP_LEVELS && machine->level[v->nlevels].size) v->nlevels++;
    for (unsigned i = 0; ok && i < v->nlevels; i++) {
        const ompp_level_t *l = &machine->level[i];
        v->shift[i] = (unsigned)__builtin_ctz(l->line);
        if (with & OMPP_WITH_SHARED && i > 0 && i + 1 == v->nlevels) ok = make_shared(v, shared, l, memory_new);
        else ok = ompp_sets_init(&v->own[i], l->sets, l->ways, l->policy, memory_new);
        if (ok && with & OMPP_WITH_CLASSES) ok = make_shadow(v, i, memory_new);
    }
    for (unsigned i = 0; ok && with & OMPP_WITH_TLB && i < OMPP_TLBS && machine->tlb[i].entries; i++)
        ok = ompp_sets_init(&v->tlb[i], machine->tlb[i].entries / machine->tlb[i].ways, machine->tlb[i].ways, OMPP_LRU,
                            memory_new);
    if (ok && with & OMPP_WITH_CLASSES) ok = (v->seen = memory_new(sizeof *v->seen << SEEN_BITS)) != NULL;
    return ok ? v : NULL;
}

void ompp_levels_clear(ompp_levels_t *v)
{
    for (unsigned i = 0; i < v->nlevels; i++) {
        if (v->own[i].tags) ompp_sets_clear(&v->own[i]);
        if (v->shadow[i].capacity) ompp_reuse_clear(&v->shadow[i]);
    }
    for (unsigned i = 0; i < OMPP_TLBS; i++)
        if (v->tlb[i].tags) ompp_sets_clear(&v->tlb[i]);
    v->last_page = 0;
}

uint64_t ompp_levels_lost(const ompp_levels_t *v) { return v->lost; }

/* ---- One level --------------------------------------------------------------------------------------------------- */

/* A line that leaves an inclusive level leaves those above. */
static void leave_above(ompp_levels_t *v, unsigned level, uint32_t tag)
{
    const uint64_t line = tag & OMPP_TAG_EXACT;

    for (unsigned i = 0; i < level; i++) {
        const unsigned finer = v->shift[level] - v->shift[i];
        for (uint64_t part = 0; part < 1ull << finer; part++) ompp_sets_remove(&v->own[i], line << finer | part);
    }
}

/* A thread that is stopped while it is at the shared level is not waited for. */
static bool take(shared_t *shared)
{
    for (unsigned n = 0; n < TRIES; n++)
        if (!__atomic_exchange_n(&shared->held, 1, __ATOMIC_ACQUIRE)) return true;
    return false;
}

/* \return whether the line was there. */
static bool touch(ompp_levels_t *v, unsigned i, uint64_t address, bool brings)
{
    const uint64_t line = address >> v->shift[i];
    uint32_t evicted = OMPP_SETS_EMPTY;
    const bool is_shared = v->shared && i + 1 == v->nlevels;
    ompp_sets_t *sets = is_shared ? &v->shared->sets : &v->own[i];

    if (is_shared && !take(v->shared)) return v->lost++, true;
    const bool hit = brings ? ompp_sets_touch(sets, line, &evicted) : ompp_sets_touch_only(sets, line);
    if (is_shared) __atomic_store_n(&v->shared->held, 0, __ATOMIC_RELEASE);
    if (i && evicted != OMPP_SETS_EMPTY && v->machine.level[i].inclusive) leave_above(v, i, evicted);
    return hit;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* Where a page may lie: each somewhere else, by chance that is the same in each run. */
static uint64_t physical(const ompp_levels_t *v, uint64_t address)
{
    const uint64_t mask = (1ull << 36) - 1;
    uint64_t page = (address >> v->page_shift) & mask;

    if (!(v->with & OMPP_WITH_RANDOM_PAGES)) return address;
    page = page * 0x9e3779b97f4a7c15u & mask;
    page ^= page >> 18;
    page = page * 0xbf58476d1ce4e5b9u & mask;
    page ^= page >> 19;
    return page << v->page_shift | (address & (v->machine.page - 1));
}

/* The entries of page tables, 8 bytes each, one behind the other. What stands above them stays in the processor. */
#define TABLE 0x700000000000u

static void translate(ompp_levels_t *v, uint64_t address, ompp_access_result_t *r)
{
    const uint64_t page = address >> v->page_shift;
    uint32_t evicted;

    if (page == v->last_page) return;
    v->last_page = page;
    for (unsigned i = 0; i < OMPP_TLBS && v->tlb[i].tags; i++) {
        if (ompp_sets_touch(&v->tlb[i], page, &evicted)) return;
        r->tlb_misses[i]++;
    }
    const uint64_t entry = physical(v, TABLE + ((page & 0xffffffffu) << 3));
    for (unsigned i = 1; i < v->nlevels && !touch(v, i, entry, true); i++) continue;
}

/* ---- Why it misses ----------------------------------------------------------------------------------------------- */

/* \return the lines of the page; NULL: there is no room. */
static uint64_t *seen_lines(ompp_levels_t *v, uint64_t address)
{
    const uint64_t page = (address >> 12) + 1;
    const uint32_t mask = (1u << SEEN_BITS) - 1;
    uint32_t i = (uint32_t)page & mask;

    while (v->seen[i].page && v->seen[i].page != page) i = (i + 1) & mask;
    if (!v->seen[i].page && v->nseen >= mask / 4 * 3) return NULL;
    v->nseen += !v->seen[i].page;
    v->seen[i].page = page;
    return &v->seen[i].lines;
}

/* Lines of 4 KiB are at most 64. */
static uint64_t lines_of(const ompp_levels_t *v, unsigned level, uint64_t address)
{
    const uint64_t first = (address & 4095) >> 6, n = v->machine.level[level].line / 64;

    return n < 2 ? 1ull << first : ((1ull << n) - 1) << (first & ~(n - 1));
}

static void classify(ompp_levels_t *v, unsigned i, uint64_t address, uint32_t distance, const uint64_t *seen,
                     ompp_access_result_t *r)
{
    const ompp_level_t *l = &v->machine.level[i];

    if (seen && !(*seen & lines_of(v, i, address))) r->compulsory[i]++;
    else if (distance < l->size / l->line) r->conflict[i]++;
}

/* ---- Lines that are brought ahead -------------------------------------------------------------------------------- */

static void bring(ompp_levels_t *v, uint64_t address, ompp_access_result_t *r)
{
    for (unsigned i = 0; i < v->nlevels; i++)
        if (touch(v, i, i ? physical(v, address) : address, true)) {
            r->prefetched += i > 0;
            return;
        }
    r->prefetched++;
}

static void follow(ompp_levels_t *v, uint64_t address, ompp_access_result_t *r)
{
    const uint64_t page = address >> 12;
    stream_t *s = &v->streams[page % STREAMS];
    const int64_t stride = (int64_t)(address >> v->shift[0]) - (int64_t)(s->last >> v->shift[0]);

    if (s->page != page) *s = (stream_t){.page = page};
    else if (stride) {
        s->equal = stride == s->stride ? s->equal + 1 : 0;
        s->stride = stride;
    }
    s->last = address;
    const uint64_t next = address + (uint64_t)(s->stride * (int64_t)(1ll << v->shift[0]));
    if (stride && s->equal >= AGAIN && next >> 12 == page) bring(v, next, r);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

void ompp_levels_access(ompp_levels_t *v, uint64_t address, bool store, ompp_access_result_t *r)
{
    const uint64_t line = address >> v->shift[0];
    uint64_t *seen = NULL, at = address;
    uint32_t distance = 0;
    unsigned i;

    *r = (ompp_access_result_t){{0}, {0}, {0}, {0}, 0};
    if (v->with & OMPP_WITH_TLB) translate(v, address, r);
    if (v->seen && !(seen = seen_lines(v, address))) v->lost++;
    for (i = 0; i < v->nlevels; i++) {
        if (i == 1) at = physical(v, address);
        if (seen) distance = ompp_reuse_touch(&v->shadow[i], (address >> v->shift[i]) + 1);
        if (touch(v, i, at, !(store && v->machine.level[i].no_allocate))) break;
        r->misses[i] = 1;
        if (seen) classify(v, i, address, distance, seen, r);
    }
    if (seen) *seen |= 1ull << ((address & 4095) >> 6);
    if (i && v->with & OMPP_WITH_NEXT_LINE) bring(v, (line + 1) << v->shift[0], r);
    if (v->with & OMPP_WITH_STRIDE) follow(v, address, r);
}

bool ompp_levels_are_plain(const ompp_levels_t *v)
{
    bool plain =
        !(v->with & ~(unsigned)(OMPP_WITH_RANDOM_PAGES | OMPP_WITH_SHARED)) && !v->machine.level[0].no_allocate;

    for (unsigned i = 1; i < v->nlevels; i++) plain = plain && !v->machine.level[i].inclusive;
    return plain;
}

/* From L1 on, levels that go by tags, see each line as L1 does, and bring all that they miss. */
static unsigned count_alike(const ompp_levels_t *v)
{
    unsigned n = 0;

    while (n < v->nlevels && v->own[n].tags && ompp_sets_go_by_tags(&v->own[n]) && v->shift[n] == v->shift[0] &&
           !(n && (v->with & OMPP_WITH_RANDOM_PAGES || v->machine.level[n].no_allocate)))
        n++;
    return n;
}

static void put_tags(const char *first, size_t stride, unsigned n, unsigned shift, uint32_t *tags)
{
    uint32_t high = 0;
    uint64_t far = 0;

    for (unsigned i = 0; i < n; i++, first += stride) {
        const uint64_t line = *(const uint64_t *)first >> shift;
        if (line >> OMPP_TAG_BITS != far) { /* often as before */
            far = line >> OMPP_TAG_BITS;
            high = ompp_sets_tag(line) & ~OMPP_TAG_EXACT;
        }
        tags[i] = ((uint32_t)line & OMPP_TAG_EXACT) | high;
    }
}

/* A level that does not go by tags: leaves those in which[] that it does not have. \return how many. */
static unsigned touch_each(ompp_levels_t *v, unsigned level, const ompp_accesses_t *a, uint16_t *which, unsigned n)
{
    unsigned missed = 0;

    for (unsigned i = 0; i < n; i++) {
        const size_t at = which[i] * a->stride;
        const uint64_t address = *(const uint64_t *)((const char *)a->address + at);
        const bool store = *(const uint32_t *)((const char *)a->kind + at) & 1;
        const bool brings = !(store && v->machine.level[level].no_allocate);
        if (!touch(v, level, level ? physical(v, address) : address, brings)) which[missed++] = which[i];
    }
    return missed;
}

void ompp_levels_all(ompp_levels_t *v, const ompp_accesses_t *a, uint16_t which[][OMPP_LEVELS_MOST], unsigned *nmissed)
{
    const unsigned alike = count_alike(v);
    uint32_t tags[OMPP_LEVELS_MOST];
    unsigned left = a->n;

    if (alike) put_tags((const char *)a->address, a->stride, a->n, v->shift[0], tags);
    for (unsigned i = 0; i < a->n; i++) which[0][i] = (uint16_t)i;
    for (unsigned level = 0; level < v->nlevels; level++) {
        if (level) memcpy(which[level], which[level - 1], left * sizeof **which);
        left = level < alike ? ompp_sets_touch_tags(&v->own[level], level + 1 < alike ? &v->own[level + 1] : NULL, tags,
                                                    which[level], left)
                             : touch_each(v, level, a, which[level], left);
        nmissed[level] = left;
    }
    for (unsigned level = v->nlevels; level < OMPP_LEVELS; level++) nmissed[level] = 0;
}

bool ompp_levels_invalidate(ompp_levels_t *v, uint64_t address)
{
    bool had = false;

    for (unsigned i = 0; i < v->nlevels; i++)
        if (!v->shared || i + 1 < v->nlevels)
            had |= ompp_sets_remove(&v->own[i], (i ? physical(v, address) : address) >> v->shift[i]);
    return had;
}
