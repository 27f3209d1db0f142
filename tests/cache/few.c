/* Structures with few lines, and one that is seldom met: each program by its name, as the first argument. */
#include <stdio.h>
#include <string.h>

enum { FEW = 3600, MANY = 520000, HOT = 512, SELDOM = 1024 };

double m0[FEW], m1[FEW], m2[FEW], m3[FEW], m4[FEW], m5[FEW], m6[FEW], m7[FEW], m8[FEW], m9[FEW], big[MANY];
double hot[HOT], seldom[SELDOM];

__attribute__((noinline)) static double sum(const double *v, int n)
{
    double s = 0;

    for (int i = 0; i < n; i++) s += v[i];
    return s;
}

/* Each of m0 to m9 is used in the same way: caches up to 4 MiB miss one of 8 references. */
static double alike(void)
{
    double *const m[] = {m0, m1, m2, m3, m4, m5, m6, m7, m8, m9}, total = 0;

    for (int i = 0; i < MANY; i++) big[i] = i;
    for (int j = 0; j < 10; j++)
        for (int i = 0; i < FEW; i++) m[j][i] = i;
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 10; j++) total += sum(big, MANY) + sum(m[j], FEW);
    return total;
}

/* A cache of 16 KiB holds all; a burst meets seldom once, or not. */
static double once(void)
{
    double total = 0;

    for (int k = 0; k < 100; k++) {
        for (int j = 0; j < 600; j++) total += sum(hot, HOT);
        total += sum(seldom, SELDOM);
    }
    return total;
}

int main(int argc, char **argv)
{
    printf("%.6g\n", argc > 1 && strcmp(argv[1], "once") == 0 ? once() : alike());
    return 0;
}
