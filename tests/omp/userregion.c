/* User regions: around a parallel region, inside one, with a second way out. */
#include <omp.h>
#include <stdio.h>

static long sum;

static void two_ways(int first)
{
    /* @ways */
#pragma pomp inst begin(ways)
    sum += 1;
    if (first) {
#pragma pomp inst altend(ways)
        return;
    }
    sum += 1;
#pragma pomp inst end(ways)
}

int main(void)
{
#pragma pomp inst init
    /* @outside */
#pragma pomp inst begin(outside)
    /* @parallel */
#pragma omp parallel
    {
        /* @inside */
#pragma omp inst begin(inside)
#pragma omp atomic
        sum += 100;
#pragma omp inst end(inside)
    } /* @end parallel */
#pragma pomp inst end(outside)
    two_ways(0);
    two_ways(1);
    printf("%ld\n", sum);
    return 0;
}
