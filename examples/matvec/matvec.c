/*
 * Matrix times vector, c = A b, with the matrix read along its columns as in the Fortran program matvec.f90: each of
 * the threads reads n / threads * n elements of a. With counts per data structure the report shows exactly these.
 */
#include <stdio.h>

#ifndef N
#define N 1200
#endif

static double a[N][N], b[N], c[N];

int main(void)
{
    for (int j = 0; j < N; j++) {
        b[j] = 1.0 / (j + 1);
        for (int i = 0; i < N; i++) a[j][i] = (i + j) % 7;
    }
#pragma pomp inst data(a, sizeof(a), "a")

#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < N; i++) {
            c[i] = 0.0;
            for (int j = 0; j < N; j++) c[i] += a[j][i] * b[j];
        }
    }
    double sum = 0.0;
    for (int i = 0; i < N; i++) sum += c[i];
    printf("%.6f\n", sum);
    return 0;
}
