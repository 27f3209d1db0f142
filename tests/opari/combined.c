/* Combined constructs, also those that OPARI2 does not know or splits in the wrong way. */
#include <omp.h>
#include <stdio.h>

enum { N = 64 };
static int a[N];

static int twice(int x)
{
    return 2 * x;
}

int main(void)
{
    int sum = 0, last = -1, first = 5, team = 0, scan[N], in = 0, tail = 0;

    /* @simd */
#pragma omp parallel for simd reduction(+ : sum) simdlen(4) schedule(static)
    for (int i = 0; i < N; i++) sum += i;
    /* @forsimd */
#pragma omp parallel
    {
#pragma omp for simd
        for (int i = 0; i < N; i++)
            a[i] = i;
    } /* @end forsimd */
    /* @lastprivate */
#pragma omp parallel for default(none) shared(a) firstprivate(first, tail) lastprivate(last, tail)
    for (int i = 0; i < N; i++) {
        last = a[i] + first;
        tail = i;
    }
    /* @linear */
#pragma omp parallel for linear(in : 2) order(concurrent) if(parallel : N > 2)
    for (int i = 0; i < N; i++)
        a[i] = twice(in) - 2 * in + i, in += 2;
    in = 0;
    /* @inscan */
#pragma omp parallel for reduction(inscan, + : in)
    for (int i = 0; i < N; i++) {
        in += i;
#pragma omp scan inclusive(in)
        scan[i] = in;
    }
    /* @collapse */
#pragma omp parallel for collapse(2) reduction(+ : sum)
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++)
            if (i == k) sum++;
            else if (i > k)
                sum += 0;
            else
                do sum += 0;
                while (0);
    /* @master */
#pragma omp parallel master reduction(+ : team)
    team += 1;
    /* @masked */
#pragma omp parallel masked filter(0) default(none) shared(team)
    {
        team += 10;
    }
    /* @loop */
#pragma omp parallel loop reduction(+ : sum)
    for (int i = 0; i < N; i++) sum++;
    /* @taskloop */
#pragma omp parallel master taskloop num_tasks(4) reduction(+ : sum) default(none) shared(a)
    for (int i = 0; i < N; i++) sum += a[i] - i;
    /* @maskedtaskloop */
#pragma omp parallel masked taskloop simd grainsize(8) filter(0)
    for (int i = 0; i < N; i++) a[i]++;
    /* @sections */
#pragma omp parallel sections num_threads(2) reduction(+ : team) lastprivate(last)
    {
        team += 100;
        last = 7;
#pragma omp section
        team += 1000;
        last = 8;
    }
    /* @if */
#pragma omp parallel if(parallel : sum < 0)
    team += 10000 * omp_get_num_threads();
    printf("%d %d %d %d %d %d %d\n", sum, last, tail, scan[N - 1], team, a[3], in);
    return 0;
}
