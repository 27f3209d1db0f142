/* default(none) on constructs that OPARI2 does not know: what is called inside must need no clause. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int n = 0, m = 0;

    /* @teams */
#pragma omp teams default(none) shared(n) num_teams(1)
    {
        /* @parallel */
#pragma omp parallel default(none) shared(n) num_threads(2)
        {
            /* @atomic */
#pragma omp atomic
            n++;
#pragma omp barrier
            /* @single */
#pragma omp single
            {
                /* @taskloop */
#pragma omp taskloop default(none) shared(n) num_tasks(2)
                for (int i = 0; i < 2; i++) {
                    /* @inner */
#pragma omp critical
                    n += 10;
                }
                /* @task */
#pragma omp task default(none) shared(n)
                {
                    /* @masked */
#pragma omp atomic update
                    n += 100;
                }
            }
        }
    }
    /* @combined */
#pragma omp parallel master taskloop default(none) shared(m) num_tasks(4)
    for (int i = 0; i < 4; i++) {
        /* @update */
#pragma omp atomic
        m++;
    }
    printf("%d %d\n", n, m);
    return 0;
}
