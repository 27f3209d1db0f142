/* Programs whose misses are known, or that another simulator counts, too: each by its name, as the first argument. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, LONG = 60000, NODES = 20000, SIDE = 160, BLOCK = 16 };

double square[N][N], x[N], y[N];
double a[LONG], b[LONG], c[LONG];
/* where a page begins: which lines share a set is then no matter of what else the program has */
_Alignas(4096) double p[SIDE][SIDE], q[SIDE][SIDE], r[SIDE][SIDE];
int place[LONG];
struct node {
    struct node *next;
    long value, unused[6];
} nodes[NODES];

static unsigned long state = 12345;

static unsigned chance(unsigned n)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 33) % n;
}

static double rows(void)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) y[i] += square[i][j] * x[j];
    return y[0];
}

static double columns(void)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) y[i] += square[j][i] * x[j];
    return y[0];
}

static double triad(void)
{
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < LONG; i++) a[i] = b[i] + 3 * c[i];
    return a[1];
}

static double gather(void)
{
    double sum = 0;

    for (int i = 0; i < LONG; i++) place[i] = (int)chance(LONG);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < LONG; i++) sum += a[place[i]];
    return sum;
}

static double list(void)
{
    long sum = 0;

    for (int i = 0; i < NODES; i++) nodes[i].next = &nodes[(i * 7919 + 1) % NODES], nodes[i].value = i;
    struct node *at = nodes;
    for (int i = 0; i < 10 * NODES; i++, at = at->next) sum += at->value;
    return (double)sum;
}

static double stencil(void)
{
    for (int k = 0; k < 6; k++) {
        for (int i = 1; i < SIDE - 1; i++)
            for (int j = 1; j < SIDE - 1; j++) q[i][j] = 0.25 * (p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1]);
        memcpy(p, q, sizeof p);
    }
    return p[5][5];
}

double product(int step)
{
    for (int ii = 0; ii < SIDE; ii += step)
        for (int kk = 0; kk < SIDE; kk += step)
            for (int jj = 0; jj < SIDE; jj += step)
                for (int i = ii; i < ii + step && i < SIDE; i++)
                    for (int k = kk; k < kk + step && k < SIDE; k++)
                        for (int j = jj; j < jj + step && j < SIDE; j++) r[i][j] += p[i][k] * q[k][j];
    return r[1][1];
}

/* Variables of functions: one that no cache here holds, small ones at many depths, and one beside other data. */
__attribute__((noinline)) static double deep(int depth, int seed)
{
    double v[24];

    for (int i = 0; i < 24; i++) v[i] = seed + i * depth;
    if (depth) v[seed % 24] += deep(depth - 1, seed + 1);
    return v[seed % 24] + v[(seed + depth) % 24];
}

__attribute__((noinline)) static double local(void)
{
    double wide[3 * LONG / 2], three[3], sum = 0;

    for (int i = 0; i < 3 * LONG / 2; i++) wide[i] = i;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < LONG; i++) sum += wide[(i * 40503L + k) % (3 * LONG / 2)];
    for (int k = 0; k < 60; k++) sum += deep(60, k);
    for (int i = 0; i < LONG; i++) {
        for (int j = 0; j < 3; j++) three[(i + j) % 3] = a[i] - b[(i * 7919L + j) % LONG];
        c[i] = three[i % 3] + three[(i + 1) % 3];
    }
    return sum + c[1];
}

static double whole(void) { return product(SIDE); }
static double blocked(void) { return product(BLOCK); }
static double nothing(void) { return 0; }

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(void);
    } programs[] = {{"rows", rows},     {"columns", columns}, {"triad", triad},
                    {"gather", gather}, {"list", list},       {"stencil", stencil},
                    {"product", whole}, {"blocked", blocked}, {"local", local},
                    {"nothing", nothing}};

    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(argv[1], programs[i].name) == 0) printf("%.6g\n", programs[i].run());
    return 0;
}
