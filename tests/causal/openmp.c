/* OpenMP programs whose regions can be made faster (work.h). Four threads, unless the case says so. */
#include "work.h"

#include <omp.h>

static void balanced(void)
{
#pragma omp parallel
    for (int i = 0; i < run.rounds; i++) {
        region("a", 6);
        region("b", 3);
#pragma omp barrier
    }
}

/* All threads meet one new region after the other, each for the first time at the same moment. */
static void first_met(void)
{
    static const char *const names[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11"};

#pragma omp parallel
    for (int i = 0; i < run.rounds; i++)
        for (unsigned j = 0; j < sizeof names / sizeof names[0]; j++) {
            region(names[j], 0.1);
#pragma omp barrier
        }
}

/* One waits for the slowest of a, then for thread 0 or the others. */
static void imbalanced(void)
{
#pragma omp parallel
    for (int i = 0; i < run.rounds; i++) {
        region("a", 2 + 1.5 * omp_get_thread_num());
        region("b", 2);
#pragma omp barrier
        if (omp_get_thread_num() == 0) region("c", 5);
        else region("d", 4);
#pragma omp barrier
    }
}

/* The region stands at the end of the longest thread: those who came before it must not be counted as savings. */
static void early(void)
{
#pragma omp parallel
    for (int i = 0; i < run.rounds; i++) {
        if (omp_get_thread_num() == 0) {
            work(2);
            region("a", 8);
        } else {
            work(4 + 1.5 * omp_get_thread_num());
        }
#pragma omp barrier
    }
}

static void critical_of(double outside, double inside)
{
#pragma omp parallel
    for (int i = 0; i < run.rounds; i++) {
        for (int j = 0; j < 4; j++) {
            region("a", outside);
#pragma omp critical
            region("b", inside);
        }
#pragma omp barrier
    }
}

static void critical(void)
{
    critical_of(4.3, 1.9);
}

/*
 * Threads come to the critical section when another one leaves it, again and again: whether the one that has waited wakes up before them
 * is decided within microseconds.
 */
static void ties(void)
{
    critical_of(4, 2);
}

/* Thread 0 comes second, and would come first if a were much faster. */
static void first_come(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < run.rounds; i++) {
        if (omp_get_thread_num() == 0) region("a", 5.1);
        else region("b", 3.3);
#pragma omp single
        region("c", 2.9);
    }
}

/* Who has done its part of the first loop goes on with the second; with b in no time that is thread 0 alone. */
static void nowaits(void)
{
#pragma omp parallel num_threads(3)
    for (int i = 0; i < run.rounds; i++) {
#pragma omp for schedule(static, 1) nowait
        for (int j = 0; j < 3; j++) region("a", 1.3 + 1.7 * j);
#pragma omp for schedule(dynamic, 1) nowait
        for (int j = 0; j < 7; j++) region("b", 1.9);
#pragma omp for schedule(static, 1)
        for (int j = 0; j < 3; j++) region("c", 2.6 - 0.7 * j);
    }
}

static void sections(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel sections num_threads(2)
        {
#pragma omp section
            region("a", 4.3);
#pragma omp section
            region("b", 1.9);
#pragma omp section
            region("c", 2.7);
#pragma omp section
            region("d", 3.4);
        }
    }
}

static void lock(void)
{
    omp_lock_t locks[2];

    omp_init_lock(&locks[0]);
    omp_init_lock(&locks[1]);
#pragma omp parallel
    for (int i = 0; i < run.rounds; i++) {
        for (int j = 0; j < 4; j++) {
            region("a", 3);
            omp_set_lock(&locks[j % 2]);
            region("b", 2);
            omp_unset_lock(&locks[j % 2]);
        }
#pragma omp barrier
    }
    omp_destroy_lock(&locks[0]);
    omp_destroy_lock(&locks[1]);
}

/* In a run of 20 rounds, 10,000 short intervals in which two threads hold a lock. */
static void intervals(void)
{
    omp_lock_t l;

    omp_init_lock(&l);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < run.rounds; i++) {
        for (int j = 0; j < 250; j++) {
            region("a", 0.03);
            omp_set_lock(&l);
            region("b", 0.01);
            omp_unset_lock(&l);
        }
#pragma omp barrier
    }
    omp_destroy_lock(&l);
}

static void dynamic(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int j = 0; j < 24; j++) {
            if (j % 3 == 0) region("a", 5);
            else region("b", 2);
        }
    }
}

/* As dynamic, and 30 times as short. */
static void short_loops(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
        for (int j = 0; j < 12; j++) {
            if (j % 3 == 0) region("a", 0.06);
            else region("b", 0.02);
        }
    }
}

static void guided(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel for schedule(guided)
        for (int j = 0; j < 48; j++) {
            if (j < 12) region("a", 2);
            else region("b", 1);
        }
    }
}

static void tasks(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel
#pragma omp single
        {
            for (int j = 0; j < 24; j++) {
#pragma omp task firstprivate(j)
                {
                    if (j % 3 == 0) region("a", 5);
                    else region("b", 2);
                }
            }
#pragma omp taskwait
        }
    }
}

/* Two threads, each with a team of two: the outer one waits for the slower team. */
static void nested(void)
{
    omp_set_max_active_levels(2);
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel num_threads(2)
        {
            const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
            {
                if (outer == 0) region("a", 6 + 2 * omp_get_thread_num());
                else region("b", 5);
            }
            if (outer == 1) region("c", 1);
        }
    }
}

static void serial(void)
{
    for (int i = 0; i < run.rounds; i++) {
        region("a", 4);
#pragma omp parallel
        region("b", 2 + 0.5 * omp_get_thread_num());
    }
}

/* Most of it is in no region. */
static void outside(void)
{
    for (int i = 0; i < run.rounds; i++) {
        work(scaled("(outside regions)", 6));
#pragma omp parallel
        region("a", 2);
    }
}

/* One region after the other, and a progress point behind each: a unit of work has one of them in it. */
static void phases(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const double ms[] = {15, 25, 10, 20};

    for (int i = 0; i < 4 * run.rounds; i++) {
        region(names[i % 4], ms[i % 4]);
        OMPP_PROGRESS("phase");
    }
}

/* Two threads; COZ's Figure 1. */
static void figure1(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0) region("a", 20);
            else region("b", 19);
        }
    }
}

/* Two threads. A request of thread 0 takes 5 of the 8 ms of a round, and waits for d in them, not for a; c is not in it. */
static void latency(void)
{
    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel num_threads(2)
        {
            const int thread = omp_get_thread_num();
            if (thread == 0) OMPP_BEGIN("request");
            if (thread == 0) region("a", 2);
            else region("d", 4);
#pragma omp barrier
            if (thread == 0) {
                region("b", 1);
                OMPP_END("request");
                region("c", 3);
            }
        }
        OMPP_PROGRESS("round");
    }
}

/* 10 us at once: far more events than clocks can be kept for. Thread 0 does a in turn with thread 1's b, which it shares for 30 ms only. */
static void often_at_first(void)
{
    const int64_t begin = now_ns();

#pragma omp parallel num_threads(2)
    for (int i = 0; i < 1500 * run.rounds; i++) {
        const int thread = omp_get_thread_num();
        if (thread == 0) region("a", 0.01);
#pragma omp barrier
        if (thread == 1 || now_ns() - begin < 30000000) region("b", 0.01);
#pragma omp barrier
    }
}

/* Threads meet twice in a unit of 15 ms: where it is over, and in its middle. */
static void two_steps(void)
{
    for (int i = 0; i < run.rounds; i++)
#pragma omp parallel
    {
#pragma omp single
        region("a", 8);
        region("b", 7);
    }
}

/* The same with a point in the middle, which one thread passes while the others work. They wait for a: so much that experiments have to rest. */
static void passed(void)
{
#pragma omp parallel
    for (int i = 0; i < run.rounds; i++) {
        if (omp_get_thread_num() == 0) {
            region("a", 8);
            OMPP_PROGRESS("middle");
        } else {
            work(8);
        }
        region("b", 7);
#pragma omp barrier
    }
}

static const case_t cases[] = {
    {"balanced", balanced}, {"phases", phases}, {"imbalanced", imbalanced}, {"early", early},   {"critical", critical}, {"lock", lock},     {"intervals", intervals}, {"dynamic", dynamic},
    {"short", short_loops},
    {"guided", guided},     {"tasks", tasks},           {"nested", nested}, {"serial", serial},     {"figure1", figure1}, {"outside", outside},
    {"latency", latency},   {"often_at_first", often_at_first}, {"met", first_met},       {"ties", ties},
    {"single", first_come}, {"sections", sections}, {"nowaits", nowaits},   {"steps", two_steps},   {"passed", passed},
};

int main(int argc, char **argv)
{
    omp_set_dynamic(0);
    if (!getenv("OMP_NUM_THREADS")) omp_set_num_threads(4);
    return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
