/* Reuse distances are those of brute force; levels of each policy miss where a plain list does; misses are of the
 * class that they are made to be; descriptions of machines are read, or refused with a reason. */
#include "cache/ompp_levels.h"
#include "cache/ompp_machine.h"
#include "cache/ompp_reuse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static void *zeroed(size_t size) { return calloc(1, size + 64); }

static uint64_t state = 88172645463325252u;

static uint64_t chance(uint64_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (state >> 16) % n;
}

/* ---- Reuse distance ---------------------------------------------------------------------------------------------- */

enum { LINES = 3000, TOUCHES = 60000 };

/* An order as a list: the last line first. */
static uint64_t list[2 * LINES];
static uint32_t length;

static uint32_t touch_list(uint64_t line)
{
    uint32_t at = 0;

    while (at < length && list[at] != line) at++;
    const uint32_t distance = at < length ? at : OMPP_REUSE_NEW;
    length += at == length;
    memmove(list + 1, list, at * sizeof *list);
    list[0] = line;
    return distance;
}

static uint64_t some_line(unsigned i)
{
    if (i % 5000 < 2000) return 1 + i % 700; /* a sweep */
    return 1 + (chance(4) ? chance(60) : chance(LINES - 1)) * 64;
}

static void distances_of(uint32_t capacity)
{
    void *memory = zeroed(ompp_reuse_bytes(capacity));
    ompp_reuse_t reuse;

    length = 0;
    ompp_reuse_init(&reuse, capacity, memory);
    for (unsigned i = 0; i < TOUCHES; i++) {
        const uint64_t line = some_line(i);
        uint32_t expected = touch_list(line), found = ompp_reuse_touch(&reuse, line);
        if (expected >= capacity) expected = OMPP_REUSE_NEW;
        assert_int_equal(found, expected);
        assert_true(reuse.live <= capacity);
    }
    free(memory);
}

static void distances(void **unused)
{
    (void)unused;
    distances_of(4096);
    distances_of(256); /* lines are forgotten */
    distances_of(64);
}

static bool is_even(const void *rule, uint64_t line) { return (void)rule, line % 2 == 0; }

static void thinned(void **unused)
{
    void *memory = zeroed(ompp_reuse_bytes(1024));
    ompp_reuse_t reuse;

    (void)unused;
    ompp_reuse_init(&reuse, 1024, memory);
    for (uint64_t line = 1; line <= 100; line++) ompp_reuse_touch(&reuse, line);
    ompp_reuse_thin(&reuse, is_even, NULL);
    assert_int_equal(reuse.live, 50);
    assert_int_equal(ompp_reuse_touch(&reuse, 2), 49);
    assert_int_equal(ompp_reuse_touch(&reuse, 100), 1);
    assert_int_equal(ompp_reuse_touch(&reuse, 3), OMPP_REUSE_NEW);
    free(memory);
}

/* ---- Levels ------------------------------------------------------------------------------------------------------ */

/* The lines of each set in a list, as the policy has them: LRU and FIFO the newest first. */
enum { MOST_SETS = 64 };
static uint64_t sets[MOST_SETS][OMPP_MOST_WAYS];

static bool touch_sets(const ompp_level_t *l, uint64_t address)
{
    const uint64_t line = address / l->line + 1;
    uint64_t *row = sets[(line - 1) % l->sets];
    uint32_t at = 0;

    while (at < l->ways && row[at] != line) at++;
    const bool hit = at < l->ways;
    if (hit && l->policy == OMPP_FIFO) return true;
    memmove(row + 1, row, (hit ? at : l->ways - 1) * sizeof *row);
    row[0] = line;
    return hit;
}

static ompp_machine_t described(const char *text)
{
    ompp_machine_t machine;
    char copy[512], why[128];

    snprintf(copy, sizeof copy, "%s", text);
    if (!ompp_machine_parse(&machine, copy, why, sizeof why)) fail_msg("%s: %s", text, why);
    return machine;
}

static void one_level(const char *text)
{
    const ompp_machine_t machine = described(text);
    ompp_levels_t *levels = ompp_levels_new(&machine, 0, zeroed, NULL);
    ompp_access_result_t result;
    uint64_t misses = 0;

    memset(sets, 0, sizeof sets);
    for (unsigned i = 0; i < 200000; i++) {
        const uint64_t address = 0x7f0000000000u + (chance(3) ? chance(3000) : chance(1 << 20));
        ompp_levels_access(levels, address, false, &result);
        assert_int_equal(!result.misses[0], touch_sets(&machine.level[0], address));
        misses += result.misses[0];
    }
    assert_true(misses > 1000 && misses < 199000);
}

static void as_lists(void **unused)
{
    (void)unused;
    one_level("L1 4096 8 64");
    one_level("L1 6144 12 64"); /* 8 sets, two vectors */
    one_level("L1 4096 1 64");
    one_level("L1 4096 16 32");
    one_level("L1 1408 11 64"); /* 2 sets */
    one_level("L1 2112 11 64"); /* 3 sets: no power of 2 */
    one_level("L1 20k 20 64");  /* more than the vectors hold */
    one_level("L1 4096 8 64 fifo");
}

/* A tree that points away from the last touches: with 2 ways it is LRU. */
static void trees(void **unused)
{
    const ompp_machine_t plru = described("L1 1024 2 64 plru"), lru = described("L1 1024 2 64");
    const ompp_machine_t four = described("L1 256 4 64 plru");
    ompp_levels_t *a = ompp_levels_new(&plru, 0, zeroed, NULL), *b = ompp_levels_new(&lru, 0, zeroed, NULL);
    ompp_access_result_t x, y;

    (void)unused;
    for (unsigned i = 0; i < 50000; i++) {
        const uint64_t address = chance(4096);
        ompp_levels_access(a, address, false, &x);
        ompp_levels_access(b, address, false, &y);
        assert_int_equal(x.misses[0], y.misses[0]);
    }
    /* 0 1 2 3 0: the tree points to 2, where LRU would take 1 */
    static const unsigned order[] = {0, 1, 2, 3, 0, 4, 1, 2}, misses[] = {1, 1, 1, 1, 0, 1, 0, 1};
    a = ompp_levels_new(&four, 0, zeroed, NULL);
    for (unsigned i = 0; i < 8; i++) {
        ompp_levels_access(a, order[i] * 64, false, &x);
        assert_int_equal(x.misses[0], misses[i]);
    }
}

/* Random replacement of a loop that is longer than the cache keeps some of it, unlike LRU. */
static void by_chance(void **unused)
{
    const ompp_machine_t machine = described("L1 4096 8 64 random");
    ompp_levels_t *levels = ompp_levels_new(&machine, 0, zeroed, NULL);
    ompp_access_result_t result;
    unsigned misses = 0;

    (void)unused;
    for (unsigned i = 0; i < 72 * 1000; i++) {
        ompp_levels_access(levels, i % 72 * 64, false, &result);
        misses += result.misses[0];
    }
    assert_true(misses > 8000 && misses < 40000);
}

static unsigned long sum(ompp_levels_t *levels, unsigned n, uint64_t stride, unsigned rounds, bool store,
                         ompp_access_result_t *first, uint64_t total[8])
{
    ompp_access_result_t r;

    memset(total, 0, 8 * sizeof *total);
    for (unsigned i = 0; i < n * rounds; i++) {
        ompp_levels_access(levels, 0x10000000 + i % n * stride, store, &r);
        if (i == 0 && first) *first = r;
        total[0] += r.misses[0], total[1] += r.misses[1], total[2] += r.compulsory[0], total[3] += r.conflict[0];
        total[4] += r.tlb_misses[0], total[5] += r.prefetched, total[6] += r.conflict[1], total[7] += r.compulsory[1];
    }
    return total[0];
}

static void classes(void **unused)
{
    const ompp_machine_t machine = described("L1 4096 4 64\nL2 64k 8 128\n");
    ompp_levels_t *levels = ompp_levels_new(&machine, OMPP_WITH_CLASSES, zeroed, NULL);
    uint64_t n[8];

    (void)unused;
    sum(levels, 32, 64, 10, false, NULL, n); /* fits */
    assert_true(n[0] == 32 && n[2] == 32 && n[3] == 0 && n[7] == 16);
    levels = ompp_levels_new(&machine, OMPP_WITH_CLASSES, zeroed, NULL);
    sum(levels, 128, 64, 10, false, NULL, n); /* larger than L1 */
    assert_true(n[0] == 1280 && n[2] == 128 && n[3] == 0);
    levels = ompp_levels_new(&machine, OMPP_WITH_CLASSES, zeroed, NULL);
    sum(levels, 8, 1024, 10, false, NULL, n); /* 8 lines in one set of 4 ways */
    assert_true(n[0] == 80 && n[2] == 8 && n[3] == 72 && n[6] == 0);
}

static void stores(void **unused)
{
    const ompp_machine_t around = described("L1 4096 4 64 no-write-allocate\nL2 64k 8 64"),
                         into = described("L1 4096 4 64\nL2 64k 8 64");
    uint64_t n[8];

    (void)unused;
    assert_int_equal(sum(ompp_levels_new(&around, 0, zeroed, NULL), 16, 64, 10, true, NULL, n), 160);
    assert_int_equal(n[1], 16);
    assert_int_equal(sum(ompp_levels_new(&into, 0, zeroed, NULL), 16, 64, 10, true, NULL, n), 16);
}

/* What an inclusive level loses, those above lose. */
static void inclusion(void **unused)
{
    const ompp_machine_t apart = described("L1 4096 8 64\nL2 4096 1 64"),
                         in = described("L1 4096 8 64\nL2 4096 1 64 inclusive");
    uint64_t n[8];

    (void)unused;
    assert_int_equal(sum(ompp_levels_new(&apart, 0, zeroed, NULL), 2, 4096, 10, false, NULL, n), 2);
    assert_int_equal(sum(ompp_levels_new(&in, 0, zeroed, NULL), 2, 4096, 10, false, NULL, n), 20);
}

static void pages(void **unused)
{
    const ompp_machine_t machine = described("L1 32k 8 64\nL2 1M 16 64\ntlb1 16 4\ntlb2 64 4");
    uint64_t n[8];

    (void)unused;
    sum(ompp_levels_new(&machine, OMPP_WITH_TLB, zeroed, NULL), 16, 4096 + 64, 10, false, NULL, n);
    assert_int_equal(n[4], 16);
    sum(ompp_levels_new(&machine, OMPP_WITH_TLB, zeroed, NULL), 32, 4096 + 64, 10, false, NULL, n);
    assert_int_equal(n[4], 320);
}

static void brought_ahead(void **unused)
{
    const ompp_machine_t machine = described("L1 32k 8 64\nL2 1M 16 64");
    uint64_t n[8];

    (void)unused;
    assert_int_equal(sum(ompp_levels_new(&machine, OMPP_WITH_NEXT_LINE, zeroed, NULL), 4096, 64, 1, false, NULL, n),
                     2048);
    assert_int_equal(sum(ompp_levels_new(&machine, OMPP_WITH_STRIDE, zeroed, NULL), 1024, 128, 1, false, NULL, n),
                     4 * 32);
    assert_int_equal(sum(ompp_levels_new(&machine, 0, zeroed, NULL), 1024, 128, 1, false, NULL, n), 1024);
}

static void shared(void **unused)
{
    const ompp_machine_t machine = described("L1 4096 8 64\nL2 64k 8 64");
    ompp_levels_t *a = ompp_levels_new(&machine, OMPP_WITH_SHARED, zeroed, NULL),
                  *b = ompp_levels_new(&machine, OMPP_WITH_SHARED, zeroed, a);
    uint64_t n[8];

    (void)unused;
    sum(a, 512, 64, 1, false, NULL, n);
    assert_int_equal(n[1], 512);
    sum(b, 512, 64, 1, false, NULL, n);
    assert_true(n[0] == 512 && n[1] == 0);
    ompp_levels_access(b, 0x10000000 + 511 * 64, false, &(ompp_access_result_t){{0}, {0}, {0}, {0}, 0});
    assert_true(ompp_levels_invalidate(b, 0x10000000 + 511 * 64));
    assert_false(ompp_levels_invalidate(b, 0x10000000 + 511 * 64));
}

/* Many accesses at once miss the levels that they miss one by one: of levels that go by tags, and of others. */
static void together_of(const char *text, unsigned with)
{
    enum { N = 500, BUFFERS = 200 };
    static struct {
        uint64_t address;
        uint32_t kind;
    } accesses[N];
    const ompp_machine_t machine = described(text);
    ompp_levels_t *one = ompp_levels_new(&machine, with, zeroed, NULL),
                  *all = ompp_levels_new(&machine, with, zeroed, NULL);
    uint64_t sums[OMPP_LEVELS] = {0};
    uint16_t missed[OMPP_LEVELS][OMPP_LEVELS_MOST];
    unsigned nmissed[OMPP_LEVELS];

    assert_true(ompp_levels_are_plain(all));
    for (unsigned b = 0; b < BUFFERS; b++) {
        const unsigned n = 1 + (unsigned)chance(N);
        for (unsigned i = 0; i < n; i++) {
            accesses[i].address = 0x7f0000000000u +
                                  (chance(2)   ? chance(3000)
                                   : chance(2) ? chance(1 << 16)
                                               : i * 64u) +
                                  ((uint64_t)(b % 50 == 0) << 46);
            accesses[i].kind = (uint32_t)chance(8);
        }
        const ompp_accesses_t some = {&accesses[0].address, &accesses[0].kind, sizeof accesses[0], n};
        unsigned at[OMPP_LEVELS] = {0};
        ompp_levels_all(all, &some, missed, nmissed);
        for (unsigned i = 0; i < n; i++) {
            ompp_access_result_t r;
            ompp_levels_access(one, accesses[i].address, accesses[i].kind & 1, &r);
            for (unsigned level = 0; level < OMPP_LEVELS; level++) {
                if (!r.misses[level]) continue;
                assert_true(at[level] < nmissed[level] && missed[level][at[level]] == i);
                at[level]++, sums[level]++;
            }
        }
        assert_memory_equal(at, nmissed, sizeof at);
    }
    for (unsigned i = 0; i < OMPP_LEVELS && machine.level[i].size; i++) assert_true(sums[i] > 100);
}

static void together(void **unused)
{
    (void)unused;
    together_of("L1 1024 8 64\nL2 6144 12 64\nL3 32k 16 64", 0);
    together_of("L1 1024 4 64\nL2 5632 11 64\nL3 32k 16 64", 0); /* L2 has 8 sets */
    together_of("L1 1024 8 64\nL2 6336 11 64\nL3 32k 16 64", 0); /* 9 sets: no power of 2 */
    together_of("L1 3072 16 64\nL2 8k 8 64", 0);                 /* nor has L1 */
    together_of("L1 1280 20 64\nL2 8k 8 64", 0);                 /* more than the vectors hold */
    together_of("L1 1024 8 64\nL2 8k 8 128\nL3 32k 16 128", 0);  /* lines are larger */
    together_of("L1 1024 8 64 fifo\nL2 8k 8 64", 0);
    together_of("L1 1024 8 64\nL2 8k 8 64 no-write-allocate\nL3 32k 8 64", 0);
    together_of("L1 1024 8 64\nL2 8k 8 64\nL3 32k 8 64", OMPP_WITH_RANDOM_PAGES);
    together_of("L1 1024 8 64\nL2 8k 8 64\nL3 32k 8 64", OMPP_WITH_SHARED);
    together_of("L1 1024 8 64", 0);
}

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

static void machines(void **unused)
{
    static const char *const wrong[] = {"",
                                        "L1 32k 8",
                                        "L1 32k 8 64 mru",
                                        "L1 32k 8 48",
                                        "L2 32k 8 64",
                                        "L1 32k 7 64",
                                        "L1 32k 8 64\npage 3000",
                                        "L1 32k 8 64\ntlb1 10 4",
                                        "L1 32k 8 128\nL2 64k 8 64",
                                        "L1 32k 256 64",
                                        "L1 0 8 64",
                                        "L1 24k 12 64 plru",
                                        "cache 32k"};
    ompp_machine_t m = described("# a comment\nname a machine # here\n\nL1 32K 8 64 lru\nL2 1M 16 64 inclusive\n"
                                 "L3 36608k 11 64 shared\ntlb1 64 4\npage 16k\n");
    char why[128], text[64];

    (void)unused;
    assert_string_equal(m.name, "a machine ");
    assert_true(m.level[0].sets == 64 && m.level[2].sets == 53248 && m.level[1].inclusive && m.level[2].shared);
    assert_true(m.page == 16384 && m.tlb[0].entries == 64 && !m.tlb[1].entries);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "%s", wrong[i]);
        why[0] = '\0';
        if (ompp_machine_parse(&m, text, why, sizeof why)) fail_msg("taken: %s", wrong[i]);
        assert_true(why[0]);
    }
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void here(void **unused)
{
    char root[] = "/tmp/ompp-cache-XXXXXX", folder[64], why[200], command[80];
    static const char *const rows[][5] = {{"1", "Data", "32K", "8", "64"},
                                          {"1", "Instruction", "32K", "8", "64"},
                                          {"2", "Unified", "1024K", "16", "64"},
                                          {"3", "Unified", "36608K", "11", "64"}};
    ompp_machine_t m;

    (void)unused;
    assert_non_null(mkdtemp(root));
    assert_false(ompp_machine_here(&m, root, why, sizeof why));
    for (unsigned i = 0; i < 4; i++) {
        snprintf(folder, sizeof folder, "%s/index%u", root, i);
        mkdir(folder, 0700);
        put(folder, "level", rows[i][0]), put(folder, "type", rows[i][1]), put(folder, "size", rows[i][2]);
        put(folder, "ways_of_associativity", rows[i][3]), put(folder, "coherency_line_size", rows[i][4]);
    }
    assert_true(ompp_machine_here(&m, root, why, sizeof why));
    assert_true(m.level[0].size == 32768 && m.level[1].sets == 1024 && m.level[2].sets == 53248);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),     cmocka_unit_test(thinned),   cmocka_unit_test(as_lists),
        cmocka_unit_test(trees),         cmocka_unit_test(by_chance), cmocka_unit_test(classes),
        cmocka_unit_test(stores),        cmocka_unit_test(inclusion), cmocka_unit_test(pages),
        cmocka_unit_test(brought_ahead), cmocka_unit_test(shared),    cmocka_unit_test(together),
        cmocka_unit_test(machines),      cmocka_unit_test(here)};

    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
