/* User regions through ompp.h, in C and in C++. What must be counted stands in regions.py. */
#include "ompp.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>

enum { NAMES = 100 };

/* @described */
static struct ompregdescr described = {(char *)"region", (char *)"described", 0, (char *)"old.c", 10, 10, 12, 12, 0, 0};

static int deep(int n)
{
    int sum;

    ompp_region_begin("deep");
    sum = n ? 1 + deep(n - 1) : 0;
    ompp_region_end("deep");
    return sum;
}

static int scoped(int n)
{
    /* @scoped */
    OMPP_REGION("scoped");

    for (int i = 0;; i++) {
        /* @turn */
        OMPP_REGION("turn");
        if (i == n)
            return i;
        if (i % 2)
            continue;
    }
}

static void begins(const char *name)
{
    (void)name;
    ompp_region_begin(name);
}

static void *other_thread(void *name)
{
    (void)name;
    ompp_region_end((const char *)name);
    ompp_region_begin("mine");
    ompp_region_begin("left open");
    return NULL;
}

static void names(int n)
{
    char name[32];

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "name %d", i);
        begins(name);
        ompp_region_end(name);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int sum = deep(1000) + scoped(5);

    names(argc > 1 ? 20 * NAMES : NAMES);
    (void)argv;
    POMP_Begin(&described);
    POMP_End(&described);

    /* Around a parallel region, inside it, and in its tasks. */
    /* @around */
    ompp_region_begin("around");
#pragma omp parallel reduction(+ : sum)
    {
        ompp_region_begin("inside");
        sum += 1;
        ompp_region_end("inside");
#pragma omp single
        for (int i = 0; i < 3; i++) {
#pragma omp task
            {
                OMPP_REGION("in task");
                ompp_region_begin("twice");
                ompp_region_end("twice");
            }
        }
    }
    ompp_region_end("around");

    /* Begun outside a parallel region and ended inside it; begun inside and ended outside. */
    ompp_region_begin("crossing in");
#pragma omp parallel num_threads(1)
    {
        ompp_region_end("crossing in");
        ompp_region_begin("crossing out");
    }
    ompp_region_end("crossing out");
    ompp_region_end("crossing in");

    /* Ends in the wrong order, ends without begin, an end in another thread. */
    ompp_region_begin("first");
    ompp_region_begin("second");
    ompp_region_end("first");
    ompp_region_end("second");
    ompp_region_end("never begun");
    ompp_region_begin("handed over");
    pthread_create(&thread, NULL, other_thread, (void *)"handed over");
    pthread_join(thread, NULL);
    ompp_region_end("handed over");

    ompp_region_begin("switched");
    POMP_Off();
    ompp_region_begin("unseen");
    ompp_region_end("unseen");
    POMP_On();
    ompp_region_end("switched");
    ompp_region_begin(NULL);
    ompp_region_end(NULL);
    printf("%d\n", sum);
    return 0;
}
