/* Tasks that fork teams, whose members create tasks of their own, and tasks in tasks 200 deep. Prints how many ran. */
#include <stdio.h>

#define ROUNDS 20
#define TASKS 3000
#define DEEP 200

static long ran;

static void count(void)
{
#pragma omp atomic
    ran++;
}

static void down(int levels)
{
    count();
    if (levels == 0) return;
#pragma omp task
    down(levels - 1);
#pragma omp task
    count();
#pragma omp taskwait
}

static void fork_in_task(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp for
        for (int i = 0; i < 100; i++) {
#pragma omp task
            count();
        }
    }
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(3)
        {
#pragma omp for nowait
            for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
                {
                    count();
                    if (i % 1000 == 9) fork_in_task();
                }
            }
#pragma omp barrier
#pragma omp single
            down(DEEP);
#pragma omp for nowait
            for (int i = 0; i < TASKS; i++) {
#pragma omp task
                count();
            }
        }
    }
    printf("%ld\n", ran);
    return 0;
}
