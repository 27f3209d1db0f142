/*
 * Programs whose threads do not meet for long, or whose pieces with clocks are unlike the run.
 *   early  functions that run once, then one loop in which two functions do all the work, three parts and one part
 *   apart  the same start; then one thread works for twice as long as the other, each in a function of its own
 *   begins one function in short teams; when clocks are suspended for longer than the run will last, another one takes over
 *   locks  serial work beside a loop with a very short critical section: prints which part of the run is serial
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#define QUIET __attribute__((no_instrument_function))
#define REGION __attribute__((noinline))

static volatile double sink;
static int arrived;

static QUIET double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static QUIET void work(double seconds)
{
    const double begin = now();

    while (now() - begin < seconds) sink = sink + 1;
}

#define ONCE(i) \
    REGION void once_##i(void) { work(0.002); }
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(18) f(19)
EACH(ONCE)

REGION void slow(void) { work(3e-6); }
REGION void fast(void) { work(1e-6); }
REGION void longer(void) { work(50e-6); }
REGION void shorter(void) { work(50e-6); }
REGION void first(void) { work(4e-3); }
REGION void later(void) { work(5e-3); }

static QUIET void begin_all(void)
{
#define CALL(i) once_##i();
    EACH(CALL)
}

static QUIET void early(void)
{
    begin_all();
#pragma omp parallel for num_threads(2) schedule(static)
    for (int i = 0; i < 400000; i++) {
        slow();
        fast();
    }
}

static QUIET void apart(void)
{
    begin_all();
#pragma omp parallel num_threads(2)
    {
        const double begin = now();
        int first = 0;
#pragma omp atomic capture
        first = arrived++;
        while (now() - begin < (first ? 1.6 : 0.8)) {
            if (first) longer();
            else shorter();
        }
    }
}

static QUIET void begins(void)
{
    for (int i = 0; i < 30; i++) {
#pragma omp parallel num_threads(2)
        first();
    }
    for (int i = 0; i < 70; i++) {
#pragma omp parallel num_threads(2)
        later();
    }
}

static QUIET void locks(void)
{
    const double begin = now();
    double serial = 0;
    long n = 0;

    for (int step = 0; step < 60; step++) {
        const double t = now();
        while (now() - t < 0.012) continue;
        serial += now() - t;
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 60000; i++) {
#pragma omp critical
            n++;
        }
    }
    printf("serial %.4f\n", serial / (now() - begin));
}

int QUIET main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "early") == 0) early();
    else if (argc > 1 && strcmp(argv[1], "apart") == 0) apart();
    else if (argc > 1 && strcmp(argv[1], "begins") == 0) begins();
    else locks();
    return 0;
}
