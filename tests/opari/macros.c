/* Directives that only the preprocessor knows. */
#include "macros.h"
#include <stdio.h>

#define BOTH(a, b) { _Pragma("omp critical") a; _Pragma("omp barrier") b; }
#define THREADS 2
#define CLAUSES num_threads(THREADS) reduction(+ : n)
#ifdef _OPENMP
#define WITH 1
#endif

int main(void)
{
    int n = 0, m = 0;

    /* @operator */
    REDUCE
    for (int i = 0; i < 10; i++)
        n++;
    /* @macro */
    OMP(parallel num_threads(2))
    /* @both */
    BOTH(m++, m += 0)
    /* @clauses */
#pragma omp parallel CLAUSES
    n += WITH;
#if THREADS > 5
#pragma omp parallel
    n = 1000;
#else
    /* @joined */
#  pragma  omp  \
        parallel \
        reduction(+ : n) /* with a
        comment */ num_threads(2)
    n += 100;
#endif
#if 0
#pragma omp parallel
#endif
#define QUOTE "\n#pragma omp parallel\n"
    // #pragma omp parallel \
#pragma omp parallel
    printf("%d %d %d %d\n", n, m, header(5), (int)sizeof QUOTE);
#line 1000 "macros.y"
#pragma omp parallel
    {
    }
    return 0;
}
