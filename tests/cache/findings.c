/* Programs that each have one thing about caches, and one that has none: by its name, as the first argument. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 2000, SIDE = 64, PAGES = 3000, ITEMS = 20000 };

/* A counter for each thread, side by side; and a line apart. */
long counts[8];
long apart[8][16];
/* Rows of a power of two: each column lies in one set of L1. */
double grid[SIDE][1024];
double padded[SIDE][1024 + 8];
char many[PAGES][4096];
/* One member is hot. */
struct item {
    long key, cold[15];
} items[ITEMS];
long keys[ITEMS];
double small[1024];

static void add(long *counter)
{
#pragma omp parallel num_threads(2)
    {
        volatile long *own = counter + omp_get_thread_num() * (counter == counts ? 1 : 16);
        for (int i = 0; i < ROUNDS; i++) {
            *own += 1;
            if (i % 8 == 0) {
#pragma omp barrier
            }
        }
    }
}

static double columns(double *rows, int width)
{
    double sum = 0;

    for (int k = 0; k < 20; k++)
        for (int j = 0; j < 16; j++)
            for (int i = 0; i < SIDE; i++) sum += rows[i * width + j] += 1;
    return sum;
}

static double pages(void)
{
    double sum = 0;

    for (int k = 0; k < 10; k++)
        for (int i = 0; i < PAGES; i++) sum += many[i][i % 60 * 64]++;
    return sum;
}

static double hot(void)
{
    double sum = 0;

    for (int k = 0; k < 5; k++)
        for (int i = 0; i < ITEMS; i++) sum += (double)(items[i].key += i);
    return sum;
}

static double together(void)
{
    double sum = 0;

    for (int k = 0; k < 5; k++)
        for (int i = 0; i < ITEMS; i++) sum += (double)(keys[i] += i);
    return sum;
}

static double none(void)
{
    for (int k = 0; k < 100; k++)
        for (int i = 0; i < 1024; i++) small[i] += 1;
    return small[5];
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "false") == 0) add(counts), printf("%ld\n", counts[0] + counts[1]);
    if (strcmp(name, "apart") == 0) add(apart[0]), printf("%ld\n", apart[0][0] + apart[1][0]);
    if (strcmp(name, "conflict") == 0) printf("%g\n", columns(grid[0], 1024));
    if (strcmp(name, "padded") == 0) printf("%g\n", columns(padded[0], 1024 + 8));
    if (strcmp(name, "pages") == 0) printf("%g\n", pages());
    if (strcmp(name, "hot") == 0) printf("%g\n", hot());
    if (strcmp(name, "together") == 0) printf("%g\n", together());
    if (strcmp(name, "none") == 0) printf("%g\n", none());
    return 0;
}
