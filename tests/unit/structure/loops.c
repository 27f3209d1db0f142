/* Loops of all kinds, combined with their parallel region and not, for loops.py. Never run. */
int n, chunk, a[100];
#define PARALLEL_FOR _Pragma("omp parallel for schedule(dynamic)")

void combined(int x)
{
    int s = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = x;
#pragma omp parallel for schedule(static, 2)
    for (int i = 0; i < n; i++) a[i] = x;
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < n; i++)
        a[i] = x;

#pragma omp parallel for \
    schedule(runtime) \
    firstprivate(x)
    for (int i = 0; i < n; i++) {
        a[i] = x;
    }
    /* A comment. */
#pragma omp parallel for collapse(2) schedule(monotonic : dynamic, chunk)
    /* Another
       for (;;) */

#ifdef NOWHERE
#endif
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i] += x;
#pragma omp parallel for simd schedule(nonmonotonic : dynamic)
    for (int i = 0; i < n; i++) a[i] = x;
#pragma omp parallel for ordered
    for (int i = 0; i < n; i++)
    {
#pragma omp ordered
        a[i] = x;
    }
#pragma omp parallel for schedule(dynamic) lastprivate(s) reduction(+ : x)
    for (int i = 0;
         i < n;
         i++)
        x += s = i;
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < n; k++) {
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < n; i++) a[i] = x;
    }
}

void separate(int x)
{
#pragma omp parallel
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; i++) a[i] = x;
#pragma omp parallel
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < n; i++) a[i] = x;
#pragma omp parallel reduction(+ : x)
#pragma omp for ordered
    for (int i = 0; i < n; i++)
#pragma omp ordered
        x += i;
#pragma omp parallel
    for (int k = 0; k < 2; k++)
#pragma omp for schedule(guided) \
    firstprivate(x)
        for (int i = 0; i < n; i++) a[i] = x;
#pragma omp parallel
    {
        int m = n;
#pragma omp for schedule(dynamic) collapse(2)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) a[i] = x;
#pragma omp for
        for (int i = 0; i < m; i++) a[i] = x;
    }
}

void orphaned(int x)
{
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; i++) a[i] = x;
}

void of_macro(int x)
{
    PARALLEL_FOR
    for (int i = 0; i < n; i++) a[i] = x;
}
