/* Threads of the program's own that use OpenMP and end long before the program does. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static long sum;

static void *run(void *arg)
{
    (void)arg;
    for (int k = 0; k < 2; k++) {
        /* @inthread */
#pragma omp parallel num_threads(2)
        {
            /* @critical */
#pragma omp critical
            {
                sum += 1;
            } /* @end critical */
        } /* @end inthread */
    }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, run, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    /* @main */
#pragma omp parallel
    {
#pragma omp atomic
        sum += 100;
    } /* @end main */
    printf("%ld\n", sum);
    return 0;
}
