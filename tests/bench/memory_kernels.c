/*
 * Kernels whose slowdown by load/store hooks is measured: memory_kernels NAME REPETITIONS prints the CPU time of one repetition, ns.
 * The arrays are named structures, and a few more that nobody touches, so that the address map is not empty.
 */
#include <ompp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 1000
#define SMALL 2048
#define NBLOCKS 64

static double a[N][N], b[N], c[N];
static double x[SMALL], y[SMALL], z[SMALL];
static double *block[NBLOCKS];
static int place[SMALL];
double sink;

static void matvec(void)
{
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) sum += a[i][j] * b[j];
        c[i] = sum;
    }
}

static void triad(void)
{
    for (int k = 0; k < 100; k++)
        for (int i = 0; i < SMALL; i++) x[i] = y[i] + 3.0 * z[i];
}

static void gather(void)
{
    double sum = 0;

    for (int k = 0; k < 100; k++)
        for (int i = 0; i < SMALL; i++) sum += block[(place[i] + k) % NBLOCKS][place[i] % 512];
    sink += sum;
}

static void stencil(void)
{
    for (int k = 0; k < 100; k++)
        for (int i = 1; i + 1 < SMALL; i++) y[i] = 0.5 * y[i - 1] + 0.3 * z[i] + 0.2 * z[i + 1];
}

static const struct {
    const char *name;
    void (*run)(void);
} kernels[] = {{"matvec", matvec}, {"triad", triad}, {"gather", gather}, {"stencil", stencil}};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    long repetitions = argc > 2 ? atol(argv[2]) : 1;

    for (int i = 0; i < NBLOCKS; i++) {
        block[i] = calloc(512, sizeof(double));
        ompp_papi_set_drange(block[i], 512 * sizeof(double), "blocks");
    }
    ompp_papi_set_drange(a, sizeof a, "a");
    ompp_papi_set_drange(b, sizeof b, "b");
    ompp_papi_set_drange(c, sizeof c, "c");
    ompp_papi_set_drange(x, sizeof x, "x");
    ompp_papi_set_drange(y, sizeof y, "y");
    ompp_papi_set_drange(z, sizeof z, "z");
    for (int i = 0; i < SMALL; i++) place[i] = (int)((i * 2654435761u) >> 8);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (argc < 2 || strcmp(kernels[k].name, argv[1]) != 0) continue;
        kernels[k].run(); /* first touch */
        double begin = now();
        for (long i = 0; i < repetitions; i++) kernels[k].run();
        printf("%.1f\n", (now() - begin) / (double)repetitions);
    }
    return 0;
}
