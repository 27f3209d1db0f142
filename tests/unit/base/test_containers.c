/* Hashes are those that are published; tables and arrays hold what was put into them, and keep it when memory fails;
 * intervals that hold a point are found. */
#include "base/ompp_hash.h"
#include "base/ompp_interval.h"
#include "base/ompp_table.h"
#include "base/ompp_vector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

/* ---- Memory that fails ------------------------------------------------------------------------------------------- */

static unsigned asked, fails_at; /* the request that fails, from 1; 0 = none */

static bool fails(void) { return fails_at && ++asked == fails_at; }

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }

void *__real_reallocarray(void *array, size_t n, size_t size);
void *__wrap_reallocarray(void *array, size_t n, size_t size);
void *__wrap_reallocarray(void *array, size_t n, size_t size)
{
    return fails() ? NULL : __real_reallocarray(array, n, size);
}

/* Of src/base/ompp_pages.h. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list arguments;
    long a[6];

    va_start(arguments, number);
    for (unsigned i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
    va_end(arguments);
    return number == SYS_mmap && fails() ? -1 : __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void fail_at(unsigned request)
{
    asked = 0;
    fails_at = request;
}

/* ---- Hashes ------------------------------------------------------------------------------------------------------ */

static void hashes_as_published(void **state)
{
    (void)state;
    assert_true(ompp_hash_text(OMPP_HASH_START, "") == 0xcbf29ce484222325u); /* FNV's test vectors */
    assert_true(ompp_hash_text(OMPP_HASH_START, "a") == 0xaf63dc4c8601ec8cu);
    assert_true(ompp_hash_text(OMPP_HASH_START, "foobar") == 0x85944171f73967e8u);
    assert_true(ompp_hash_bytes(OMPP_HASH_START, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(ompp_hash_bytes(OMPP_HASH_START, "\xff\0b", 3) !=
                ompp_hash_bytes(OMPP_HASH_START, "\xff\0c", 3));       /* bytes, also behind a zero */
    assert_true(ompp_hash_mix(OMPP_HASH_STEP) == 0xe220a8397b1dcdafu); /* splitmix64's first numbers from 0 */
    assert_true(ompp_hash_mix(2 * OMPP_HASH_STEP) == 0x6e789e6aa1b965f4u);
    assert_true(ompp_hash_join(ompp_hash_join(0, 1), 2) != ompp_hash_join(ompp_hash_join(0, 2), 1));
}

static void spreads_places(void **state)
{
    bool taken[2][256] = {{false}};
    unsigned n = 0;

    (void)state;
    for (uint32_t i = 0; i < 256; i++) {
        taken[0][ompp_hash_place(i, 8)] = true;
        taken[1][ompp_hash_place32(i, 8)] = true;
    }
    for (unsigned i = 0; i < 512; i++) n += taken[i / 256][i % 256];
    assert_true(n > 2 * 200); /* of numbers in sequence hardly two share a place */
    for (unsigned bits = 1; bits <= 32; bits++) assert_true(ompp_hash_place32(UINT32_MAX, bits) >> (bits - 1) <= 1);
    assert_true(ompp_hash_place(3, 64) == 3 * OMPP_HASH_STEP);
    assert_true(ompp_hash_place(UINT64_MAX, 1) <= 1);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

enum { MANY = 5000 };

/* Also the numbers that mark something elsewhere. */
static uint64_t key_of(unsigned i) { return i < MANY / 2 ? i : UINT64_MAX - i + MANY / 2; }

static void holds(const ompp_table_t *table, unsigned n)
{
    for (unsigned i = 0; i < MANY; i++) assert_true(ompp_table_get(table, key_of(i)) == (i < n ? i + 1 : 0));
}

static void keeps_many(void **state)
{
    ompp_table_t table = {.pages = *state != NULL};

    holds(&table, 0);
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(ompp_table_set(&table, key_of(i), 77));
        assert_true(ompp_table_set(&table, key_of(i), i + 1)); /* replaced, not another one */
        assert_int_equal(table.used, i + 1);
    }
    holds(&table, MANY);
    ompp_table_fini(&table);
    holds(&table, 0);
    assert_true(table.pages == (*state != NULL));
    assert_true(ompp_table_set(&table, 5, 6)); /* it can be used again */
    assert_true(ompp_table_get(&table, 5) == 6);
    ompp_table_fini(&table);
    ompp_table_fini(&table);
}

/* Each request in turn. */
static void survives_failures(void **state)
{
    for (unsigned request = 1; request; request++) {
        ompp_table_t table = {.pages = *state != NULL};
        unsigned failures = 0;

        fail_at(request);
        for (unsigned i = 0; i < MANY; i++) {
            if (ompp_table_set(&table, key_of(i), i + 1)) continue;
            assert_int_equal(table.used, i);
            holds(&table, i);
            assert_true(ompp_table_set(&table, key_of(i), i + 1));
            failures++;
        }
        holds(&table, MANY);
        ompp_table_fini(&table);
        if (!failures && asked < request) request = UINT32_MAX; /* there are not so many */
        else assert_int_equal(failures, 1);
    }
    fail_at(0);
}

static void reserves(void **state)
{
    ompp_table_t table = {.pages = *state != NULL};

    fail_at(1);
    assert_false(ompp_table_reserve(&table, MANY));
    holds(&table, 0);
    assert_true(ompp_table_reserve(&table, MANY));
    fail_at(1); /* no more is asked for */
    for (unsigned i = 0; i < MANY; i++) assert_true(ompp_table_set(&table, key_of(i), i + 1));
    assert_true(ompp_table_reserve(&table, 3));
    assert_int_equal(asked, 0);
    holds(&table, MANY);
    fail_at(0);
    ompp_table_fini(&table);
}

static bool same_text(const void *elements, uint64_t value, const void *wanted)
{
    return strcmp(((const char *const *)elements)[value - 1], wanted) == 0;
}

static void tells_equal_hashes_apart(void **state)
{
    static const char *const texts[] = {"one", "two", "three"};
    ompp_table_t table = {0};

    (void)state;
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 3; i++) {
            uint64_t hash = 4711;
            assert_int_equal(ompp_table_search(&table, &hash, same_text, texts, texts[i]), round ? i + 1 : 0);
            assert_int_equal(hash, 4711 + i);
            if (!round) assert_true(ompp_table_set(&table, hash, i + 1));
        }
    ompp_table_fini(&table);
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

typedef struct {
    unsigned number;
    char more[9];
} item_t;

static void survives_failures_of_arrays(void **state)
{
    (void)state;
    for (unsigned request = 1; request; request++) {
        item_t *items = NULL;
        size_t n = 0, allocated = 0;
        unsigned failures = 0;

        fail_at(request);
        for (unsigned i = 0; i < MANY; i++) {
            item_t *item = ompp_vector_push(&items, &n, &allocated, sizeof *items);
            if (!item) {
                assert_int_equal(n, i);
                assert_int_equal(allocated, i);
                failures++;
                item = ompp_vector_push(&items, &n, &allocated, sizeof *items);
            }
            assert_ptr_equal(item, &items[i]);
            *item = (item_t){i, "item"};
            assert_int_equal(n, i + 1);
            assert_true(n <= allocated);
        }
        for (unsigned i = 0; i < MANY; i++) assert_int_equal(items[i].number, i);
        free(items);
        if (!failures && asked < request) request = UINT32_MAX;
        else assert_int_equal(failures, 1);
    }
    fail_at(0);
}

static void reserves_arrays(void **state)
{
    uint64_t *items = NULL;
    size_t allocated = 0;

    (void)state;
    assert_true(ompp_vector_reserve(&items, &allocated, 0, sizeof *items));
    assert_null(items);
    assert_true(ompp_vector_reserve(&items, &allocated, 1000, sizeof *items));
    assert_int_equal(allocated, 1000);
    items[999] = 42;
    assert_true(ompp_vector_reserve(&items, &allocated, 1001, sizeof *items));
    assert_int_equal(allocated, 2000);
    assert_int_equal(items[999], 42);
    free(items);
}

/* Nested, side by side, empty and overlapping ones: all that hold a point, and in descending order. */
static void finds_intervals(void **state)
{
    enum { N = 200, POINTS = 100 };
    ompp_interval_t intervals[N];
    uint64_t random = 1;

    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < N; i++) {
            random = ompp_hash_mix(random + OMPP_HASH_STEP);
            const uint64_t low = random % POINTS, length = (random >> 32) % (i % 4 ? 5 : POINTS);
            intervals[i] = (ompp_interval_t){low, low + length, i, 0};
        }
        ompp_intervals_link(intervals, N);
        for (uint64_t point = 0; point < 2 * POINTS; point++) {
            uint32_t next = ompp_intervals_last(intervals, N, point);
            for (uint32_t i = N; i-- > 0;) {
                if (point < intervals[i].low || point >= intervals[i].high) continue;
                assert_int_equal(next, i);
                next = ompp_intervals_before(intervals, next, point);
            }
            assert_int_equal(next, OMPP_NO_INTERVAL);
        }
    }
    assert_int_equal(ompp_intervals_last(intervals, 0, 1), OMPP_NO_INTERVAL);
}

int main(void)
{
    static char pages[] = "pages";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_as_published),
        cmocka_unit_test(spreads_places),
        cmocka_unit_test(keeps_many),
        cmocka_unit_test_prestate(keeps_many, pages),
        cmocka_unit_test(survives_failures),
        cmocka_unit_test_prestate(survives_failures, pages),
        cmocka_unit_test(reserves),
        cmocka_unit_test_prestate(reserves, pages),
        cmocka_unit_test(tells_equal_hashes_apart),
        cmocka_unit_test(survives_failures_of_arrays),
        cmocka_unit_test(reserves_arrays),
        cmocka_unit_test(finds_intervals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
