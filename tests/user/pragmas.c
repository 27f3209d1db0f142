/* The pragmas for user regions, with both sentinels. What must be counted stands in pragmas.py. */
#include <omp.h>
#include <stdio.h>

static long sum;

static int ways(int which)
{
    /* @ways */
#pragma pomp inst begin(ways)
    if (which == 1) {
#pragma pomp inst altend(ways)
        return 1;
    }
    if (which == 2) {
#pragma omp inst altend(ways)
        return 2;
    }
#pragma pomp inst end(ways) /* @end ways */
    return 3;
}

static int recursive(int n)
{
    int result;
    /* @recursive */
#pragma omp inst begin(recursive)
    result = n ? recursive(n - 1) + 1 : 0;
#pragma omp inst end(recursive) /* @end recursive */
    return result;
}

static void twice(int first)
{
    if (first) {
        /* @same1 */
#pragma pomp inst begin(same)
        sum++;
#pragma pomp inst end(same) /* @end same1 */
    } else {
        /* @same2 */
#pragma pomp inst begin(same)
        sum++;
#pragma pomp inst end(same) /* @end same2 */
    }
}

int main(void)
{
#pragma pomp inst init
    for (int i = 0; i < 6; i++)
        sum += ways(i % 3 + 1);
    sum += recursive(50);
    twice(1);
    twice(0);
    twice(0);
    /* @around */
#pragma pomp inst begin(around)
    /* @parallel */
#pragma omp parallel
    {
        /* @inside */
#pragma pomp inst begin( inside )
#pragma omp critical
        sum++;
#pragma pomp inst end( inside ) /* @end inside */
    }
#pragma pomp inst end(around) /* @end around */

#pragma pomp inst off
    /* @unseen */
#pragma pomp inst begin(unseen)
    sum++;
#pragma pomp inst end(unseen)
#pragma omp inst on
    /* @seen */
#pragma pomp inst begin(seen)
    sum++;
#pragma pomp inst end(seen) /* @end seen */

    /* Parallel regions are measured in between, what is in them is not. */
#pragma pomp noinstrument
    /* @quiet */
#pragma omp parallel
    {
        /* @quietcritical */
#pragma omp critical
        sum++;
    }
#pragma pomp instrument
    /* @loud */
#pragma omp parallel
    {
        /* @loudcritical */
#pragma omp critical
        sum++;
    }
#pragma pomp inst finalize
    /* @late */
#pragma pomp inst begin(late)
    sum++;
#pragma pomp inst end(late)
    printf("%ld\n", sum);
    return 0;
}
