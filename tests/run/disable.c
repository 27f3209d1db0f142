/*
 * Every construct that can be switched off, on two threads, each with a nap inside: in a parallel region of its own, so that the nap
 * is the region's when the construct is not measured.
 */
#include "ompp.h"
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { NAP_MS = 5 };

static void nap(void)
{
    struct timespec t = {0, NAP_MS * 1000000L};

    nanosleep(&t, NULL);
}

static long sum;
static omp_lock_t lock;

static void worksharing(void)
{
#pragma omp parallel /* loop */
#pragma omp for
    for (int i = 0; i < 2; i++) nap();
#pragma omp parallel /* sections */
    {
#pragma omp sections
        {
#pragma omp section
            nap();
#pragma omp section
            nap();
        }
    }
#pragma omp parallel /* single */
    {
#pragma omp single
        nap();
    }
#pragma omp parallel /* master */
    {
#pragma omp master
        nap();
    }
}

static void synchronisation(void)
{
#pragma omp parallel /* critical */
    {
#pragma omp critical(one)
        nap();
    }
#pragma omp parallel /* atomic, flush */
    {
#pragma omp atomic
        sum += 1;
#pragma omp flush
    }
#pragma omp parallel /* barrier */
    {
        if (omp_get_thread_num() == 1) nap();
#pragma omp barrier
    }
#pragma omp parallel /* lock */
    {
        omp_set_lock(&lock);
        nap();
        omp_unset_lock(&lock);
    }
}

static void others(void)
{
#pragma omp parallel /* user region */
    {
        ompp_region_begin("mine");
        nap();
        ompp_region_end("mine");
    }
#pragma omp parallel /* untied task */
    {
#pragma omp single
        {
#pragma omp task untied
            nap();
#pragma omp task
            nap();
        }
    }
}

int main(void)
{
    omp_init_lock(&lock);
    worksharing();
    synchronisation();
    others();
    omp_destroy_lock(&lock);
    printf("%ld\n", sum);
    return 0;
}
