/*
 * Threads that pass each other at a queue, in simulated time: one makes units, one takes them and counts. What is
 * stored in the queue when an experiment begins is used up in it; as long as that lasts, the one that takes is faster
 * than the program will be. A measurement that waits until both are in step has the time of a unit that the program has
 * in the end; one that does not is far from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* after those: */
#include <cmocka.h>

#include "causal/experiment/ompp_steady.h"

enum { MAKE, TAKE, MAKE_NS = 3000, TAKE_NS = 4000, WARM = 5, MEASURED = 6, LONGEST = 4096 };

/* The queue, and what both have done. */
static struct {
    unsigned places, stored;
    double made_at, taken_at; /* when each is free */
    ompp_steady_t done;
} queue;

static void reset(unsigned places)
{
    memset(&queue, 0, sizeof queue);
    queue.places = places;
}

/* One more is taken; takes: ns that the faster program needs for it, of TAKE_NS of work. */
static void take_one(double takes)
{
    while (queue.stored < queue.places &&
           queue.made_at + MAKE_NS <= (queue.stored ? queue.taken_at : queue.made_at + MAKE_NS)) {
        queue.made_at += MAKE_NS;
        queue.stored++;
        queue.done.work[MAKE] += MAKE_NS;
    }
    if (queue.made_at > queue.taken_at) queue.taken_at = queue.made_at; /* it was waited for */
    /* it waits for a place */
    if (queue.stored == queue.places && queue.made_at < queue.taken_at) queue.made_at = queue.taken_at;
    queue.stored--;
    queue.taken_at += takes;
    queue.done.work[TAKE] += TAKE_NS;
    queue.done.visits++;
}

/* ns that a unit takes in the faster program, as an experiment measures it; steps: whether it waits until threads are
 * in step. */
static double measured(const ompp_steady_t *first, double takes, bool steps)
{
    unsigned units = MEASURED;

    for (unsigned i = 0; i < WARM; i++) take_one(takes);
    for (;; units *= 2) {
        const ompp_steady_t from = queue.done;
        const double begin = queue.taken_at;
        for (unsigned i = 0; i < units; i++) take_one(takes);
        if (!steps || units > LONGEST || ompp_steady(first, &from, &queue.done))
            return (queue.taken_at - begin) / units;
    }
}

static void queues(void **state)
{
    (void)state;
    for (unsigned places = 2; places <= 64; places *= 2) {
        double times[2];
        for (unsigned steps = 0; steps < 2; steps++) {
            reset(places);
            const ompp_steady_t first = queue.done;
            for (unsigned i = 0; i < 1000; i++) take_one(TAKE_NS); /* the program as it is: the queue is full */
            times[steps] = measured(&first, TAKE_NS / 2, steps);
        }
        print_message("# %u places: a unit takes %.0f ns, measured at once %.0f\n", places, times[1], times[0]);
        assert_true(times[1] > 0.93 * MAKE_NS && times[1] < 1.01 * MAKE_NS);
        if (places > 2) assert_true(times[0] < 0.85 * MAKE_NS);
    }
}

/* What fills the queue again has the time of the program, and is in step. */
static void filled(void **state)
{
    (void)state;
    reset(4);
    const ompp_steady_t first = queue.done;
    for (unsigned i = 0; i < 200; i++) take_one(i < 100 ? TAKE_NS : TAKE_NS / 2);
    const ompp_steady_t from = queue.done;
    const double begin = queue.taken_at;
    for (unsigned i = 0; i < 6; i++) take_one(TAKE_NS);
    assert_true(ompp_steady(&first, &from, &queue.done));
    assert_true(queue.taken_at - begin >= 6.0 * TAKE_NS);
    assert_true(queue.taken_at - begin <= 6.0 * TAKE_NS + MAKE_NS); /* the first one may be waited for */
}

/* Small flows do not count, and no units are no measurement. */
static void small(void **state)
{
    ompp_steady_t first = {0}, from = {.visits = 100, .work = {100000, 10000}},
                  to = {.visits = 110, .work = {110000, 10000}};

    (void)state;
    assert_true(ompp_steady(&first, &from, &to));
    from.work[1] = to.work[1] = 90000;
    assert_false(ompp_steady(&first, &from, &to));
    to.visits = from.visits;
    assert_false(ompp_steady(&first, &from, &to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(queues), cmocka_unit_test(filled), cmocka_unit_test(small)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
