/* Loops that are counted, waits whose length is known, tasks that are waited for, and a function with its own loads: annotate.py. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

#define N 1000

static double a[N], b[N];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void spin(double seconds)
{
    for (const double end = now() + seconds; now() < end;)
        for (volatile int i = 0; i < 20000; i++) {
        }
}

int main(int argc, char **argv)
{
    double sum = 0;
    (void)argv;
    for (int i = 0; i < N; i++) b[i] = argc;
        /* @parallel */
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        /* @loop */
#pragma omp for
        for (int i = 0; i < N; i++) a[i] = b[i] + i;
        if (omp_get_thread_num() == 0) spin(0.3);
            /* @barrier */
#pragma omp barrier
        sum += a[omp_get_thread_num()];
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        /* @taskgroup */
#pragma omp taskgroup
        for (int i = 0; i < 3; i++) {
            /* @task */
#pragma omp task
            spin(0.05);
        }
#pragma omp task
        spin(0.1);
        /* @taskwait */
#pragma omp taskwait
    }
    printf("%d\n", sum >= 0);
    return 0;
}
