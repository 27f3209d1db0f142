/* ns per frame of a warm walk, beside libunwind's two, on the same stacks: make tests/unwind/speed && tests/unwind/speed [DEPTH]. */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "unwind/ompp_unwind.h"

#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#define FRAMES 2048
#define ROUNDS 15

static ompp_unwind_thread_t thread;
static ompp_unwind_frame_t frames[FRAMES];
static void *addresses[FRAMES];
static volatile int sink;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static size_t step_all(void)
{
    unw_context_t context;
    unw_cursor_t cursor;
    size_t n = 0;

    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    do n++;
    while (unw_step(&cursor) > 0);
    return n;
}

static size_t ours(void) { return ompp_unwind_here(&thread, NULL, frames, FRAMES); }
static size_t backtrace_all(void) { return (size_t)unw_backtrace(addresses, FRAMES); }

static void measure(void)
{
    static const struct {
        const char *name;
        size_t (*walk)(void);
    } walks[] = {{"ompp_unwind_here", ours}, {"unw_backtrace", backtrace_all}, {"unw_step", step_all}};
    double best[3] = {1e99, 1e99, 1e99};

    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 3; i++) {
            size_t n = 0;
            const double start = now();
            for (int k = 0; k < 20; k++) n += walks[i].walk();
            const double ns = (now() - start) / (double)n;
            if (round && ns < best[i]) best[i] = ns;
        }
    for (int i = 0; i < 3; i++)
        printf("%-18s %8.1f ns per frame, %6.1f x\n", walks[i].name, best[i], best[i] / best[0]);
}

static __attribute__((noinline)) int even(int n);
static __attribute__((noinline)) int odd(int n, int a)
{
    volatile int local[4] = {n, a, 0, 0};

    return even(n - 1) + local[1];
}
static __attribute__((noinline)) int even(int n)
{
    if (n <= 0) {
        measure();
        return 0;
    }
    return odd(n, n & 7) + sink;
}

int main(int argc, char **argv)
{
    printf("start: %d\n", ompp_unwind_start());
    ompp_unwind_thread_begin(&thread);
    even(argc > 1 ? atoi(argv[1]) : 40);
    return 0;
}
