/*
 * Kernels whose slowdown by load/store hooks is measured: memory_kernels NAME REPETITIONS prints the CPU time of one
 * repetition, ns. The arrays are named structures, and a few more that nobody touches, so that the address map is not
 * empty.
 */
#include <ompp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 1000
#define SMALL 2048
#define NBLOCKS 64
#define LARGE 4000000 /* three arrays of it are several times the last cache */
#define ATOMS 2048
#define NEIGHBOURS 32
#define GRID 65536
#define NUCLIDES 16

static double a[N][N], b[N], c[N];
static double x[SMALL], y[SMALL], z[SMALL];
static double *block[NBLOCKS];
static int place[SMALL];
static double *large[3];
static double position[ATOMS][3], force[ATOMS][3], energy[ATOMS];
static int neighbour[ATOMS][NEIGHBOURS];
static double grid[GRID], section[NUCLIDES][GRID / NUCLIDES][5];
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

/* As STREAM has it: from memory. */
static void stream(void)
{
    for (long i = 0; i < LARGE; i++) large[0][i] = large[1][i] + 3.0 * large[2][i];
}

/* Forces between atoms and their neighbours in lists, as in molecular dynamics. */
static void forces(void)
{
    for (int i = 0; i < ATOMS; i++) {
        for (int n = 0; n < NEIGHBOURS; n++) {
            int j = neighbour[i][n];
            double d[3], r2 = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = position[i][k] - position[j][k];
                r2 += d[k] * d[k];
            }
            if (r2 > 9.0 || r2 < 1e-9) continue;
            double inverse = 1.0 / r2, r6 = inverse * inverse * inverse, f = 48.0 * r6 * (r6 - 0.5) * inverse;
            energy[i] += 2.0 * r6 * (r6 - 1.0);
            for (int k = 0; k < 3; k++) force[i][k] += f * d[k];
        }
    }
}

/* Cross sections of a material at random energies: a search in a table and interpolation in others, as in neutron
 * transport. */
static void lookup(void)
{
    unsigned seed = 7;
    double total[5] = {0};

    for (int k = 0; k < 2000; k++) {
        seed = seed * 1664525u + 1013904223u;
        double at = seed / 4294967296.0;
        int low = 0, high = GRID - 1;
        while (high - low > 1) {
            int middle = (low + high) / 2;
            if (grid[middle] > at) high = middle;
            else low = middle;
        }
        double share = (at - grid[low]) / (grid[high] - grid[low]);
        int row = low / NUCLIDES < GRID / NUCLIDES - 1 ? low / NUCLIDES : GRID / NUCLIDES - 2;
        for (int n = 0; n < NUCLIDES; n++)
            for (int c = 0; c < 5; c++)
                total[c] += section[n][row][c] + share * (section[n][row + 1][c] - section[n][row][c]);
    }
    sink += total[0] + total[1] + total[2] + total[3] + total[4];
}

static const struct {
    const char *name;
    void (*run)(void);
} kernels[] = {{"matvec", matvec}, {"stream", stream}, {"gather", gather}, {"stencil", stencil},
               {"forces", forces}, {"lookup", lookup}, {"triad", triad}};

/* Named structures and first values of the kernels that are like programs. */
static void prepare(void)
{
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"to", "from", "from too"};
        large[i] = calloc(LARGE, sizeof(double));
        ompp_papi_set_drange(large[i], LARGE * sizeof(double), names[i]);
    }
    for (int i = 0; i < ATOMS; i++) {
        for (int k = 0; k < 3; k++) position[i][k] = 0.9 * ((i >> (4 * k)) & 15) + 0.1 * ((i * 7 + k * 3) % 5);
        for (int n = 0; n < NEIGHBOURS; n++) neighbour[i][n] = (i + (n + 1) * (n % 3 ? 1 : 16)) % ATOMS;
    }
    for (int i = 0; i < GRID; i++) grid[i] = (double)i / GRID;
    for (int n = 0; n < NUCLIDES; n++)
        for (int i = 0; i < GRID / NUCLIDES; i++)
            for (int c = 0; c < 5; c++) section[n][i][c] = n + 0.001 * i + c;
    ompp_papi_set_drange(position, sizeof position, "position");
    ompp_papi_set_drange(force, sizeof force, "force");
    ompp_papi_set_drange(neighbour, sizeof neighbour, "neighbour");
    ompp_papi_set_drange(grid, sizeof grid, "grid");
    ompp_papi_set_drange(section, sizeof section, "section");
}

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
    prepare();
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
