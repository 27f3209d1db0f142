/* Constructs that are cancelled: what is open then must be closed, and what follows be measured. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int done = 0, found = 0, after = 0;

    /* @parallel */
#pragma omp parallel num_threads(2) reduction(+ : after)
    {
        /* @for */
#pragma omp for schedule(static, 1)
        for (int i = 0; i < 4; i++) {
            if (i < 2) {
#pragma omp atomic write
                found = 1;
            }
#pragma omp cancel for if(i < 2)
#pragma omp cancellation point for
            if (i >= 2) {
                /* @never */
#pragma omp atomic
                done++;
            }
        }
        /* @next */
#pragma omp for
        for (int i = 0; i < 10; i++) after++;
        /* @sections */
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
                /* @never2 */
#pragma omp atomic
                done += 10;
            }
        }
        /* @then */
#pragma omp single
        after++;
    }
    /* @combined */
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int i = 0; i < 2; i++) {
#pragma omp cancel for
        /* @never3 */
#pragma omp atomic
        done += 100;
    }
    /* @team */
#pragma omp parallel num_threads(2)
    {
        /* @critical */
#pragma omp critical
        found++;
#pragma omp barrier
#pragma omp cancel parallel
        done += 1000;
    }
    /* @last */
#pragma omp parallel num_threads(2) reduction(+ : after)
    {
        /* @group */
#pragma omp master
#pragma omp taskgroup
        for (int i = 0; i < 4; i++) {
            /* @task */
#pragma omp task shared(done)
            {
#pragma omp cancel taskgroup
                done += 10000;
            }
        }
        /* @plain */
#pragma omp barrier
        after++;
    }
    printf("%d %d %d\n", done, found, after);
    return 0;
}
