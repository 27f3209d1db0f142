/* Functions compiled with -finstrument-functions, in C. What must be counted stands in functions.py. */
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

long in_library(long x);

static long early_calls;
static jmp_buf place;

/* @early */
__attribute__((constructor)) static void early(void)
{
    early_calls++;
} /* @end early */

/* @late */
static void late(void)
{
    fflush(stdout);
} /* @end late */

/* @fib */
static long fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
} /* @end fib */

static int odd(int n);

/* @even */
static int even(int n)
{
    return n == 0 || odd(n - 1);
} /* @end even */

/* @odd */
static int odd(int n)
{
    return n != 0 && even(n - 1);
} /* @end odd */

/* Deeper than any stack of regions. */
/* @deep */
static int deep(int n)
{
    return n ? 1 + deep(n - 1) : 0;
} /* @end deep */

/* @leaps */
static void leaps(void)
{
    longjmp(place, 1);
} /* @end leaps */

/* @middle */
static void middle(void)
{
    leaps();
} /* @end middle */

/* @returns */
static long returns(void)
{
    volatile char room[512] = {0};

    return room[1];
} /* @end returns */

/* @jumps */
static long jumps(void)
{
    if (setjmp(place) == 0) middle();
    return returns();
} /* @end jumps */

/* @thread */
static void *thread(void *argument)
{
    *(long *)argument = fib(5);
    return NULL;
} /* @end thread */

/* @member */
static long member(int n)
{
    return even(n) + in_library(n);
} /* @end member */

/* @main */
int main(void)
{
    long sum = early_calls + fib(10) + deep(1000) + jumps(), other = 0;
    pthread_t worker;

    atexit(late);
#pragma omp parallel reduction(+ : sum)
    sum += member(8);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 3; i++) {
#pragma omp task
        member(3);
    }
    pthread_create(&worker, NULL, thread, &other);
    pthread_join(worker, NULL);
    printf("%ld %ld\n", sum, other);
    return 0;
}
