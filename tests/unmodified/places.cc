// Directives beside code that is inlined from a header and from the C++ library. Lines with a construct behind "//" are looked for in the
// report. Built with -O3.
#include "places.h"

#include <cstdio>
#include <random>

static __attribute__((noinline)) double dynamic(const Queue &q)
{
    double sum = 0;
#pragma omp parallel reduction(+ : sum) // PARALLEL
    {
        double x = 0;
        for (int k = 0; k < 3; k++) {
            if (q.in == 7) x++;
#pragma omp for schedule(dynamic, 1000) nowait // LOOP
            for (int *it = q.begin(); it < q.end(); it++) {
                for (int i = 0; i < 50; i++) x = x * 0.5 + *it;
            }
        }
        sum += x;
    }
    return sum;
}

static __attribute__((noinline)) void generate(Queue &q)
{
#pragma omp parallel // PARALLEL
    {
        std::mt19937 rng;
#pragma omp for // BARRIER
        for (int b = 0; b < q.in; b += 1000) {
            rng.seed(b);
            for (int i = b; i < b + 1000; i++) q.shared[i] = rng();
        }
    }
}

static __attribute__((noinline)) void both(const Queue &q, double *a)
{
#pragma omp parallel // PARALLEL
    {
        double y = steps(q.in) * 0.5;
        worker(q.in, a, y);
        for (int i = 0; i < 3; i++) a[i] += y;
#pragma omp barrier // BARRIER
        worker(q.in, a, y + steps(*q.begin()));
    }
}

int main()
{
    Queue q(100000);
    double *a = new double[q.in]();
    generate(q);
    both(q, a);
    printf("%g %g\n", dynamic(q), a[3]);
    return 0;
}
