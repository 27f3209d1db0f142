/* Regions that are never executed, of every kind; some of them in code that is compiled and not called. */
#include <omp.h>
#include <stdio.h>

static int never(int n)
{
    int sum = 0;

    /* @loop */
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += i;
    /* @critical */
#pragma omp critical(name)
    sum++;
    /* @task */
#pragma omp task
    sum++;
    /* @region */
#pragma omp inst begin(unused)
    sum++;
#pragma omp inst end(unused)
    return sum;
}

int main(int argc, char **argv)
{
    int sum = 0;

    (void)argv;
    /* @parallel */
#pragma omp parallel reduction(+ : sum)
    sum += 1;
    if (argc > 5) {
        /* @barrier */
#pragma omp barrier
        sum += never(argc);
    }
#ifdef NOT_COMPILED
#pragma omp parallel
    sum++;
#endif
    printf("%d\n", sum);
    return 0;
}
