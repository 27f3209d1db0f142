/*
 * More structures than most programs have: each with a name of its own, small ones that share pages, ones that fill pages as a whole,
 * some released again; used by several threads. Stores to smallN: 1; loads and stores of largeN: 2, and 1 of those with odd N.
 */
#include <ompp.h>
#include <stdio.h>
#include <stdlib.h>

#define SMALL 30000
#define LARGE 36000
#define LARGE_BYTES 1024

static volatile double small[SMALL][3];
static volatile double large[LARGE][LARGE_BYTES / sizeof(double)] __attribute__((aligned(4096)));

static void name(volatile void *at, size_t size, const char *kind, int i)
{
    char text[32];

    snprintf(text, sizeof text, "%s%d", kind, i);
    ompp_papi_set_drange((void *)at, size, text);
}

int main(void)
{
    double sum = 0;

    for (int i = 0; i < SMALL; i++) name(small[i], sizeof small[i], "small", i);
    for (int i = 0; i < LARGE; i++) name(large[i], sizeof large[i], "large", i);
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp for
        for (int i = 0; i < SMALL; i++) small[i][2] = i;
#pragma omp for
        for (int i = 0; i < LARGE; i++) sum += large[i][0] + large[i][LARGE_BYTES / sizeof(double) - 1];
    }
    for (int i = 0; i < LARGE; i += 2) ompp_release_drange((void *)large[i]);
    for (int i = 0; i < LARGE; i++) large[i][1] = 1;
    return sum != 0;
}
