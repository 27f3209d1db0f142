#include "hooks/ompp_offsets.h"

#include "base/ompp_hash.h"
#include "base/ompp_reserve.h"
#include "model/ompp_profile.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define STRUCTURES 4096u /* a power of two, as the next */
#define PLACES 128u      /* for offsets */
#define MOST 80u         /* of them that are used */
#define LEVELS 3u

/* counts[0]: loads, [1]: stores, then misses of each level. */
typedef struct {
    uint64_t offset; /* + 1; 0 = free */
    uint64_t counts[2 + LEVELS];
} offset_t;

typedef struct {
    uint32_t object;   /* 0 = free */
    unsigned n, shift; /* offsets whose hash has so many zeros in front are followed */
    uintptr_t begin;   /* 0 = that of the block */
    offset_t offset[PLACES];
} whole_t;

static whole_t *wholes; /* shape [STRUCTURES]; NULL = nobody wants it */
static uint32_t nwholes;
static atomic_flag busy = ATOMIC_FLAG_INIT;

void ompp_offsets_start(void) { wholes = ompp_reserve(STRUCTURES * sizeof *wholes); }

static whole_t *whole_of(uint32_t object)
{
    uint32_t at = ompp_hash_place32(object, 12);

    while (wholes[at].object && wholes[at].object != object) at = (at + 1) % STRUCTURES;
    if (wholes[at].object) return &wholes[at];
    if (nwholes >= STRUCTURES / 4 * 3) return NULL;
    nwholes++;
    wholes[at].object = object;
    return &wholes[at];
}

static uint64_t hash_of(uint64_t offset) { return ompp_hash_mix(offset + OMPP_HASH_STEP); }

static bool is_followed(uint64_t hash, unsigned shift) { return !shift || hash >> (64 - shift) == 0; }

/* Place of an offset, or where it may be put. */
static offset_t *place_of(whole_t *w, uint64_t offset, uint64_t hash)
{
    uint32_t at = (uint32_t)hash % PLACES;

    while (w->offset[at].offset && w->offset[at].offset != offset + 1) at = (at + 1) % PLACES;
    return &w->offset[at];
}

/* Half as many are followed. */
static void thin(whole_t *w)
{
    static offset_t all[PLACES];

    memcpy(all, w->offset, sizeof all);
    memset(w->offset, 0, sizeof w->offset);
    w->shift++;
    w->n = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        const uint64_t hash = hash_of(all[i].offset - 1);
        if (!all[i].offset || !is_followed(hash, w->shift)) continue;
        *place_of(w, all[i].offset - 1, hash) = all[i];
        w->n++;
    }
}

static void add(whole_t *w, uint64_t offset, const ompp_fed_t *entry, unsigned levels)
{
    const uint64_t hash = hash_of(offset);

    if (!is_followed(hash, w->shift)) return;
    offset_t *o = place_of(w, offset, hash);
    if (!o->offset) {
        if (w->n == MOST) {
            thin(w);
            return add(w, offset, entry, levels);
        }
        w->n++;
        o->offset = offset + 1;
    }
    o->counts[entry->object & 1] += 1 + entry->again;
    for (unsigned i = 0; i < levels && i < LEVELS; i++) o->counts[2 + i]++;
}

static bool take(void) { return wholes && !atomic_flag_test_and_set_explicit(&busy, memory_order_acquire); }
static void give(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

void ompp_offsets_begin(uint32_t object, uintptr_t begin)
{
    if (!object || !take()) return;
    whole_t *w = whole_of(object);
    if (w) w->begin = begin;
    give();
}

void ompp_offsets_add(const ompp_fed_t *entry, const uint8_t *levels, uint32_t n, ompp_feed_block_t *block)
{
    if (!take()) return;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t object = entry[i].object >> 1;
        whole_t *w = object && entry[i].size == 1 ? whole_of(object) : NULL;
        const uintptr_t begin = !w ? 0 : w->begin ? w->begin : block(object, entry[i].address);
        if (begin && entry[i].address >= begin) add(w, entry[i].address - begin, &entry[i], levels[i]);
    }
    give();
}

size_t ompp_offsets_tell(uint32_t object, uint64_t front, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    if (!take()) return 0;
    const whole_t *w = whole_of(object);
    for (uint32_t i = 0; w && i < PLACES; i++) {
        const offset_t *o = &w->offset[i];
        const uint64_t *c = o->counts;
        if (!o->offset || o->offset - 1 < front) continue;
        const int n = snprintf(text + used, size - used,
                               ";m %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64,
                               o->offset - 1 - front, c[0], c[1], c[2], c[3], c[4]);
        if (n < 0 || (size_t)n >= size - used) break;
        used += (size_t)n;
    }
    text[used] = '\0';
    give();
    return used;
}

void ompp_offsets_finish(void)
{
    static char text[6000] = OMPP_OBJECT_ALL;
    const size_t begin = sizeof OMPP_OBJECT_ALL - 1;

    for (uint32_t i = 0; wholes && i < STRUCTURES; i++)
        if (wholes[i].object && wholes[i].begin &&
            ompp_offsets_tell(wholes[i].object, 0, text + begin, sizeof text - begin))
            ompp_data_object_says(wholes[i].object, text);
}
