/* OpenMP that hooks must not disturb: tasks with dependences, groups, loops, reductions, threadprivate, locks. Prints results. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

static long grid[N][N], order[3 * N];
static int own;
#pragma omp threadprivate(own)

static long fib(int n)
{
    long a, b;

    if (n < 2) return n;
#pragma omp task shared(a) if (n > 5)
    a = fib(n - 1);
#pragma omp task shared(b) if (n > 5)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void wave(void)
{
    for (int i = 1; i < N; i++)
        for (int j = 1; j < N; j++) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1]) depend(out : grid[i][j])
            grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 1000003;
        }
#pragma omp taskwait
}

int main(void)
{
    long f = 0, sum = 0, most = 0, loops = 0;
    omp_lock_t lock;

    for (int i = 0; i < N; i++) grid[i][0] = grid[0][i] = i + 1;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
    {
        own = omp_get_thread_num();
#pragma omp single
        {
            f = fib(15);
            wave();
#pragma omp taskgroup
            for (int i = 0; i < 3 * N; i++) {
#pragma omp task firstprivate(i) shared(order)
                {
                    long v = i;
#pragma omp taskyield
                    order[i] = v * v;
                }
            }
#pragma omp taskloop grainsize(7) shared(loops)
            for (int i = 0; i < 100; i++) {
#pragma omp atomic
                loops += i;
            }
        }
#pragma omp for reduction(+ : sum) reduction(max : most) schedule(dynamic, 3) nowait
        for (int i = 0; i < 3 * N; i++) {
            sum += order[i];
            if (order[i] > most) most = order[i];
        }
        omp_set_lock(&lock);
        loops += own;
        omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp sections
        {
#pragma omp section
#pragma omp critical
            loops += 1000;
#pragma omp section
#pragma omp critical
            loops += 2000;
        }
    }
    omp_destroy_lock(&lock);
    printf("%ld %ld %ld %ld %ld\n", f, grid[N - 1][N - 1], sum, most, loops);
    return 0;
}
