/* A meter in the program: ticks made in each construct must stand in its node, on its thread; ticks of tasks in the task. */
#include "model/ompp_tables.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_metric.h"

#include <omp.h>
#include <stdio.h>

typedef struct {
    uint64_t ticks, told;
} count_t;

static __thread count_t count;
static unsigned set;

static void *begin(void)
{
    return &count;
}

static void move(void *state, ompp_place_now_t from, ompp_place_now_t to)
{
    count_t *c = state;
    uint64_t *values = ompp_meter_values(from.node, set, 0, 2);

    (void)to;
    if (values) values[from.waits] += c->ticks - c->told;
    c->told = c->ticks;
}

static const ompp_meter_t meter = {.begin = begin, .move = move};

static void tick(int n)
{
    count.ticks += (uint64_t)n;
}

int main(void)
{
    const ompp_metric_row_t rows[] = {
        {"ticks", OMPP_UNIT_COUNT, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "test", "in the user's code"},
        {"waits", OMPP_UNIT_COUNT, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "test", "while waiting"}};

    ompp_meter_add(&meter);
    set = ompp_metric_register(rows, 2);
#pragma omp parallel
    {
        tick(10);
#pragma omp for
        for (int i = 0; i < 4 * omp_get_num_threads(); i++) tick(100);
#pragma omp critical
        {
            tick(1000);
        }
        tick(10);
#pragma omp single
        {
            for (int i = 0; i < 8; i++) {
#pragma omp task
                {
                    tick(10000);
                }
            }
        }
    }
    tick(2);
    return 0;
}
