/* What follows single, and which barrier is whose. Lines with a kind behind "//" are looked for in the report: S: SINGLE that nobody waits
 * at, W: SINGLE whose end is waited at, B: BARRIER. WAIT makes threads wait at the next barrier. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
enum { N = 100 };
static int n;
static double a[N];
#define WAIT usleep(omp_get_thread_num() ? 4000 : 0)

static __attribute__((noinline)) void synchronise(void)
{
    WAIT;
#pragma omp barrier // B
    a[1]++;
}

static __attribute__((noinline)) void ends_with_single(void)
{
#pragma omp single // W
    usleep(4000);
}

static __attribute__((noinline)) void goes_on_elsewhere(void)
{
#pragma omp single nowait // S
    n++;
    synchronise();
}

static __attribute__((noinline)) void work(int q)
{
    int k;
#pragma omp single // W
    {
        usleep(4000);
        if (q > 4) n++;
    }
    a[0] += omp_get_thread_num() == 0;
#pragma omp single nowait // S
    n++;
    WAIT;
#pragma omp barrier // B
#pragma omp single nowait // S
    n++;
#pragma omp for // B
    for (int i = 0; i < 2; i++) WAIT;
#pragma omp single nowait // S
    n++;
    for (int i = omp_get_thread_num(); i < N; i += 2) a[i] += i;
#pragma omp barrier // B
#pragma omp single nowait // W
    usleep(4000);
#pragma omp barrier
    /* as it ends, its own call counts, and not that of a team in it */
#pragma omp single // W
    {
#pragma omp parallel num_threads(1)
        {
#pragma omp single nowait // S
            n++;
        }
        usleep(4000);
    }
#pragma omp single copyprivate(k) // W
    k = 5;
    if (k > 5) n++;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2) firstprivate(argc)
        {
            work(argc);
            ends_with_single();
            goes_on_elsewhere();
        }
    }
    printf("%d\n", n);
    return 0;
}
