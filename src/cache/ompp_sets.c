#include "cache/ompp_sets_priv.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

bool ompp_sets_init(ompp_sets_t *s, uint32_t sets, uint32_t ways, ompp_policy_t policy, ompp_memory_new_t memory_new)
{
    *s = (ompp_sets_t){.sets = sets, .ways = ways, .stride = (ways + 7) / 8 * 8, .policy = policy};
    s->reciprocal = sets & (sets - 1) ? UINT64_MAX / sets + 1 : 0;
    s->tags = memory_new((size_t)sets * s->stride * sizeof *s->tags);
    s->tree = s->tags && policy == OMPP_PLRU ? memory_new(sets * sizeof *s->tree) : NULL;
    if (!s->tags || (policy == OMPP_PLRU && !s->tree)) return false;
    ompp_sets_clear(s);
    return true;
}

void ompp_sets_clear(ompp_sets_t *s)
{
    memset(s->tags, 0xff, (size_t)s->sets * s->stride * sizeof *s->tags);
    if (s->tree) memset(s->tree, 0, s->sets * sizeof *s->tree);
    s->chance = 0x9e3779b97f4a7c15u;
}

static uint32_t way_of(const ompp_sets_t *s, const uint32_t *row, uint32_t tag)
{
    uint32_t way = 0;

    while (way < s->ways && row[way] != tag) way++;
    return way;
}

/* ---- Least recently used: the row is the order ------------------------------------------------------------------- */

static bool touch_in_order(const ompp_sets_t *s, uint32_t *row, uint32_t tag, uint32_t *evicted)
{
    const uint32_t way = way_of(s, row, tag);
    const bool hit = way < s->ways;

    if (hit && s->policy == OMPP_FIFO) return true;
    if (!hit) *evicted = row[s->ways - 1];
    memmove(row + 1, row, (hit ? way : s->ways - 1) * sizeof *row);
    row[0] = tag;
    return hit;
}

#if defined(__x86_64__)
/* From element 15 - n on: ones for ways 0 to n, zeros for those behind. */
static const int32_t up_to[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

/*
 * Up to 8, or 16, ways at once: the line comes first, and those that were before it go back by one. A line that is not
 * there takes the place of the last one. There is no branch on the way, which cannot be foreseen; misses often can.
 */
__attribute__((target("avx2,bmi"), always_inline)) static inline bool touch_vector(uint32_t *row, uint32_t ways,
                                                                                   uint32_t tag, uint32_t *evicted)
{
    const __m256i tags = _mm256_set1_epi32((int)tag), by_one = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
    __m256i *const first = (__m256i *)row, *const second = (__m256i *)(row + 8);
    const __m256i low = _mm256_loadu_si256(first), high = ways > 8 ? _mm256_loadu_si256(second) : low;
    const __m256i low_back = _mm256_permutevar8x32_epi32(low, by_one);
    const __m256i high_back = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(high, by_one), low_back, 1);
    const __m256i with_tag = _mm256_blend_epi32(low_back, tags, 1);
    uint32_t found = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(low, tags)));

    if (ways > 8) found |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(high, tags))) << 8;
    found &= (2u << (ways - 1)) - 1;
    if (!found) {
        *evicted = row[ways - 1];
        _mm256_storeu_si256(first, with_tag);
        if (ways > 8) _mm256_storeu_si256(second, high_back);
        return false;
    }
    const int32_t *which = up_to + 15 - __builtin_ctz(found);
    _mm256_storeu_si256(first, _mm256_blendv_epi8(low, with_tag, _mm256_loadu_si256((const __m256i *)which)));
    if (ways > 8)
        _mm256_storeu_si256(second,
                            _mm256_blendv_epi8(high, high_back, _mm256_loadu_si256((const __m256i *)(which + 8))));
    return true;
}

/* ways is a constant, so that what depends on it is decided once. */
__attribute__((target("avx2,bmi"), always_inline)) static inline unsigned
touch_vectors(ompp_sets_t *s, const ompp_sets_t *next, uint32_t *tags, uint16_t *which, unsigned n, const uint32_t ways)
{
    const uint32_t mask = s->sets - 1;
    uint32_t *const rows = s->tags, evicted;
    unsigned missed = 0;

    for (unsigned i = 0; i < n; i++) {
        const uint32_t tag = tags[i];
        if (touch_vector(rows + (size_t)(tag & mask) * ((ways + 7) / 8 * 8), ways, tag, &evicted)) continue;
        if (next) ompp_sets_prepare(next, tag);
        tags[missed] = tag;
        which[missed++] = which[i];
    }
    return missed;
}

__attribute__((target("avx2,bmi"))) static unsigned touch_some_vector(ompp_sets_t *s, const ompp_sets_t *next,
                                                                      uint32_t *tags, uint16_t *which, unsigned n)
{
    if (s->ways == 8) return touch_vectors(s, next, tags, which, n, 8);
    if (s->ways == 12) return touch_vectors(s, next, tags, which, n, 12);
    if (s->ways == 16) return touch_vectors(s, next, tags, which, n, 16);
    return touch_vectors(s, next, tags, which, n, s->ways);
}

__attribute__((target("avx2,bmi"))) static bool touch_one_vector(uint32_t *row, uint32_t ways, uint32_t tag,
                                                                 uint32_t *evicted)
{
    return touch_vector(row, ways, tag, evicted);
}

static bool has_vectors(void)
{
    static int has = -1;

    if (has < 0) {
        __builtin_cpu_init();
        has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
    }
    return has > 0;
}
#else
static bool touch_one_vector(uint32_t *row, uint32_t ways, uint32_t tag, uint32_t *evicted)
{
    return (void)row, (void)ways, (void)tag, (void)evicted, false;
}
static unsigned touch_some_vector(ompp_sets_t *s, const ompp_sets_t *next, uint32_t *tags, uint16_t *which, unsigned n)
{
    return (void)s, (void)next, (void)tags, (void)which, (void)n, 0;
}
static bool has_vectors(void) { return false; }
#endif

/* ---- The others: lines keep their ways --------------------------------------------------------------------------- */

/* The bits on the way to this one point away from it. */
static void mark(const ompp_sets_t *s, uint32_t *tree, uint32_t way)
{
    uint32_t node = 1;

    for (uint32_t half = s->ways / 2; half; half /= 2) {
        const uint32_t right = (way & half) != 0;
        *tree = right ? *tree & ~(1u << node) : *tree | 1u << node;
        node = 2 * node + right;
    }
}

static uint32_t pointed_to(const ompp_sets_t *s, uint32_t tree)
{
    uint32_t node = 1, way = 0;

    for (uint32_t half = s->ways / 2; half; half /= 2) {
        const uint32_t right = tree >> node & 1;
        way += right * half;
        node = 2 * node + right;
    }
    return way;
}

static uint32_t victim(ompp_sets_t *s, const uint32_t *row, uint32_t set)
{
    const uint32_t empty = way_of(s, row, OMPP_SETS_EMPTY);

    if (empty < s->ways) return empty;
    if (s->policy == OMPP_PLRU) return pointed_to(s, s->tree[set]);
    s->chance ^= s->chance << 13;
    s->chance ^= s->chance >> 7;
    s->chance ^= s->chance << 17;
    return (uint32_t)(((s->chance >> 32) * s->ways) >> 32);
}

static bool touch_in_place(ompp_sets_t *s, uint32_t *row, uint32_t set, uint32_t tag, uint32_t *evicted)
{
    uint32_t way = way_of(s, row, tag);
    const bool hit = way < s->ways;

    if (!hit) {
        way = victim(s, row, set);
        *evicted = row[way];
        row[way] = tag;
    }
    if (s->policy == OMPP_PLRU) mark(s, &s->tree[set], way);
    return hit;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

bool ompp_sets_touch(ompp_sets_t *s, uint64_t line, uint32_t *evicted)
{
    const uint32_t set = ompp_sets_index(s, line), tag = ompp_sets_tag(line);
    uint32_t *row = s->tags + (size_t)set * s->stride;

    *evicted = OMPP_SETS_EMPTY;
    if (s->policy == OMPP_LRU && s->ways <= 16 && has_vectors()) return touch_one_vector(row, s->ways, tag, evicted);
    if (s->policy == OMPP_LRU || s->policy == OMPP_FIFO) return touch_in_order(s, row, tag, evicted);
    return touch_in_place(s, row, set, tag, evicted);
}

bool ompp_sets_go_by_tags(const ompp_sets_t *s)
{
    return s->policy == OMPP_LRU && s->ways <= 16 && !s->reciprocal && has_vectors();
}

unsigned ompp_sets_touch_tags(ompp_sets_t *s, const ompp_sets_t *next, uint32_t *tags, uint16_t *which, unsigned n)
{
    return touch_some_vector(s, next, tags, which, n);
}

bool ompp_sets_touch_only(ompp_sets_t *s, uint64_t line)
{
    uint32_t none;
    const uint32_t *row = s->tags + (size_t)ompp_sets_index(s, line) * s->stride;

    return way_of(s, row, ompp_sets_tag(line)) < s->ways && ompp_sets_touch(s, line, &none);
}

bool ompp_sets_remove(ompp_sets_t *s, uint64_t line)
{
    uint32_t *row = s->tags + (size_t)ompp_sets_index(s, line) * s->stride;
    const bool ordered = s->policy == OMPP_LRU || s->policy == OMPP_FIFO;
    uint32_t way = 0;

    while (way < s->ways && (row[way] == OMPP_SETS_EMPTY || (row[way] ^ (uint32_t)line) & OMPP_TAG_EXACT)) way++;
    if (way == s->ways) return false;
    if (ordered) memmove(row + way, row + way + 1, (s->ways - way - 1) * sizeof *row);
    row[ordered ? s->ways - 1 : way] = OMPP_SETS_EMPTY;
    return true;
}
