/* OpenMP programs whose order is decided in ways that are not gone through again (work.h): flagged. And copyprivate, which is followed. */
#include "work.h"

#include <omp.h>

static int thread(void)
{
    return omp_get_thread_num();
}

/* One thread gives all others what it has made: a 3, while the other has done b 2; then c 1. */
static void copied(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < run.rounds; i++) {
        double made = 0;
        if (thread() == 1) region("b", 2);
#pragma omp single copyprivate(made)
        {
            region("a", 3);
            made = i;
        }
        region("c", 1 + 0 * made);
#pragma omp barrier
    }
}

static void looped(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < run.rounds; i++) {
#pragma omp taskloop grainsize(1)
        for (int k = 0; k < 5; k++) region(k < 2 ? "a" : "b", k < 2 ? 2.3 : 0.9);
    }
}

static void at_once(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < run.rounds; i++) {
        for (int k = 0; k < 4; k++) {
#pragma omp task if (k % 2)
            region(k % 2 ? "a" : "b", k % 2 ? 1.7 : 1.1);
        }
#pragma omp taskwait
    }
}

/* The same with one thread: nobody else could run them. */
static void alone(void)
{
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < run.rounds; i++)
        for (int k = 0; k < 4; k++) {
#pragma omp task if (k % 2)
            region(k % 2 ? "a" : "b", k % 2 ? 1.7 : 1.1);
        }
}

static void across(void)
{
#pragma omp parallel num_threads(2)
#pragma omp for ordered(1) schedule(static, 1)
    for (int i = 0; i < 4 * run.rounds; i++) {
        region("a", 1.1);
#pragma omp ordered depend(sink : i - 1)
        region("b", 0.9);
#pragma omp ordered depend(source)
    }
}

/* In a program that was started without OMP_CANCELLATION=true, nothing is cancelled. */
static void cancelled(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel num_threads(2)
#pragma omp for schedule(static, 1)
        for (int k = 0; k < 8; k++) {
            region(k % 2 ? "a" : "b", k % 2 ? 1.3 : 0.7);
            if (k == 4) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
    }
}

static void tested(void)
{
    omp_lock_t lock;

    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 2 * run.rounds; i++) {
        region(thread() ? "b" : "a", thread() ? 1.3 : 1.1);
        while (!omp_test_lock(&lock)) work(0.2);
        region("c", 1.9);
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
}

/* Eight tasks wait for one, more than a task has room for. */
static void awaited(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < run.rounds; i++) {
        int made = 0;
#pragma omp task depend(out : made) shared(made)
        region("a", 2.3);
        for (int k = 0; k < 8; k++) {
#pragma omp task depend(in : made) shared(made)
            region("b", 0.7);
        }
#pragma omp taskwait
    }
}

static const case_t cases[] = {
    {"copied", copied}, {"looped", looped},       {"at_once", at_once}, {"alone", alone},
    {"across", across}, {"cancelled", cancelled}, {"tested", tested},   {"awaited", awaited},
};

int main(int argc, char **argv)
{
    omp_set_dynamic(0);
    return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
