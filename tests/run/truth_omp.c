/* Every phase of every construct has a known length on every thread. Each part starts with all threads at the same moment. */
#define _GNU_SOURCE
#include "truth.h"
#include <omp.h>

enum { STEP = 20 }; /* ms by which a thread is later than the one before it */

static int threads;

/* Thread t works (t + 1) steps; the others wait at the end of the region. */
static double skewed(double at)
{
    until(at);
    /* @skewed */
#pragma omp parallel
    {
        until(at + STEP * (omp_get_thread_num() + 1));
    } /* @end skewed */
    for (int t = 0; t < threads; t++)
        expect("skewed", "PARALLEL", 0, t, "bodyT", 1. * STEP * (t + 1), "exitBarT", 1. * STEP * (threads - 1 - t), NULL);
    return at + STEP * threads;
}

/* 200 ms of serial time, then a balanced region: nobody may have waited through the gap. */
static double gap(double at)
{
    at += 200;
    until(at);
    /* @gap */
#pragma omp parallel
    {
        until(at + STEP);
    } /* @end gap */
    for (int t = 0; t < threads; t++)
        expect("gap", "PARALLEL", 0, t, "bodyT", 1. * STEP, NULL);
    return at + STEP;
}

static double loop(double at)
{
    until(at);
    /* @loops */
#pragma omp parallel
    {
        /* @loop */
#pragma omp for schedule(static, 1)
        for (int i = 0; i < threads; i++)
            until(at + STEP * (i + 1));
        /* @nowait */
#pragma omp for schedule(static, 1) nowait
        for (int i = 0; i < threads; i++)
            until(at + STEP * threads + STEP);
    } /* @end loops */
    for (int t = 0; t < threads; t++) {
        expect("loops", "PARALLEL", 0, t, "bodyT", 1. * STEP * (threads + 1), NULL);
        expect("loop", "LOOP", 0, t, "bodyT", 1. * STEP * (t + 1), "exitBarT", 1. * STEP * (threads - 1 - t), NULL);
        expect("nowait", "LOOP", 0, t, "bodyT", 1. * STEP, NULL);
    }
    return at + STEP * (threads + 1);
}

static double combined(double at)
{
    until(at);
    /* @combined */
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < threads; i++)
        until(at + STEP * (i + 1));
    for (int t = 0; t < threads; t++)
        expect("combined", "PARALLEL_LOOP", 0, t, "bodyT", 1. * STEP * (t + 1), "exitBarT", 1. * STEP * (threads - 1 - t),
               NULL);
    return at + STEP * threads;
}

static double barrier(double at)
{
    until(at);
    /* @around */
#pragma omp parallel
    {
        until(at + STEP * (omp_get_thread_num() + 1));
        /* @barrier */
#pragma omp barrier
    } /* @end around */
    for (int t = 0; t < threads; t++) {
        expect("around", "PARALLEL", 0, t, "bodyT", 1. * STEP * threads, NULL);
        expect("barrier", "BARRIER", 0, t, "execT", 1. * STEP * (threads - 1 - t), NULL);
    }
    return at + STEP * threads;
}

/* Threads arrive 5 ms apart and stay 20 ms inside, so thread t waits 15 t. */
static double critical(double at)
{
    double end = at + STEP * threads + STEP;

    until(at);
    /* @contended */
#pragma omp parallel
    {
        int t = omp_get_thread_num();

        until(at + 5 * (t + 1));
        /* @critical */
#pragma omp critical(section)
        {
            until(at + 5 + STEP * (t + 1));
        } /* @end critical */
        until(end);
    } /* @end contended */
    for (int t = 0; t < threads; t++) {
        expect("contended", "PARALLEL", 0, t, "bodyT", end - at, NULL);
        expect("critical", "CRITICAL", 0, t, "enterT", 15. * t, "bodyT", 1. * STEP, NULL);
    }
    return end;
}

static double lock(double at)
{
    double end = at + STEP * threads + STEP;
    static omp_lock_t simple;

    omp_init_lock(&simple);
    until(at);
    /* @locking */
#pragma omp parallel
    {
        int t = omp_get_thread_num();

        until(at + 5 * (t + 1));
        omp_set_lock(&simple);
        until(at + 5 + STEP * (t + 1));
        omp_unset_lock(&simple);
        until(end);
    } /* @end locking */
    omp_destroy_lock(&simple);
    for (int t = 0; t < threads; t++) {
        expect("locking", "PARALLEL", 0, t, "bodyT", end - at, NULL);
        expect("-", "LOCK", 0, t, "enterT", 15. * t, "bodyT", 1. * STEP, NULL);
    }
    return end;
}

/* Thread 0 comes first and does the work; the others come 10 ms later and wait for it. */
static double single(double at)
{
    until(at);
    /* @alone */
#pragma omp parallel
    {
        until(at + (omp_get_thread_num() == 0 ? 0 : 10));
        /* @single */
#pragma omp single
        {
            until(at + 40);
        } /* @end single */
        /* @master */
#pragma omp master
        {
            until(at + 60);
        } /* @end master */
        until(at + 60);
    } /* @end alone */
    expect("master", "MASTER", 0, 0, "execT", 20., NULL);
    for (int t = 0; t < threads; t++) {
        expect("alone", "PARALLEL", 0, t, "bodyT", 60., NULL);
        if (t == 0)
            expect("single", "SINGLE", 0, t, "singleT", 40., NULL);
        else
            expect("single", "SINGLE", 0, t, "exitBarT", 30., NULL);
    }
    return at + 60;
}

static double sections(double at)
{
    until(at);
    /* @outer */
#pragma omp parallel
    {
        until(at + (omp_get_thread_num() == 0 ? 0 : 10));
        /* @sections */
#pragma omp sections
        {
#pragma omp section
            {
                until(at + 50);
            }
        }
    } /* @end outer */
    for (int t = 0; t < threads; t++) {
        expect("outer", "PARALLEL", 0, t, "bodyT", 50., NULL);
        if (t == 0)
            expect("sections", "SECTIONS", 0, t, "sectT", 50., NULL);
        else
            expect("sections", "SECTIONS", 0, t, "exitBarT", 40., NULL);
    }
    return at + 50;
}

/* Thread 0 makes a task when the others wait in the barrier; one of them runs it for 30 ms. */
static double task(double at)
{
    until(at);
    /* @tasks */
#pragma omp parallel
    {
        until(at + (omp_get_thread_num() == 0 ? 0 : 10));
        /* @maker */
#pragma omp single
        {
            until(at + 30);
            /* @task */
#pragma omp task
            {
                until(at + 60);
            }
            until(at + 80);
        } /* @end maker */
    } /* @end tasks */
    if (threads == 1)
        return at + 80;
    for (int t = 0; t < threads; t++)
        expect("tasks", "PARALLEL", 0, t, "bodyT", 80., NULL);
    expect("task", "TASKEXEC", 0, -1, "execT", 30., NULL);
    expect("maker", "SINGLE", 0, -1, "singleT", 80., "exitBarT", 70. * (threads - 1) - 30, "taskT", 30., "execT",
           80. + 70 * (threads - 1), NULL);
    return at + 80;
}

/* Two levels: every outer thread has a team of two of its own, its second thread is late. */
static double nested(double at)
{
    until(at);
    /* @nest */
#pragma omp parallel
    {
        /* @team */
#pragma omp parallel num_threads(2)
        {
            until(at + STEP * (omp_get_thread_num() + 1));
        } /* @end team */
    } /* @end nest */
    for (int t = 0; t < threads; t++)
        expect("nest", "PARALLEL", 0, t, "bodyT", 2. * STEP, NULL);
    expect("team", "PARALLEL", 0, -1, "bodyT", 3. * STEP * threads, "exitBarT", 1. * STEP * threads, "execT",
           4. * STEP * threads, NULL);
    return at + 2 * STEP;
}

/* Starting threads takes time that belongs to no part: done beforehand. */
static void warm_up(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel
    {
#pragma omp parallel num_threads(2)
        {
            volatile int here = omp_get_thread_num();

            (void)here;
        }
    }
}

int main(void)
{
    static double (*const parts[])(double) = {skewed, gap, loop, combined, barrier, critical, lock, single, sections, task, nested};
    double at = 10;

    threads = omp_get_max_threads();
    warm_up();
    truth_base = truth_now();
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        at = parts[i](at) + 10;
    return 0;
}
