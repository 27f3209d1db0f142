/* libgomp as compilers before GCC 4.9 call it: the first member of a team goes on in the caller. */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>

void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_end(void);
bool GOMP_loop_dynamic_next(long *, long *);
void GOMP_loop_end_nowait(void);

static void count(void *sum)
{
    __sync_fetch_and_add((long *)sum, 1 + omp_get_thread_num());
}

static void add(void *sum)
{
    long from, to;

    while (GOMP_loop_dynamic_next(&from, &to))
        for (; from < to; from++) __sync_fetch_and_add((long *)sum, from);
    GOMP_loop_end_nowait();
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < 5; i++) {
        GOMP_parallel_start(count, &sum, 3);
        count(&sum);
        GOMP_parallel_end();
    }
    GOMP_parallel_loop_dynamic_start(add, &sum, 3, 0, 100, 1, 3);
    add(&sum);
    GOMP_parallel_end();
    printf("%ld\n", sum);
    return 0;
}
