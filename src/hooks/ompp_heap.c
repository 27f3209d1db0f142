/*
 * Blocks of the heap. The map says which call path has allocated what lies at an address; no block has a record, so
 * that memory is bounded by what the blocks take themselves. Of each path some blocks are known: the words that point
 * to them are looked for when one of them is given back, and at the end. What holds a block's address names it.
 */
#define _GNU_SOURCE
#include "hooks/ompp_whose.h"

#include "hooks/ompp_offsets.h"

#include "base/ompp_hash.h"
#include "base/ompp_reserve.h"
#include "model/ompp_profile.h"
#include "model/ompp_raw.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PATH 12u         /* calls that tell paths apart, innermost ones */
#define MOST_SITES 8192u /* paths; more have one structure */
#define SLOTS (4 * MOST_SITES)
#define SAMPLES 8u        /* blocks that are known of a path: the first half of them, and the latest */
#define HOLDERS 12u       /* words that point to blocks of a path */
#define SCANS 3u          /* for a path that has none */
#define BLOCK_BYTES 4096u /* of a block, so much is looked through */
#define STACK_BYTES (1u << 20)
#define BUDGET 50u /* looking takes one part in so many of the time, */
#define LEAST 200u /* and is done so often in any case */
#define OUTER 3u   /* callers of a frame that has a pointer */
#define ROUND 16u
#define LEFT 256u /* pointers to blocks that are gone */
#define MAP_PAGE (1ul << OMPP_MAP_PAGE_BITS)

typedef struct {
    char kind; /* as in model/ompp_raw.h; 0 = free */
    uint64_t key, at;
    uint64_t other;         /* s: above the stack pointer; h: number of the block's path */
    uintptr_t outer[OUTER]; /* s: where the callers go on */
    size_t depth;           /* s: frames around it; 0 of others */
    uint64_t left;          /* g: it was left pointing there by a block of before: when; 0 = it was not */
} holder_t;

/* A variable that still points to a block that is gone: what lies there next is not its own for that. */
typedef struct {
    uintptr_t word, value;
    uint64_t when;
} left_t;

typedef struct {
    uint64_t key;
    uint32_t object, scans;
    uint64_t blocks;
    uint8_t fronts[2]; /* words point 8 * i bytes behind a block's begin: bit i; [1] those of frames */
    struct {
        uintptr_t begin;
        size_t size;
    } sample[SAMPLES];
    holder_t holder[HOLDERS];
    holder_t stored; /* where the allocator itself has stored the address; g or s */
} site_t;

/* A path that was met. */
typedef struct {
    uint64_t key;
    uint32_t object; /* 0 = free */
} known_t;

static struct {
    site_t *sites;
    known_t *known; /* by path, shape [SLOTS] */
    uint16_t *of;   /* by object: index + 1 */
    uint32_t n;
    uint32_t too_many, not_measured, given_back;
    uintptr_t lowest, highest; /* of all blocks */
    uint64_t spent_ns, begun_ns;
    uint32_t looks;
    left_t left[LEFT];
    uint64_t nleft;
} heap;

/* ---- Sites: between ompp_data_try() and ompp_data_done() -------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_ready(void)
{
    if (heap.of) return true;
    heap.sites = ompp_reserve(MOST_SITES * sizeof *heap.sites);
    heap.known = ompp_reserve(SLOTS * sizeof *heap.known);
    heap.lowest = UINTPTR_MAX;
    heap.begun_ns = now_ns();
    if (heap.sites && heap.known) heap.of = ompp_reserve(((size_t)OMPP_DATA_MAX + 1) * sizeof *heap.of);
    return heap.of != NULL;
}

static site_t *site_of(uint32_t object) { return heap.of && heap.of[object] ? &heap.sites[heap.of[object] - 1] : NULL; }

/* Calls that repeat one of before say nothing new: a recursion of any depth is one path. \return their number. */
static size_t path_of(const ompp_unwind_frame_t *frames, size_t n, uintptr_t path[PATH])
{
    size_t used = 0;

    for (size_t i = 0; i < n && used < PATH; i++) {
        bool is_new = true;
        for (size_t k = 0; k < used && is_new; k++) is_new = path[k] != frames[i].address;
        if (is_new) path[used++] = frames[i].address;
    }
    return used;
}

/* The same on all ranks: by places in files. */
static uint64_t describe(const uintptr_t path[PATH], size_t n, char *text, size_t size)
{
    char place[120], last[120] = "";
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        ompp_whose_place(path[i], place, sizeof place);
        const char *plus = strchr(place, '+');
        const size_t module = plus ? (size_t)(plus - place) : 0;
        const bool same = module && strlen(last) == module && strncmp(last, place, module) == 0;
        const int m = snprintf(text + used, size - used, " %s", same ? plus : place);
        if (m < 0 || (size_t)m >= size - used) break;
        used += (size_t)m;
        snprintf(last, sizeof last, "%.*s", (int)module, place);
    }
    text[used] = '\0';
    return ompp_hash_bytes(OMPP_HASH_START, text, used);
}

static uint32_t new_site(const uintptr_t path[PATH], size_t n)
{
    char text[900], name[1000];

    if (heap.n == MOST_SITES) {
        if (!heap.too_many) heap.too_many = ompp_whose_unknown("blocks of more than 8192 call paths");
        return heap.too_many;
    }
    const uint64_t hash = describe(path, n, text, sizeof text);
    snprintf(name, sizeof name, "%ch %llx%s", OMPP_RAW_MARK, (unsigned long long)hash, text);
    const uint32_t object = ompp_whose_object(name, 0, 0);
    if (!object) return 0;
    heap.sites[heap.n] = (site_t){.key = hash, .object = object};
    heap.of[object] = (uint16_t)++heap.n;
    return object;
}

/* Of libraries that allocate for the program, what is inside of the call. */
static size_t inside(const ompp_unwind_frame_t *frames, size_t n, uintptr_t code)
{
    size_t i = 0;

    while (i < n && frames[i].address != code) i++;
    return i < n ? i : 0;
}

static uint32_t object_of(const ompp_unwind_frame_t *frames, size_t n, uintptr_t code)
{
    uintptr_t path[PATH];
    const size_t skipped = inside(frames, n, code), used = path_of(frames + skipped, n - skipped, path);
    uint64_t key = OMPP_HASH_START;

    for (size_t i = 0; i < used; i++) key = ompp_hash_mix(key ^ path[i]);
    for (uint32_t i = 0, at = (uint32_t)(key % SLOTS); i < SLOTS / 2; i++, at = (at + 1) % SLOTS) {
        known_t *k = &heap.known[at];
        if (!k->object) *k = (known_t){key, new_site(path, used)};
        if (k->key == key) return k->object;
    }
    return 0;
}

uintptr_t ompp_heap_begin(uint32_t object, uintptr_t address)
{
    const site_t *s = site_of(object);

    for (unsigned i = 0; s && i < SAMPLES; i++)
        if (s->sample[i].begin && address - s->sample[i].begin < s->sample[i].size) return s->sample[i].begin;
    return 0;
}

static void note_block(site_t *s, uintptr_t begin, size_t size)
{
    const uint64_t number = s->blocks++;
    unsigned at = number < SAMPLES ? (unsigned)number : SAMPLES / 2 + (unsigned)(number % (SAMPLES / 2));

    for (unsigned i = 0; i < SAMPLES / 2; i++)
        if (!s->sample[i].begin) at = i;
    s->sample[at].begin = begin;
    s->sample[at].size = size;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static uintptr_t rounded(uintptr_t at) { return (at + ROUND - 1) & ~(uintptr_t)(ROUND - 1); }

/* What an allocator leaves behind a block is nobody's, but parts of a window that ranks share have no gaps. */
static uintptr_t end_of(uintptr_t begin, size_t size)
{
    const uintptr_t end = begin + size;

    return end % ROUND && site_of(ompp_map_object(end)) ? end : rounded(end);
}

static void put(uint32_t object, uintptr_t begin, size_t size)
{
    const uintptr_t end = end_of(begin, size);
    site_t *s = site_of(object);

    if (!object || end < begin) return;
    if (begin & (MAP_PAGE - 1)) ompp_whose_paint_page(begin); /* what is beside the block is others' */
    if (end & (MAP_PAGE - 1)) ompp_whose_paint_page(end);
    ompp_counter_put(object, begin, end);
    if (!s) return;
    if (begin < heap.lowest) heap.lowest = begin;
    if (begin > heap.highest) heap.highest = begin;
    note_block(s, begin, size);
}

void ompp_heap_again(const void *block, size_t size, uint32_t object)
{
    if (!block || !size || !object || !ompp_data_try()) return;
    if (site_of(object)) put(object, (uintptr_t)block, size);
    ompp_data_done();
}

__attribute__((noinline)) static uint32_t path_object(ompp_whose_thread_t *t, uintptr_t code, uintptr_t sp)
{
    const unsigned slot = (unsigned)(ompp_hash_mix(code ^ sp << 20) % OMPP_WHOSE_MEMOS);
    uint32_t object = 0;

    if (!ompp_whose_walk_begin(t)) return 0;
    if (ompp_unwind_same(&t->memos[slot].walk) && t->memos[slot].code == code && t->memos[slot].sp == sp)
        object = t->memos[slot].object;
    if (!object) {
        const size_t n = ompp_unwind_here(&t->unwind, &t->memos[slot].walk, t->frames, OMPP_WHOSE_FRAMES);
        if (ompp_data_try()) {
            if (is_ready()) object = object_of(t->frames, n, code);
            ompp_data_done();
        }
        t->memos[slot].object = object;
        t->memos[slot].code = code;
        t->memos[slot].sp = sp;
    }
    ompp_whose_walk_end(t);
    return object;
}

static void note_stored(ompp_whose_thread_t *t, site_t *s, uintptr_t word);

__attribute__((noinline)) void ompp_heap_got(const void *block, size_t size, const void *code, void *const *word)
{
    const int saved = errno;

    if (!block || !size) return;
    ompp_counter_t *counter = ompp_counter_get();
    uint32_t object =
        counter->whose ? path_object(counter->whose, (uintptr_t)code, (uintptr_t)__builtin_frame_address(0)) : 0;
    if (ompp_data_try()) {
        if (!object && !heap.not_measured)
            heap.not_measured = ompp_whose_unknown("blocks allocated while nothing is measured");
        if (is_ready()) put(object ? object : heap.not_measured, (uintptr_t)block, size);
        if (word && object) note_stored(counter->whose, site_of(object), (uintptr_t)word);
        ompp_data_done();
    }
    errno = saved;
}

/* ---- What points to them ----------------------------------------------------------------------------------------- */

typedef struct {
    char kind;
    uint64_t key;
    uintptr_t base;  /* g: none; h: the block's begin; s: stack pointer */
    uintptr_t upper; /* s: CFA */
    uint32_t site;   /* h: number of the block's path */
    uintptr_t outer[OUTER];
    size_t depth; /* s: frames around it */
} where_t;

/* \return how far behind a block's begin: the program's own alignment, or a number of elements in front of them; -1 =
 * it points to none. */
static int in_front(const site_t *s, uintptr_t value)
{
    for (unsigned i = 0; i < SAMPLES; i++) {
        const uintptr_t begin = s->sample[i].begin, front = value - begin;
        if (!begin || value < begin || front >= 64) continue;
        if (front == 0 || front == 8 || front == 16 || (value % 64 == 0 && s->sample[i].size >= 64)) return (int)front;
    }
    return -1;
}

/* Bytes in front of what pointers point to, where all agree: those in frames may be of before it was known. */
static uint64_t front_of(const site_t *s)
{
    const unsigned bits = s->fronts[0] ? s->fronts[0] : s->fronts[1];

    return bits && !(bits & (bits - 1)) ? 8 * (uint64_t)__builtin_ctz(bits) : 0;
}

static bool is_same_word(const holder_t *a, const holder_t *b)
{
    return a->kind == b->kind && a->at == b->at && (a->kind == 's' ? a->outer[0] == b->outer[0] : a->key == b->key);
}

/*
 * Of a word of a frame two addresses of the code are kept, the first and the latest: a variable may be there at one and
 * not at the other. Where there is no room, the innermost frame goes: a constructor, and what it calls, holds the block
 * as this at many places.
 */
static void add_holder(site_t *s, holder_t holder)
{
    holder_t *innermost = &s->holder[0], *latest = NULL;
    unsigned same = 0, i;

    for (i = 0; i < HOLDERS && s->holder[i].kind; i++) {
        holder_t *h = &s->holder[i];
        if (h->depth > innermost->depth) innermost = h;
        if (!is_same_word(h, &holder)) continue;
        if (h->key == holder.key) return;
        latest = h;
        same++;
    }
    if (same > 1) *latest = holder;
    else if (i < HOLDERS) s->holder[i] = holder;
    else if (innermost->depth > holder.depth) *innermost = holder;
}

static uint64_t when_left(uintptr_t word, uintptr_t value)
{
    for (unsigned i = 0; i < LEFT && i < heap.nleft; i++)
        if (heap.left[i].word == word && heap.left[i].value == value) return heap.left[i].when;
    return 0;
}

static void look_at(uintptr_t at, uintptr_t value, const where_t *where)
{
    if (value < heap.lowest || value > heap.highest + 64) return;
    site_t *s = site_of(ompp_map_object(value));
    const int front = s ? in_front(s, value) : -1;
    if (front < 0 || (where->kind == 'h' && where->key == s->key)) return;
    const bool in_frame = where->kind == 's';
    s->fronts[in_frame] |= (uint8_t)(1u << front / 8);
    add_holder(s, (holder_t){where->kind,
                             where->key,
                             in_frame ? where->upper - at : at - where->base,
                             in_frame ? at - where->base : where->site,
                             {where->outer[0], where->outer[1], where->outer[2]},
                             where->depth,
                             where->kind == 'g' ? when_left(at, value) : 0});
}

static void look_through(const uintptr_t *words, uintptr_t at, size_t bytes, const where_t *where)
{
    for (size_t i = 0; i < bytes / sizeof *words; i++) look_at(at + i * sizeof *words, words[i], where);
}

static void in_variable(uintptr_t begin, uintptr_t end, void *data)
{
    const where_t where = {.kind = 'g'};

    (void)data;
    begin = (begin + 7) & ~(uintptr_t)7;
    if (end > begin + BLOCK_BYTES) end = begin + BLOCK_BYTES;
    if (end > begin) look_through((const uintptr_t *)begin, begin, end - begin, &where);
}

static void in_stack(ompp_whose_thread_t *t)
{
    size_t n, at;

    if (!ompp_whose_walk_begin(t)) return;
    ompp_whose_find_frame(t, UINTPTR_MAX, (ompp_accessor_t){.code = 0}, &n, &at);
    for (at = n ? n - 1 : 0; at-- > 0;) { /* the outermost ones first: what lives long names a block best */
        const uintptr_t low = t->frames[at].cfa, high = t->frames[at + 1].cfa;
        where_t where = {.kind = 's', .key = t->frames[at].address, .base = low, .upper = high, .depth = n - at};
        for (size_t i = 0; i < OUTER && at + 1 + i < n; i++) where.outer[i] = t->frames[at + 1 + i].address;
        if (high < low || high - low > STACK_BYTES) continue;
        look_through((const uintptr_t *)low, low, high - low, &where);
    }
    ompp_whose_walk_end(t);
}

/* Who has given a block back may not have told. */
static bool read_block(uintptr_t at, void *to, size_t bytes)
{
    const struct iovec here = {to, bytes}, there = {(void *)at, bytes};

    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* The word that the allocator was given the address of: of the first blocks of a path. */
static void note_stored(ompp_whose_thread_t *t, site_t *s, uintptr_t word)
{
    const uint32_t object = ompp_map_object(word);
    const site_t *owner = site_of(object);
    const where_t in_owner = {.kind = 'h',
                              .key = owner ? owner->key : 0,
                              .base = ompp_heap_begin(object, word),
                              .site = owner ? (uint32_t)(owner - heap.sites) : 0};
    size_t n, at;

    if (!s || s->stored.kind || s->blocks > SAMPLES) return;
    if (in_owner.base) look_at(word, *(const uintptr_t *)word, &in_owner);
    else if (!ompp_whose_is_own(t, word)) s->stored = (holder_t){.kind = 'g', .at = word};
    else if (ompp_whose_walk_begin(t)) {
        if (ompp_whose_find_frame(t, word, (ompp_accessor_t){.code = 0}, &n, &at))
            s->stored = (holder_t){.kind = 's', .key = t->frames[at].address, .at = t->frames[at + 1].cfa - word};
        ompp_whose_walk_end(t);
    }
}

static void in_blocks(void)
{
    static uintptr_t words[BLOCK_BYTES / sizeof(uintptr_t)];

    for (uint32_t i = 0; i < heap.n; i++)
        for (unsigned k = 0; k < SAMPLES; k++) {
            const site_t *s = &heap.sites[i];
            const size_t bytes = s->sample[k].size < BLOCK_BYTES ? s->sample[k].size & ~7ul : BLOCK_BYTES;
            where_t where = {.kind = 'h', .key = s->key, .base = s->sample[k].begin, .site = i};
            if (s->sample[k].begin && bytes && read_block(s->sample[k].begin, words, bytes))
                look_through(words, s->sample[k].begin, bytes, &where);
        }
}

static void look_for_pointers(ompp_whose_thread_t *t)
{
    const uint64_t begin = now_ns();

    if (heap.looks++ > LEAST && heap.spent_ns * BUDGET > begin - heap.begun_ns) return;
    ompp_whose_each_variable(in_variable, NULL);
    if (t) in_stack(t);
    in_blocks();
    heap.spent_ns += now_ns() - begin;
}

/* ---- Giving back ------------------------------------------------------------------------------------------------- */

/* Variables that point to a block are left behind when it goes, unless the program changes them. */
static void note_left(const site_t *s, uintptr_t begin)
{
    uintptr_t value;

    for (unsigned i = 0; i < HOLDERS && s->holder[i].kind; i++) {
        const uintptr_t word = s->holder[i].at;
        if (s->holder[i].kind != 'g' || !read_block(word, &value, sizeof value) || value != begin ||
            when_left(word, value))
            continue;
        heap.left[heap.nleft % LEFT] = (left_t){word, value, heap.nleft + 1};
        heap.nleft++;
    }
}

static void leaves(uintptr_t begin)
{
    site_t *s = site_of(ompp_map_object(begin));
    ompp_whose_thread_t *t = ompp_counter_self->whose;

    for (unsigned i = 0; s && i < SAMPLES; i++) {
        if (s->sample[i].begin != begin) continue;
        if (!s->holder[0].kind && s->scans < SCANS) {
            s->scans++;
            look_for_pointers(t);
        }
        note_left(s, begin);
        s->sample[i].begin = 0;
    }
}

void ompp_heap_gone(const void *block, size_t size)
{
    const int saved = errno;

    if (!block || !size || !ompp_data_try()) return;
    if (is_ready()) {
        leaves((uintptr_t)block);
        if (!heap.given_back) heap.given_back = ompp_whose_unknown("blocks that libraries allocate");
        put(heap.given_back, (uintptr_t)block, size);
    }
    ompp_data_done();
    errno = saved;
}

/* Of much memory, the map's pages in between are given back (ompp_mappings.c). */
void ompp_heap_unmapped(uintptr_t begin, uintptr_t end)
{
    enum { MOST = 1 << 20 };
    const int saved = errno;

    if (!ompp_whose_all || !ompp_data_try()) return;
    if (heap.of) leaves(begin);
    if (end - begin > 2 * MOST) {
        ompp_map_put(0, end - MOST, end);
        end = begin + MOST;
    }
    ompp_map_put(0, begin, end);
    ompp_data_done();
    errno = saved;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void tell(const site_t *s)
{
    static char text[8000] = OMPP_OBJECT_ALL;
    char place[120];
    size_t used = sizeof OMPP_OBJECT_ALL - 1;
    uint64_t latest = 0;

    if (s->stored.kind) {
        ompp_whose_place(s->stored.kind == 'g' ? s->stored.at : s->stored.key, place, sizeof place);
        used += (size_t)snprintf(text + used, sizeof text - used, ";r %s %llx", place,
                                 s->stored.kind == 'g' ? 0ull : (unsigned long long)s->stored.at);
    }
    for (unsigned i = 0; i < HOLDERS && s->holder[i].kind; i++)
        latest = s->holder[i].left > latest ? s->holder[i].left : latest;
    for (unsigned i = 0; i < HOLDERS && s->holder[i].kind; i++) {
        const holder_t *h = &s->holder[i];
        int n = 0;
        if (h->left && h->left < latest) continue;
        const uint64_t front = h->kind == 'h' ? front_of(&heap.sites[h->other]) : 0;
        if (h->at < front) continue;
        if (h->kind != 'h') ompp_whose_place(h->kind == 'g' ? h->at : h->key, place, sizeof place);
        if (h->kind == 'g') n = snprintf(text + used, sizeof text - used, ";%c %s", h->left ? 'f' : 'g', place);
        if (h->kind == 'h')
            n = snprintf(text + used, sizeof text - used, ";h %llx %llx", (unsigned long long)h->key,
                         (unsigned long long)(h->at - front));
        if (h->kind == 's')
            n = snprintf(text + used, sizeof text - used, ";s %s %llx %llx", place, (unsigned long long)h->at,
                         (unsigned long long)h->other);
        for (unsigned k = 0; h->kind == 's' && k < OUTER && n > 0 && (size_t)n < sizeof text - used; k++) {
            ompp_whose_place(h->outer[k], place, sizeof place);
            n += snprintf(text + used + n, sizeof text - used - (size_t)n, " %s", place);
        }
        if (n < 0 || (size_t)n >= sizeof text - used) break;
        used += (size_t)n;
    }
    text[used] = '\0';
    used += ompp_offsets_tell(s->object, front_of(s), text + used, sizeof text - used);
    if (used > sizeof OMPP_OBJECT_ALL - 1) ompp_data_object_says(s->object, text);
}

void ompp_heap_finish(void)
{
    uint32_t n = 0;

    if (!ompp_whose_all || !ompp_data_try()) return;
    if (heap.of) {
        ompp_whose_thread_t *t = ompp_counter_self->whose;
        ompp_whose_each_variable(in_variable, NULL);
        if (t) in_stack(t); /* who calls MPI_Finalize, or exit */
        in_blocks();
        n = heap.n;
    }
    ompp_data_done();
    for (uint32_t i = 0; i < n; i++) tell(&heap.sites[i]);
    ompp_offsets_finish();
}
