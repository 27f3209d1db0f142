/*
 * Programs with one fault each, and controls without: advice.c NAME. A thread that works for a known time sleeps, so that
 * a busy machine changes little.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void work(double ms)
{
    const struct timespec t = {0, (long)(ms * 1e6)};

    nanosleep(&t, NULL);
}

#define N (1 << 16)
static double data[N];
static long sum;
static omp_lock_t lock;

static void do_loop(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 200; i++) work(5);
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
    for (int r = 0; r < 1000000; r++) {
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

/* One task after the other: while another thread runs it there is nothing else to run. */
static void do_wait_tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 300; i++) {
#pragma omp task
        work(1.5);
        work(0.3);
#pragma omp taskwait
    }
}

static void do_tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; i++) {
#pragma omp task
        work(5);
    }
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static void do_chunks_small(void)
{
    /* one region, long enough for a thread that starts late by milliseconds */
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < 100 * N; i++) data[i % N] = data[i % N] * 0.5 + i;
}

static void do_chunks_small_for(void)
{
#pragma omp parallel
    for (int r = 0; r < 100; r++) {
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

static void do_few_iterations(void)
{
    for (int r = 0; r < 5; r++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 2; i++) work(i ? 5 : 60);
    }
}

static void do_few_chunks(void)
{
#pragma omp parallel
    for (int r = 0; r < 5; r++) {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 3; i++) work(i ? 5 : 60);
    }
}

/* With libgomp the barrier at the end of such a loop is a call like that of a barrier construct. */
static void do_imbalance_static(void)
{
#pragma omp parallel
    for (int r = 0; r < 5; r++) {
#pragma omp for schedule(static)
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

/* Most of the time is work inside, and less is waiting. */
static void do_critical_work(void)
{
#pragma omp parallel
    for (int i = 0; i < 50; i++) {
#pragma omp critical(all)
        work(5);
        work(3);
    }
}

static void do_lock_work(void)
{
    omp_init_lock(&lock);
#pragma omp parallel
    for (int i = 0; i < 50; i++) {
        omp_set_lock(&lock);
        work(5);
        omp_unset_lock(&lock);
        work(3);
    }
}

/* The lock is handed over all the time, and little is done in it. */
static void do_lock_brief(void)
{
    omp_init_lock(&lock);
#pragma omp parallel
    for (int i = 0; i < 2000000; i++) {
        omp_set_lock(&lock);
        sum += i;
        omp_unset_lock(&lock);
    }
}

/* The same with a critical section. */
static void do_critical_brief(void)
{
#pragma omp parallel
    for (int i = 0; i < 2000000; i++) {
#pragma omp critical(all)
        sum += i;
    }
}

static void do_atomic(void)
{
#pragma omp parallel
    for (int i = 0; i < 3000000; i++) {
#pragma omp atomic
        sum++;
    }
}

/* All of an iteration is ordered. */
static void do_ordered(void)
{
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 40; i++) {
#pragma omp ordered
        work(5);
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

static void do_barrier_often(void)
{
#pragma omp parallel
    for (int i = 0; i < 400000; i++) {
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

static void do_master(void)
{
#pragma omp parallel
    {
#pragma omp master
        work(300);
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

static void do_sections_few(void)
{
#pragma omp parallel sections
    {
        work(100);
    }
}

static void do_sections_uneven(void)
{
#pragma omp parallel sections
    {
        work(60);
#pragma omp section
        work(60);
#pragma omp section
        work(60);
    }
}

static void do_tiny_regions(void)
{
    for (int r = 0; r < 20000; r++) {
#pragma omp parallel for
        for (int i = 0; i < 100; i++) data[i] += i * r;
    }
}

/* ---- Controls ---------------------------------------------------------------------------------------------------- */

static void do_loop_static(void)
{
    for (int r = 0; r < 3; r++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 100; i++) work(4);
    }
}

static void do_barrier_even(void)
{
#pragma omp parallel
    for (int i = 0; i < 3; i++) {
        work(200);
#pragma omp barrier
    }
}

static void do_sections_even(void)
{
#pragma omp parallel sections
    {
        work(500);
#pragma omp section
        work(500);
    }
}

static void do_lock_seldom(void)
{
    omp_init_lock(&lock);
#pragma omp parallel
    for (int i = 0; i < 20; i++) {
        work(25);
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
    }
}

static void do_atomic_seldom(void)
{
#pragma omp parallel
    for (int i = 0; i < 200; i++) {
        work(2.5);
#pragma omp atomic
        sum++;
    }
}

static void do_single_nowait(void)
{
#pragma omp parallel
    {
#pragma omp single nowait
        sum++;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 200; i++) work(5);
    }
}

static void do_master_brief(void)
{
#pragma omp parallel
    {
#pragma omp master
        sum++;
        work(500);
    }
}

/* A little of each iteration is ordered. */
static void do_ordered_seldom(void)
{
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 200; i++) {
        work(5);
#pragma omp ordered
        sum++;
    }
}

static void do_chunks(void)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < 6400; i++) work(0.1);
}

/* Nobody waits for the critical section. */
static void do_critical_seldom(void)
{
#pragma omp parallel
    for (int i = 0; i < 20; i++) {
        work(25);
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
        ROW(tasks_large_wait) ROW(wait_tasks) ROW(master) ROW(master_brief) ROW(tasks) ROW(chunks_small)
            ROW(chunks_small_for) ROW(imbalance) ROW(few_iterations) ROW(few_chunks) ROW(imbalance_static)
                ROW(imbalance_region) ROW(critical) ROW(lock) ROW(lock_brief) ROW(critical_brief) ROW(critical_work)
                    ROW(lock_work) ROW(atomic) ROW(ordered) ROW(barrier) ROW(barrier_often) ROW(single) ROW(serial)
                        ROW(sections) ROW(sections_few) ROW(sections_uneven) ROW(tiny_regions) ROW(loop_static)
                            ROW(barrier_even) ROW(sections_even) ROW(lock_seldom) ROW(atomic_seldom) ROW(single_nowait)
                                ROW(ordered_seldom) ROW(chunks) ROW(critical_seldom)};

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
