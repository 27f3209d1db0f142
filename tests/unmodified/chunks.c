/*
 * A team begun as compilers before GCC 4.9 begin it, within a loop whose iterations go to who is free: each time that a thread comes for
 * more is told to who follows waiting (runtime/ompp_sync.h; this program puts itself there, when libompp is in the process). Prints the
 * iterations that were handed out one by one, those that were told, and how many threads were told to have come in vain.
 */
#define _GNU_SOURCE
#include "runtime/ompp_sync.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

enum { ITERATIONS = 30, THREADS = 3 };

void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_end(void);
bool GOMP_loop_dynamic_start(long, long, long, long, long *, long *);
bool GOMP_loop_dynamic_next(long *, long *);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);

static int told, in_vain, handed_out;

static void publish(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    (void)object, (void)t;
    if (kind == OMPP_SYNC_CHUNK) __sync_fetch_and_add(&in_vain, 1);
}

static void wait(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    (void)kind, (void)object, (void)t;
}

static void resume(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    (void)object, (void)t;
    if (kind == OMPP_SYNC_CHUNK) __sync_fetch_and_add(&told, 1);
}

static void task(ompp_sync_task_t what, uint64_t which, uint64_t other, ompp_time_t t)
{
    (void)what, (void)which, (void)other, (void)t;
}

static const ompp_sync_subscriber_t follower = {.publish = publish, .wait = wait, .resume = resume, .task = task};

static void inner(void *unused)
{
    (void)unused;
}

static void work(long from, long to)
{
    for (; from < to; from++) {
        __sync_fetch_and_add(&handed_out, 1);
        GOMP_parallel_start(inner, NULL, 2);
        inner(NULL);
        GOMP_parallel_end();
    }
}

static void combined(void *unused)
{
    long from, to;

    (void)unused;
    while (GOMP_loop_dynamic_next(&from, &to)) work(from, to);
    GOMP_loop_end_nowait();
}

static void separate(void *unused)
{
    long from, to;

    (void)unused;
    if (GOMP_loop_dynamic_start(0, ITERATIONS, 1, 1, &from, &to)) do work(from, to);
        while (GOMP_loop_dynamic_next(&from, &to));
    GOMP_loop_end();
}

static void print(const char *what)
{
    printf("%s: %d, told: %d, in vain: %d\n", what, handed_out, told, in_vain);
    handed_out = told = in_vain = 0;
}

int main(void)
{
    const ompp_sync_subscriber_t **subscriber = dlsym(RTLD_DEFAULT, "ompp_sync_subscriber");

    if (subscriber) *subscriber = &follower;
    omp_set_max_active_levels(2);
    GOMP_parallel_loop_dynamic_start(combined, NULL, THREADS, 0, ITERATIONS, 1, 1);
    combined(NULL);
    GOMP_parallel_end();
    print("combined");
    GOMP_parallel_start(separate, NULL, THREADS);
    separate(NULL);
    GOMP_parallel_end();
    print("separate");
    GOMP_parallel(separate, NULL, THREADS, 0);
    print("of GCC 4.9 and later");
    return 0;
}
