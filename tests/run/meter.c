/* A component in the program: ticks made in each construct must stand in its node, on its thread; ticks of tasks in the task. */
#include "null_component.h"

#include <omp.h>
#include <stdio.h>

int main(void)
{
    char why[100];

    if (!ompp_component_start(&null_component, why, sizeof why)) return puts(why), 1;
#pragma omp parallel
    {
        null_tick(10);
#pragma omp for
        for (int i = 0; i < 4 * omp_get_num_threads(); i++) null_tick(100);
#pragma omp critical
        {
            null_tick(1000);
        }
        null_tick(10);
#pragma omp single
        {
            for (int i = 0; i < 8; i++) {
#pragma omp task
                {
                    null_tick(10000);
                }
            }
        }
    }
    null_tick(2);
    return 0;
}
