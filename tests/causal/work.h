/*
 * What the validation programs share: regions whose work can really be made smaller, so that what causal profiling predicts can be
 * compared with what happens.
 *
 *   program CASE [rounds=N] [ms=X] [fast=NAME:0.5] [changed] [work=cpu]
 *
 *   fast=NAME:0.5   the region takes half its time; several are possible
 *   ms=X            length of a unit of work, default 1
 *   changed         the program as it would be if it were mended: scenario.c, mpi_scenario.c
 *   work=cpu        work keeps the processor busy for a number of steps; default: until a point in time, which is exact also when
 *                   there are more threads than processors
 *
 * A program ends with "seconds S", the time between begin_run() and end_run(). It needs no library of ours: ompp.h's functions do
 * nothing where it is not linked.
 */
#ifndef WORK_H
#define WORK_H

#include "ompp.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { MAX_FAST = 8 };

static struct {
    int rounds, nfast, cpu, changed;
    double ms;
    struct {
        char name[32];
        double by;
    } fast[MAX_FAST];
    double steps_per_ms;
    int64_t begin;
} run = {.rounds = 20, .ms = 1};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Sleeps to a little before and looks at the clock for the rest: exact to a microsecond on a processor that is free then. */
static void work_until(int64_t end)
{
    const int64_t wake = end - 60000;
    struct timespec t = {wake / 1000000000, wake % 1000000000};
    static __thread int exact;

    if (!exact) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    exact = 1;
    if (wake > now_ns())
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) continue;
    while (now_ns() < end) continue;
}

static void steps(double n)
{
    for (volatile double i = 0; i < n; i = i + 1) continue;
}

static void work(double ms)
{
    if (run.cpu) steps(ms * run.ms * run.steps_per_ms);
    else work_until(now_ns() + (int64_t)(ms * run.ms * 1e6));
}

static double scaled(const char *name, double ms)
{
    for (int i = 0; i < run.nfast; i++)
        if (strcmp(run.fast[i].name, name) == 0) return ms * (1 - run.fast[i].by);
    return ms;
}

/* A user region that works for so long; work outside regions: work(). */
static void region(const char *name, double ms)
{
    ompp_region_begin(name);
    work(scaled(name, ms));
    ompp_region_end(name);
}

/* Reads the options behind the case. */
static void read_options(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        char *colon = strchr(argv[i], ':');
        if (sscanf(argv[i], "rounds=%d", &run.rounds) == 1 || sscanf(argv[i], "ms=%lf", &run.ms) == 1) continue;
        if (strcmp(argv[i], "work=cpu") == 0) run.cpu = 1;
        if (strcmp(argv[i], "changed") == 0) run.changed = 1;
        if (strncmp(argv[i], "fast=", 5) != 0 || !colon || run.nfast == MAX_FAST) continue;
        snprintf(run.fast[run.nfast].name, sizeof run.fast[0].name, "%.*s", (int)(colon - argv[i] - 5), argv[i] + 5);
        run.fast[run.nfast++].by = atof(colon + 1);
    }
    if (run.cpu) { /* an empty loop's speed, the best of some tries */
        for (int i = 0; i < 20; i++) {
            const int64_t begin = now_ns();
            steps(200000);
            const double speed = 200000 * 1e6 / (double)(now_ns() - begin);
            if (speed > run.steps_per_ms) run.steps_per_ms = speed;
        }
    }
}

static void begin_run(void)
{
    run.begin = now_ns();
}

static void end_run(void)
{
    printf("seconds %.6f\n", 1e-9 * (double)(now_ns() - run.begin));
}

/* What a program can do, by name. */
typedef struct {
    const char *name;
    void (*function)(void);
} case_t;

/* Runs the one that the command line names. \return exit status. */
__attribute__((unused)) static int run_case(int argc, char **argv, const case_t *cases, size_t n)
{
    read_options(argc, argv);
    for (size_t i = 0; argc > 1 && i < n; i++) {
        if (strcmp(cases[i].name, argv[1]) != 0) continue;
        begin_run();
        cases[i].function();
        end_run();
        return 0;
    }
    fprintf(stderr, "usage: %s CASE [rounds=N] [ms=X] [fast=NAME:0.5] [changed] [work=cpu]\n", argv[0]);
    return 2;
}

#endif
