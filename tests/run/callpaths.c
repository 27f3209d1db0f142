/*
 * Functions that call one another by chance, and at the end of each chain MPI or a parallel region. Prints which chains
 * there were, and how often. Callers look alike: the same depth, frames of the same size. Arguments: number of chains.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef MPI
#include <mpi.h>
#endif

enum { MOST = 1000, DEPTH = 4, LINE = 80 };
static char chain[LINE], seen[MOST][LINE];
static int counts[MOST], nseen;
static unsigned chance = 7;

static unsigned draw(unsigned n)
{
    chance = chance * 1103515245 + 12345;
    return (chance >> 16) % n;
}

static void note(void)
{
    int i = 0;

    while (i < nseen && strcmp(seen[i], chain) != 0) i++;
    if (i == nseen) strcpy(seen[nseen++], chain);
    counts[i]++;
}

static void step(int depth);

#define BARRIER __asm__ volatile("" ::: "memory") /* the call before it is no jump */

__attribute__((noinline)) static void target(void)
{
    note();
#ifdef MPI
    MPI_Barrier(MPI_COMM_SELF);
#else
#pragma omp parallel
    BARRIER;
#endif
    BARRIER;
}

#define FUNCTION(name, before)                            \
    __attribute__((noinline)) static void name(int depth) \
    {                                                     \
        before;                                           \
        step(depth);                                      \
        BARRIER;                                          \
    }
FUNCTION(alpha, BARRIER)
FUNCTION(beta, BARRIER)
FUNCTION(gamma_, char *room = alloca(32 + 16 * draw(4)); __asm__ volatile("" ::"r"(room) : "memory"))
FUNCTION(delta, char *room = alloca(32 + 16 * draw(4)); __asm__ volatile("" ::"r"(room) : "memory"))
FUNCTION(epsilon, __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15", "memory"))

static const struct {
    const char *name;
    void (*call)(int depth);
} functions[] = {{"alpha", alpha}, {"beta", beta}, {"gamma_", gamma_}, {"delta", delta}, {"epsilon", epsilon}};

__attribute__((noinline)) static void step(int depth)
{
    const size_t length = strlen(chain);
    const unsigned next = draw(5);

    if (depth == 0) {
        target();
    } else {
        sprintf(chain + length, ">%s", functions[next].name);
        functions[next].call(depth - 1);
        chain[length] = '\0';
    }
    BARRIER;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1000;

#ifdef MPI
    MPI_Init(&argc, &argv);
#endif
    for (int i = 0; i < n; i++) step((int)draw(DEPTH));
    int rank = 0;
#ifdef MPI
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (int i = 0; i < nseen && rank == 0; i++) printf("%d %s\n", counts[i], seen[i]);
#ifdef MPI
    MPI_Finalize();
#endif
    return 0;
}
