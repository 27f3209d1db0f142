#include "cache/ompp_reuse.h"

#include <string.h>

#define WORDS(capacity) ((capacity) / 32) /* of 64 places */

static uint32_t home(const ompp_reuse_t *r, uint64_t line)
{
    return (uint32_t)((line * 0x9e3779b97f4a7c15u) >> 32) & (2 * r->capacity - 1);
}

size_t ompp_reuse_bytes(uint32_t capacity)
{
    const size_t n = capacity;

    return (2 * n + WORDS(n)) * sizeof(uint64_t) + (2 * n + WORDS(n) + 2) * sizeof(uint32_t);
}

void ompp_reuse_init(ompp_reuse_t *r, uint32_t capacity, void *memory)
{
    uint64_t *words = memory;

    *r = (ompp_reuse_t){.capacity = capacity, .line_at = words, .bits = words + 2ul * capacity};
    r->table = (uint32_t *)(r->bits + WORDS(capacity));
    r->sums = r->table + 2ul * capacity;
}

void ompp_reuse_clear(ompp_reuse_t *r)
{
    const size_t words = WORDS(r->capacity);

    r->live = r->next = r->oldest = 0;
    r->last = 0;
    memset(r->bits, 0, words * sizeof *r->bits);
    memset(r->table, 0, 2ul * r->capacity * sizeof *r->table);
    memset(r->sums, 0, (words + 1) * sizeof *r->sums);
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static void add(ompp_reuse_t *r, uint32_t place, uint32_t by)
{
    const uint32_t words = WORDS(r->capacity);

    for (uint32_t i = place / 64 + 1; i <= words; i += i & -i) r->sums[i] += by;
    r->bits[place / 64] ^= 1ull << (place % 64);
}

/* Lines at places up to this one. */
static uint32_t up_to(const ompp_reuse_t *r, uint32_t place)
{
    uint32_t sum = (uint32_t)__builtin_popcountll(r->bits[place / 64] << (63 - place % 64));

    for (uint32_t i = place / 64; i; i -= i & -i) sum += r->sums[i];
    return sum;
}

/* ---- Lines by their number --------------------------------------------------------------------------------------- */

static uint32_t *find(const ompp_reuse_t *r, uint64_t line)
{
    const uint32_t mask = 2 * r->capacity - 1;
    uint32_t i = home(r, line);

    while (r->table[i] && r->line_at[r->table[i] - 1] != line) i = (i + 1) & mask;
    return &r->table[i];
}

/* What stands behind a gap moves up, or it would not be found. */
static void remove_entry(ompp_reuse_t *r, uint32_t *entry)
{
    const uint32_t mask = 2 * r->capacity - 1;
    uint32_t gap = (uint32_t)(entry - r->table);

    for (uint32_t i = (gap + 1) & mask; r->table[i]; i = (i + 1) & mask) {
        const uint32_t from = home(r, r->line_at[r->table[i] - 1]);
        if (((i - from) & mask) < ((i - gap) & mask)) continue;
        r->table[gap] = r->table[i];
        gap = i;
    }
    r->table[gap] = 0;
}

static void forget_oldest(ompp_reuse_t *r)
{
    while (!(r->bits[r->oldest / 64] >> (r->oldest % 64))) r->oldest = (r->oldest / 64 + 1) * 64;
    r->oldest += (uint32_t)__builtin_ctzll(r->bits[r->oldest / 64] >> (r->oldest % 64));
    remove_entry(r, find(r, r->line_at[r->oldest]));
    add(r, r->oldest, -1u);
    r->live--;
}

/* Places from 0 on for the lines that stay, in their order. */
static void renumber(ompp_reuse_t *r, bool (*keeps)(const void *rule, uint64_t line), const void *rule)
{
    uint32_t to = 0;

    for (uint32_t word = 0; word < WORDS(r->capacity); word++)
        for (uint64_t bits = r->bits[word]; bits; bits &= bits - 1) {
            const uint64_t line = r->line_at[word * 64 + (uint32_t)__builtin_ctzll(bits)];
            if (!keeps || keeps(rule, line)) r->line_at[to++] = line;
        }
    const uint64_t last = r->last;
    ompp_reuse_clear(r);
    r->last = last;
    for (; r->next < to; r->next++) {
        *find(r, r->line_at[r->next]) = r->next + 1;
        add(r, r->next, 1);
    }
    r->live = to;
}

void ompp_reuse_thin(ompp_reuse_t *r, bool (*keeps)(const void *rule, uint64_t line), const void *rule)
{
    renumber(r, keeps, rule);
    r->last = 0;
}

uint32_t ompp_reuse_touch(ompp_reuse_t *r, uint64_t line)
{
    uint32_t distance = OMPP_REUSE_NEW;

    if (line == r->last) return 0;
    r->last = line;
    if (r->next == 2 * r->capacity) renumber(r, NULL, NULL);
    uint32_t *entry = find(r, line);
    if (*entry) {
        const uint32_t place = *entry - 1;
        distance = r->live - up_to(r, place);
        add(r, place, -1u);
    } else {
        if (r->live == r->capacity) {
            forget_oldest(r);
            entry = find(r, line);
        }
        r->live++;
    }
    r->line_at[r->next] = line;
    *entry = r->next + 1;
    add(r, r->next++, 1);
    return distance;
}
