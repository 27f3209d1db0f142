// Figure 1 of the COZ paper (Curtsinger and Berger, SOSP 2015): two threads, a takes 20 and b takes 19 units. A
// profiler says that each has about half of the time. But making a faster saves at most 5 %, for then b is waited for;
// making b faster saves nothing.
//
//   figure1 [rounds] [thousands of steps per unit] [a=0.5] [b=0.5]      a=0.5: a takes half its work
//
// The same source for ompp (ompp.h) and Coz (coz.h): each finds its own progress point.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#if __has_include(<coz.h>)
#include <coz.h>
#else
#define COZ_PROGRESS_NAMED(name) ((void)0)
#endif
#include "ompp.h"

static double scale_a = 1, scale_b = 1;
static long unit = 250000;

static void a()
{
    OMPP_REGION("a");
    for (volatile long x = 0; x < (long)(20 * unit * scale_a); x = x + 1) {
    } // line of a
}

static void b()
{
    OMPP_REGION("b");
    for (volatile long y = 0; y < (long)(19 * unit * scale_b); y = y + 1) {
    } // line of b
}

int main(int argc, char **argv)
{
    int rounds = 40, numbers = 0;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "a=", 2) == 0) scale_a = 1 - atof(argv[i] + 2);
        else if (strncmp(argv[i], "b=", 2) == 0) scale_b = 1 - atof(argv[i] + 2);
        else if (numbers++ == 0) rounds = atoi(argv[i]);
        else unit = 1000 * atol(argv[i]);
    }
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; i++) {
        std::thread a_thread(a), b_thread(b);
        a_thread.join();
        b_thread.join();
        COZ_PROGRESS_NAMED("round");
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("seconds %.6f\n", seconds.count());
}
