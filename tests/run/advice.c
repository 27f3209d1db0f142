/*
 * Programs with one fault each, and controls without: advice.c NAME. What works does so for a known time, by the clock of the
 * processor, so that a busy machine changes little.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void work(double ms)
{
    const double end = cpu_now() + ms;

    while (cpu_now() < end) continue;
}

#define N (1 << 16)
static double data[N];
static long sum;
static omp_lock_t lock;

static void do_loop(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 200; i++) work(2);
}

/* ---- Teams of one ------------------------------------------------------------------------------------------------ */

static void do_one_loop(void)
{
    for (int r = 0; r < 100000; r++) {
#pragma omp parallel for num_threads(1)
        for (int i = 0; i < 100; i++) data[i] += i * r;
    }
}

static void do_one_all(void)
{
    omp_init_lock(&lock);
    for (int r = 0; r < 30000; r++) {
#pragma omp parallel num_threads(1)
        {
#pragma omp for
            for (int i = 0; i < 100; i++) data[i] += i * r;
#pragma omp critical
            sum++;
#pragma omp atomic
            sum++;
            omp_set_lock(&lock);
            sum++;
            omp_unset_lock(&lock);
#pragma omp single
            sum++;
#pragma omp master
            sum++;
#pragma omp barrier
#pragma omp sections
            {
                sum++;
#pragma omp section
                sum++;
            }
        }
    }
}

/* Inner teams of one in a team of two: nobody waits. */
static void do_one_inner(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel for schedule(dynamic, 100) num_threads(2)
    for (int r = 0; r < 200000; r++) {
#pragma omp parallel num_threads(1)
        {
            long mine = 0;
#pragma omp for
            for (int i = 0; i < 500; i++) mine += i * r;
#pragma omp barrier
#pragma omp single
            data[0] = (double)mine;
        }
    }
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static long leaf(long n)
{
    long s = 0;

    for (int i = 0; i < 20; i++) s += n ^ i;
    return s;
}

static long tree(int depth, long n)
{
    long a = 0, b = 0;

    if (!depth) return leaf(n);
#pragma omp task shared(a)
    a = tree(depth - 1, 2 * n);
#pragma omp task shared(b)
    b = tree(depth - 1, 2 * n + 1);
#pragma omp taskwait
    return a + b;
}

static void do_tasks_fine(void)
{
#pragma omp parallel
#pragma omp single
    sum = tree(17, 1);
}

static void do_tasks_fine_loop(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 300000; i++) {
#pragma omp task
        data[i % N] = (double)leaf(i);
    }
}

static void do_tasks_large(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 3; i++) {
#pragma omp task
        work(100);
    }
}

static void do_tasks_large_wait(void)
{
#pragma omp parallel
    for (int r = 0; r < 5; r++) {
#pragma omp single
        {
#pragma omp task
            work(60);
#pragma omp task
            work(5);
#pragma omp taskwait
        }
    }
}

static void do_tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; i++) {
#pragma omp task
        work(2);
    }
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static void do_chunks_small(void)
{
    for (int r = 0; r < 10; r++) {
#pragma omp parallel for schedule(dynamic, 2)
        for (int i = 0; i < N; i++) data[i] = data[i] * 0.5 + i;
    }
}

static void do_chunks_small_for(void)
{
#pragma omp parallel
    for (int r = 0; r < 10; r++) {
#pragma omp for schedule(runtime)
        for (int i = 0; i < N; i++) data[i] = data[i] * 0.5 + i;
    }
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static void do_imbalance(void)
{
    for (int r = 0; r < 5; r++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 4; i++) work(i < 2 ? 30 : 5);
    }
}

static void do_imbalance_region(void)
{
#pragma omp parallel
    work(omp_get_thread_num() ? 50 : 200);
}

static void do_critical(void)
{
#pragma omp parallel
    for (int i = 0; i < 100; i++) {
#pragma omp critical(all)
        work(2);
    }
}

static void do_lock(void)
{
    omp_init_lock(&lock);
#pragma omp parallel
    for (int i = 0; i < 100; i++) {
        omp_set_lock(&lock);
        work(2);
        omp_unset_lock(&lock);
    }
}

/* The lock is handed over all the time, and little is done in it. */
static void do_lock_brief(void)
{
    omp_init_lock(&lock);
#pragma omp parallel
    for (int i = 0; i < 300000; i++) {
        omp_set_lock(&lock);
        sum += i;
        omp_unset_lock(&lock);
    }
}

static void do_barrier(void)
{
#pragma omp parallel
    for (int i = 0; i < 10; i++) {
        work(omp_get_thread_num() == i % 2 ? 30 : 5);
#pragma omp barrier
    }
}

static void do_single(void)
{
#pragma omp parallel
    for (int i = 0; i < 5; i++) {
#pragma omp single
        work(40);
    }
}

static void do_serial(void)
{
    work(200);
#pragma omp parallel
    work(20);
}

static void do_sections(void)
{
#pragma omp parallel sections
    {
        work(200);
#pragma omp section
        work(20);
    }
}

static void do_tiny_regions(void)
{
    for (int r = 0; r < 20000; r++) {
#pragma omp parallel for
        for (int i = 0; i < 100; i++) data[i] += i * r;
    }
}

/* Nobody waits for the critical section. */
static void do_critical_seldom(void)
{
#pragma omp parallel
    for (int i = 0; i < 20; i++) {
        work(10);
#pragma omp critical(all)
        sum++;
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
#define ROW(name) {#name, do_##name},
    ROW(loop) ROW(one_loop) ROW(one_all) ROW(one_inner) ROW(tasks_fine) ROW(tasks_fine_loop) ROW(tasks_large)
        ROW(tasks_large_wait) ROW(chunks_small) ROW(chunks_small_for) ROW(tasks) ROW(imbalance) ROW(imbalance_region)
            ROW(critical) ROW(lock) ROW(lock_brief) ROW(barrier) ROW(single) ROW(serial) ROW(sections) ROW(tiny_regions)
                ROW(critical_seldom)};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0) {
            programs[i].run();
            return 0;
        }
    fputs("usage: advice NAME\n", stderr);
    return 1;
}
