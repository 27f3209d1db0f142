/* What ranks of a node make of an experiment together: its time from the rank that was last, and units of work only of
 * one point. */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"
#include "causal/result/ompp_causal_result_priv.h"
#include "runtime/ompp_whatif_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RANKS = 2, KEY = 7, SECOND = 1000000000 };

/* ---- What the part under test is given, and what it says --------------------------------------------------------- */

static uint64_t changes;
static ompp_whatif_block_t first, reported;
static ompp_causal_seen_t own_seen;
static unsigned nreported, units[3];

static int rank;

int ompp_whatif_rank(void) { return rank; }

unsigned ompp_whatif_ranks(void) { return RANKS; }

uint64_t ompp_progress_changes(void) { return changes; }

ompp_causal_t ompp_causal;

int64_t ompp_causal_common(ompp_time_t t) { return (int64_t)t; }

uint64_t ompp_causal_key(unsigned slot) { return KEY + slot; }

int ompp_causal_find_slot(uint64_t key) { return (int)(key - KEY); }

int ompp_causal_known_with(uint64_t key) { return (int)(key - KEY); }

void ompp_causal_lock(_Atomic uint32_t *lock) { atomic_store(lock, 1); }

void ompp_causal_result_add(const ompp_causal_experiment_t *experiment, const ompp_whatif_block_t *block,
                            const ompp_causal_seen_t *seen)
{
    (void)experiment;
    own_seen = *seen;
    reported = *block;
    if (!nreported) first = *block;
    if (nreported < 3) units[nreported] = block->visits;
    nreported++;
}

/* ---- Experiments ------------------------------------------------------------------------------------------------- */

static int open_node(void **state)
{
    *state = calloc(1, ompp_causal_shared_size());
    changes = nreported = 0;
    ompp_causal_shared_open(*state);
    return *state ? 0 : -1;
}

static int close_node(void **state)
{
    ompp_causal_shared_open(NULL);
    free(*state);
    return 0;
}

static void pass(uint64_t number, uint64_t visits, ompp_time_t t)
{
    const ompp_causal_at_t now = {.t = t};

    ompp_causal_shared_went_over(number, visits, &now, &now);
}

/* Both ranks go over to an experiment: the first at a second of its number, the other a tenth later. */
static void both_pass(uint64_t number, uint64_t first_visits, uint64_t other_visits)
{
    const ompp_causal_experiment_t experiment = {.number = number, .slot = 0, .percent = 50};
    const ompp_time_t t = number * SECOND;

    ompp_causal_shared_announce(&experiment, false);
    rank = 0;
    pass(number, first_visits, t);
    rank = 1;
    pass(number, other_visits, t + SECOND / 10);
}

static void units_of_one_point(void **state)
{
    (void)state;
    both_pass(1, 10, 11);
    both_pass(2, 15, 14);
    ompp_causal_shared_take(true);
    assert_int_equal(nreported, 1);
    assert_int_equal(reported.time_ns, SECOND);
    assert_int_equal(reported.visits, 4); /* from the most at the begin to the most at the end */
}

/* Rank 0 says where experiments end: at its progress point, or anywhere as long as it has none. */
static void rank_0_finds_a_point(void **state)
{
    (void)state;
    both_pass(501, 0, 3);
    both_pass(502, 0, 5);
    both_pass(503, 2, 7);
    both_pass(504, 4, 9);
    ompp_causal_shared_take(true);
    assert_int_equal(nreported, 3);
    assert_int_equal(units[0], 2);
    assert_int_equal(units[1], 0);
    assert_int_equal(units[2], 2);
}

/* A rank hears of it by a message, which it has waited for. */
static void heard_by_message(uint64_t number, bool unsynchronised, ompp_fine_t saved, ompp_time_t waited)
{
    const ompp_causal_experiment_t experiment = {.number = number, .slot = 0, .percent = 50};
    const ompp_time_t t = number * SECOND;

    ompp_causal_shared_announce(&experiment, unsynchronised);
    rank = 0;
    pass(number, 10, t);
    rank = 1;
    const ompp_causal_at_t now = {t + SECOND, saved, 0}, arrival = {now.t - waited, saved, 0};
    ompp_causal_shared_went_over(number, 10, &now, &arrival);
}

static void from_where_ranks_wait(void **state)
{
    const ompp_fine_t saved = SECOND / 8 * OMPP_FINE;

    (void)state;
    heard_by_message(101, true, 0, SECOND / 4);
    heard_by_message(102, true, saved, SECOND / 2);
    heard_by_message(103, false, saved, SECOND / 2);
    ompp_causal_shared_take(false);
    assert_int_equal(nreported, 2); /* the second one ends where all meet: from and to where they go on */
    assert_int_equal(reported.time_ns, SECOND);
    assert_int_equal(reported.saved_ns, 0);
    assert_int_equal(first.time_ns, SECOND - SECOND / 4);
    assert_int_equal(first.saved_ns, SECOND / 8);
}

static void work_of_all(void **state)
{
    (void)state;
    both_pass(901, 10, 11);
    ompp_causal_shared_did(901, &(ompp_causal_seen_t){.work = 3 * (uint64_t)SECOND});
    ompp_causal_shared_did(901, &(ompp_causal_seen_t){.work = 2 * (uint64_t)SECOND, .visits = 7});
    both_pass(902, 15, 14);
    ompp_causal_shared_take(true);
    assert_int_equal(nreported, 1);
    assert_int_equal(reported.work_ns, 5 * (uint64_t)SECOND);
    assert_int_equal(own_seen.work, 2 * (uint64_t)SECOND);
    assert_int_equal(own_seen.visits, 7);
}

static void no_units_before_the_first(void **state)
{
    (void)state;
    both_pass(301, 0, 0);
    both_pass(302, 15, 14);
    ompp_causal_shared_take(true);
    assert_int_equal(nreported, 1);
    assert_int_equal(reported.visits, 0);
}

/* Another point has taken over meanwhile: what is between the two numbers is no number of units. */
static void no_units_of_two_points(void **state)
{
    (void)state;
    both_pass(601, 10, 11);
    changes = 1;
    both_pass(602, 15, 14);
    both_pass(603, 20, 21);
    ompp_causal_shared_take(true);
    assert_int_equal(nreported, 2);
    assert_int_equal(reported.visits, 6); /* the later one: both ends are of the new point */
    nreported = 0;
    both_pass(604, 25, 26);
    changes = 2;
    both_pass(605, 30, 31);
    ompp_causal_shared_take(true);
    assert_int_equal(nreported, 2);
    assert_int_equal(reported.visits, 0);
    assert_int_equal(reported.time_ns, SECOND);
}

/* Whoever does not come may be later than those that do: known when that is much of the time, whatever was taken
 * before. */
static void some_do_not_come(void **state)
{
    const uint64_t first = 701, missed = 703, after = 760;

    (void)state;
    both_pass(first, 10, 11);
    both_pass(first + 1, 15, 14);
    both_pass(missed, 20, 19);
    ompp_causal_shared_take(false);
    assert_int_equal(nreported, 2);
    assert_false(ompp_causal.lacks_ranks);
    for (uint64_t i = missed + 1; i < after; i++) {
        const ompp_causal_experiment_t experiment = {.number = i, .slot = 0, .percent = 50};
        ompp_causal_shared_announce(&experiment, false);
        pass(i, 20, i * SECOND);
    }
    ompp_causal_shared_take(true);
    assert_true(ompp_causal.lacks_ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(units_of_one_point, open_node, close_node),
        cmocka_unit_test_setup_teardown(rank_0_finds_a_point, open_node, close_node),
        cmocka_unit_test_setup_teardown(from_where_ranks_wait, open_node, close_node),
        cmocka_unit_test_setup_teardown(work_of_all, open_node, close_node),
        cmocka_unit_test_setup_teardown(no_units_before_the_first, open_node, close_node),
        cmocka_unit_test_setup_teardown(no_units_of_two_points, open_node, close_node),
        cmocka_unit_test_setup_teardown(some_do_not_come, open_node, close_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
