/*
 * OpenMP programs that are really changed (work.h): each case as it is, and with "changed" as an ideal one would be, or as a user would
 * mend it. As many threads as OMP_NUM_THREADS says.
 */
#include "work.h"

#include <omp.h>

enum { TINY = 4000, CELLS = 64 };

static int team(void)
{
    return omp_get_max_threads();
}

/* Thread t of n: from 0 to 1. */
static double rise(int t, int n)
{
    return n > 1 ? (double)t / (n - 1) : 0;
}

/* A piece of work, of some 10 ns each. */
static double crunch(int n)
{
    double x = 1;

    for (int i = 0; i < n; i++) {
        x = x * 0.999 + 0.001 / x;
        __asm__ volatile("" : "+x"(x));
    }
    return x;
}

static _Thread_local volatile double sink;

/* ---- Balanced teams ---------------------------------------------------------------------------------------------- */

/* Two iterations of each thread; those of later threads take longer. */
static void loop(void)
{
    const int n = team();

    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel for schedule(static)
        for (int j = 0; j < 2 * n; j++) work(run.changed ? 2 : 1 + 2 * rise(j / 2, n));
    }
}

/* Two or four threads. */
static void sections(void)
{
    static const double ms[] = {6, 2, 3, 5};

    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel sections num_threads(team() < 4 ? 2 : 4)
        {
#pragma omp section
            work(run.changed ? 4 : ms[0]);
#pragma omp section
            work(run.changed ? 4 : ms[1]);
#pragma omp section
            work(run.changed ? 4 : ms[2]);
#pragma omp section
            work(run.changed ? 4 : ms[3]);
        }
    }
}

/* In one region always the same thread is late, in another one each in turn, in a third one a barrier in the middle waits for it. */
static void regions(void)
{
    const int n = team();

    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel
        work(run.changed ? 2 + 2.0 / n : omp_get_thread_num() == 0 ? 4 : 2);
#pragma omp parallel
        work(run.changed ? 1 + 3.0 / n : omp_get_thread_num() == i % n ? 4 : 1);
#pragma omp parallel
        {
            work(run.changed ? 2 : 1 + 2 * rise(omp_get_thread_num(), n));
#pragma omp barrier
            work(1);
        }
    }
}

/* ---- Locks ------------------------------------------------------------------------------------------------------- */

static void critical(void)
{
#pragma omp parallel
    for (int i = 0; i < run.rounds; i++) {
        for (int j = 0; j < 2; j++) {
            work(1.7);
            if (run.changed) {
                work(1.1);
            } else {
#pragma omp critical(one)
                work(1.1);
            }
        }
#pragma omp barrier
    }
}

/* Two locks, or two for each thread. */
static void locks(void)
{
    enum { MOST = 256 };
    static omp_lock_t all[2 * MOST];

    for (int k = 0; k < 2 * MOST; k++) omp_init_lock(&all[k]);
#pragma omp parallel
    for (int i = 0; i < run.rounds; i++) {
        for (int j = 0; j < 4; j++) {
            omp_lock_t *own = &all[j % 2 + (run.changed ? 2 * (omp_get_thread_num() % MOST) : 0)];
            work(0.7);
            omp_set_lock(own);
            work(0.9);
            omp_unset_lock(own);
        }
#pragma omp barrier
    }
}

/* Threads that have more to do outside come to the critical section late: without it they are waited for. */
static void uneven(void)
{
    const int n = team();

    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel
        {
            work(1 + 2 * rise(omp_get_thread_num(), n));
            if (run.changed) {
                work(1.5);
            } else {
#pragma omp critical(two)
                work(1.5);
            }
        }
    }
}

/* Most waits for the first section; of the second one it is known too. changed: the first one has gone. */
static void two_sections(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel
        {
            work(1);
            if (run.changed) {
                work(1.2);
            } else {
#pragma omp critical(large)
                work(1.2);
            }
            work(2.1);
#pragma omp critical(small)
            work(0.2);
        }
    }
}

/* ---- The runtime's cost ------------------------------------------------------------------------------------------ */

static void forks(void)
{
    if (run.changed) {
#pragma omp parallel
        for (int i = 0; i < run.rounds * TINY; i++) sink = crunch(1500);
        return;
    }
    for (int i = 0; i < run.rounds * TINY; i++) {
#pragma omp parallel
        sink = crunch(1500);
    }
}

static void barriers(void)
{
#pragma omp parallel
    for (int i = 0; i < run.rounds * TINY; i++) {
        sink = crunch(1500);
        if (!run.changed) {
#pragma omp barrier
        }
    }
}

static void chunks(void)
{
    const int n = 5000 * team();

    for (int i = 0; i < run.rounds; i++) {
        if (run.changed) {
#pragma omp parallel for schedule(dynamic, 1000)
            for (int j = 0; j < n; j++) sink = crunch(4);
        } else {
#pragma omp parallel for schedule(dynamic, 1)
            for (int j = 0; j < n; j++) sink = crunch(4);
        }
    }
}

static void tasks(void)
{
    const int n = 1000 * team(), each = run.changed ? 250 : 1;

    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel
#pragma omp single
        for (int j = 0; j < n; j += each) {
#pragma omp task firstprivate(each)
            for (int k = 0; k < each; k++) sink = crunch(400);
        }
    }
}

/* ---- Programs as users mend them --------------------------------------------------------------------------------- */

/* A sum in a critical section, or one of each thread. */
static void sum(void)
{
    const int n = 20000;
    double all = 0;

    for (int i = 0; i < run.rounds; i++) {
        if (run.changed) {
#pragma omp parallel for schedule(static) reduction(+ : all)
            for (int j = 0; j < n; j++) all += crunch(4);
        } else {
#pragma omp parallel for schedule(static)
            for (int j = 0; j < n; j++) {
                const double x = crunch(4);
#pragma omp critical(sum)
                all += x;
            }
        }
    }
    sink = all;
}

/* One lock of a table, or one of each cell. */
static void striped(void)
{
    static omp_lock_t of[CELLS * 16];
    static double cells[CELLS * 16];
    const int n = 200 * team();

    for (int k = 0; k < CELLS; k++) omp_init_lock(&of[k * 16]);
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel for schedule(static)
        for (int j = 0; j < n; j++) {
            const unsigned chance = (unsigned)(i * n + j) * 2654435761u >> 16;
            const int cell = (int)(chance % CELLS) * 16;
            omp_lock_t *own = &of[run.changed ? cell : 0];
            sink = crunch(200 + (int)(chance % 1200));
            omp_set_lock(own);
            cells[cell] += crunch(700);
            omp_unset_lock(own);
        }
    }
}

/* Threads take the next number from a counter in a critical section, one by one or many at once. */
static void queue(void)
{
    const int n = 1000 * team(), each = run.changed ? 50 : 1;

    for (int i = 0; i < run.rounds; i++) {
        int next = 0;
#pragma omp parallel
        for (int begin = 0; begin < n;) {
#pragma omp critical(next)
            {
                begin = next;
                next += each;
            }
            for (int j = begin; j < begin + each && j < n; j++) sink = crunch(400);
        }
    }
}

/* Iterations that take longer and longer, in equal shares, or as threads have time. */
static void schedule(void)
{
    const int n = 40 * team();

    for (int i = 0; i < run.rounds; i++) {
        if (run.changed) {
#pragma omp parallel for schedule(dynamic, 2)
            for (int j = 0; j < n; j++) work(0.2 * j / n);
        } else {
#pragma omp parallel for schedule(static)
            for (int j = 0; j < n; j++) work(0.2 * j / n);
        }
    }
}

/* A loop that is too small for a team, beside one that is large enough. changed: one thread does it, without a directive. */
static void alone(void)
{
    static volatile int cells[CELLS];

    for (int i = 0; i < run.rounds * TINY; i++) {
#pragma omp parallel
        sink = crunch(1500);
        if (run.changed) {
            for (int j = 0; j < CELLS; j++) cells[j] = j;
        } else {
#pragma omp parallel for schedule(static)
            for (int j = 0; j < CELLS; j++) cells[j] = j;
        }
    }
}

/* The same by a clause: what libgomp does for a team of one stays. */
static void by_clause(void)
{
    static volatile int cells[CELLS];

    for (int i = 0; i < run.rounds * TINY; i++) {
#pragma omp parallel
        sink = crunch(1500);
#pragma omp parallel for schedule(static) if (!run.changed)
        for (int j = 0; j < CELLS; j++) cells[j] = j;
    }
}

/* Functions that do next to nothing; or inlined. */
__attribute__((noinline)) int tiny_add(int a, int b);
int tiny_add(int a, int b)
{
    __asm__ volatile("");
    return a + b;
}

__attribute__((noinline)) void tiny_calls(void);
void tiny_calls(void)
{
    int n = 0;

    for (int j = 0; j < 20000; j++) {
        n = run.changed ? n + j : tiny_add(n, j);
        __asm__ volatile("" : "+r"(n));
    }
    sink = n;
}

static void functions(void)
{
    const int n = 20 * team();

    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel for schedule(static)
        for (int j = 0; j < n; j++) tiny_calls();
    }
}

static const case_t cases[] = {
    {"loop", loop},         {"sections", sections}, {"regions", regions},     {"critical", critical},  {"locks", locks},
    {"uneven", uneven},     {"two", two_sections},  {"forks", forks},         {"barriers", barriers},  {"chunks", chunks},
    {"tasks", tasks},       {"sum", sum},           {"striped", striped},     {"queue", queue},        {"schedule", schedule},
    {"alone", alone},       {"clause", by_clause},  {"functions", functions},
};

int main(int argc, char **argv)
{
    omp_set_dynamic(0);
    /* threads that are there before the clock runs */
#pragma omp parallel
    sink = 0;
    return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
