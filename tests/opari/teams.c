/* Teams and target constructs, on the host. */
#include <omp.h>
#include <stdio.h>

enum { N = 64 };
static int a[N];

#pragma omp declare target
static int device(int x)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < x; i++) sum++;
    return sum;
}
#pragma omp end declare target

int main(void)
{
    int sum = 0, inside = 0;

    /* @teams */
#pragma omp teams num_teams(2) reduction(+ : sum)
    {
        /* @distribute */
#pragma omp distribute
        for (int i = 0; i < N; i++) sum++;
        /* @parallel */
#pragma omp parallel reduction(+ : sum) num_threads(2)
        sum += 1000;
    }
    /* @combined */
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2)
    for (int i = 0; i < N; i++) a[i] = i;
    /* @simd */
#pragma omp teams distribute simd
    for (int i = 0; i < N; i++) a[i]++;
    /* @data */
#pragma omp target data map(tofrom : a)
    {
        /* @target */
#pragma omp target map(tofrom : inside)
        {
            inside = device(10);
#pragma omp parallel num_threads(2)
#pragma omp critical
            inside++;
        }
        /* @update */
#pragma omp target update from(a)
        /* @loop */
#pragma omp target teams distribute parallel for map(tofrom : a)
        for (int i = 0; i < N; i++) a[i] *= 2;
    }
    /* @enter */
#pragma omp target enter data map(to : a)
    /* @exit */
#pragma omp target exit data map(from : a)
    /* @tail */
#pragma omp parallel
    {
    }
    printf("%d %d %d\n", sum > 4000, a[3], inside >= 11);
    return 0;
}
