/*
 * For programs whose phases have known lengths: sleep until absolute times, and tell what a report must say.
 *
 * Times are ms after the common start. A line of expectation is
 *     expect LABEL KIND rank tid column=ms ...
 * LABEL is the comment / * @LABEL * / above the construct. Time columns that are not named are 0; execT is the sum of the named
 * ones unless it is named itself. tid "sum" is the sum over the threads of the rank.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static long long truth_base; /* ns of CLOCK_REALTIME */
static int truth_rank;       /* of this process */

static long long truth_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Sleeps until ms after the start. */
static void until(double ms)
{
    long long ns = truth_base + (long long)(ms * 1e6);
    struct timespec t = {ns / 1000000000LL, ns % 1000000000LL};

    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* tid -1: sum over threads. Then pairs of column (char *) and ms (double), ended by NULL. */
static void expect(const char *label, const char *kind, int rank, int tid, ...)
{
    va_list args;

    if (truth_rank != 0)
        return;
    if (tid < 0)
        printf("expect %s %s %d sum", label, kind, rank);
    else
        printf("expect %s %s %d %d", label, kind, rank, tid);
    va_start(args, tid);
    for (const char *column = va_arg(args, const char *); column != NULL; column = va_arg(args, const char *))
        printf(" %s=%.3f", column, va_arg(args, double));
    va_end(args);
    printf("\n");
}

#endif
