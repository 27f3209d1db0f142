/*
 * The index of ranges against a list that is gone through.
 */
#include "data/ompp_data_ranges_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MOST 2000

static ompp_data_entry_t list[MOST];
static size_t nlist;

static uintptr_t up_to(uintptr_t n) { return (uintptr_t)rand() % n; }

static void expect_same(uintptr_t begin, uintptr_t end)
{
    const ompp_data_entry_t *found;
    ompp_data_range_t newest = {0};
    size_t n = ompp_data_ranges_over(begin, end, &found), k = 0;

    for (size_t i = 0; i < nlist; i++) {
        if (list[i].range.begin >= end || list[i].range.end <= begin) continue;
        assert_true(k < n);
        assert_int_equal(found[k].range.begin, list[i].range.begin);
        assert_int_equal(found[k].range.end, list[i].range.end);
        assert_int_equal(found[k].range.object, list[i].range.object);
        k++;
    }
    assert_int_equal(k, n);
    assert_int_equal(ompp_data_ranges_newest(begin, end, &newest), n > 0);
    if (n) {
        ompp_data_entry_t last = ompp_data_ranges_over(begin, end, &found) ? found[n - 1] : (ompp_data_entry_t){0};
        assert_int_equal(newest.object, last.range.object);
    }
}

/* The list keeps the order of registration; what the index calls it is asked for. */
static void add(ompp_data_range_t range)
{
    const ompp_data_entry_t *found;

    assert_true(ompp_data_ranges_add(range));
    size_t n = ompp_data_ranges_over(range.begin, range.end, &found);
    list[nlist++] = found[n - 1];
}

static void remove_one(size_t i)
{
    ompp_data_ranges_remove(list[i]);
    nlist--;
    for (size_t k = i; k < nlist; k++) list[k] = list[k + 1];
}

static void same_as_a_list(void **state)
{
    uint32_t object = 0;

    (void)state;
    srand(1);
    for (unsigned round = 0; round < 20000; round++) {
        uintptr_t begin = up_to(10000), size = 1 + up_to(up_to(10) ? 20 : 5000);
        if (nlist < MOST && (nlist == 0 || up_to(5) < (round < 10000 ? 3 : 2)))
            add((ompp_data_range_t){++object, begin, begin + size});
        else remove_one(up_to(nlist));
        assert_int_equal(ompp_data_ranges_count(), nlist);
        expect_same(begin, begin + size);
        if (round % 1000 == 0) expect_same(0, UINTPTR_MAX);
    }
}

/* A part keeps the place in the order of what it is left of. */
static void rests(void **state)
{
    const ompp_data_entry_t *found;

    (void)state;
    while (nlist) remove_one(nlist - 1);
    add((ompp_data_range_t){1, 0, 100});
    add((ompp_data_range_t){2, 10, 20});
    ompp_data_ranges_remove(list[0]);
    assert_true(ompp_data_ranges_put((ompp_data_entry_t){{1, 60, 100}, list[0].order}));
    assert_true(ompp_data_ranges_put((ompp_data_entry_t){{1, 0, 40}, list[0].order}));
    assert_int_equal(ompp_data_ranges_over(0, 1000, &found), 3);
    assert_int_equal(found[2].range.object, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_a_list), cmocka_unit_test(rests)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
