/* Constructs in functions, called from two parallel regions and outside any: one region each, two call paths. */
#include <omp.h>
#include <stdio.h>

static long sum;

static void part(void)
{
    /* @loop */
#pragma omp for
    for (int i = 0; i < 10; i++) {
#pragma omp atomic
        sum += 1;
    }
    /* @critical */
#pragma omp critical(orphan)
    {
        sum += 100;
    } /* @end critical */
    /* @barrier */
#pragma omp barrier
}

int main(void)
{
    /* @first */
#pragma omp parallel
    {
        part();
    } /* @end first */
    /* @second */
#pragma omp parallel
    {
        part();
        part();
    } /* @end second */
    printf("%ld\n", sum);
    return 0;
}
