/*
 * usage: ideal CASE: teams of two in which threads sleep; prints for how long the regions took, and for how long they would have if each
 * thread had slept as long as the other.
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 12, SHORT = 10000, LONG = 50000, LOOPS = 20000, TURNS = 16 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double slept[2], balanced;

static void nap(unsigned us)
{
    const double begin = now();

    usleep(us);
    slept[omp_get_thread_num()] = now() - begin;
}

/* Who is the slow one: always the same, in turn, or none, with the same work in all. */
static void sleepers(const char *name)
{
    for (int i = 0; i < TIMES; i++) {
        const int slow = strcmp(name, "turns") == 0 ? i % 2 : 0;
#pragma omp parallel num_threads(2)
        nap(strcmp(name, "even") == 0 ? (SHORT + LONG) / 2 : omp_get_thread_num() == slow ? LONG : SHORT);
        balanced += (slept[0] + slept[1]) / 2;
    }
}

static double tiny(void)
{
    double sum = 0;

    for (int i = 0; i < LOOPS; i++) {
#pragma omp parallel for num_threads(2) reduction(+ : sum)
        for (int k = 0; k < TURNS; k++) sum += k;
    }
    return sum;
}

/* Nothing but barriers. */
static void barriers(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 20000; i++) {
#pragma omp barrier
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    double begin;

    /* threads, and the library's start, before the clock */
#pragma omp parallel num_threads(2)
    nap(1);
    begin = now();
    if (strcmp(name, "barriers") == 0) barriers();
    else if (strcmp(name, "tiny") == 0) printf("%g\n", tiny());
    else sleepers(name);
    printf("took %.6f balanced %.6f\n", now() - begin, balanced);
    return 0;
}
