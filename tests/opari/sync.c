/* Synchronisation in all its forms. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int x = 0, v = 0, w, max = 0, order = 0, good = 0, here = 0, total = 0;
    int row[33] = {1};

    /* @parallel */
#pragma omp parallel private(v, w) reduction(+ : total)
    {
        /* @update */
#pragma omp atomic
        x++;
        /* @read */
#pragma omp atomic read seq_cst
        v = x;
        /* @write */
#pragma omp atomic write hint(omp_sync_hint_none)
        here = 1;
        /* @capture */
#pragma omp atomic capture
        {
            w = x;
            x += 2;
        }
        /* @capture1 */
#pragma omp atomic capture release
        w = x++;
        /* @compare */
#pragma omp atomic compare
        if (max < 7) { max = 7; }
        /* @compare2 */
#pragma omp atomic compare
        max = max < 8 ? 8 : max;
        /* @flush */
#pragma omp flush
        /* @flushlist */
#pragma omp flush(x, here)
        /* @acquire */
#pragma omp flush acq_rel
        for (int i = 0; i < 3; i++) {
            /* @named */
#pragma omp critical(name) hint(omp_sync_hint_contended)
            total += (v > 0) + (w > 0) - 2;
        }
        /* @barrier */
#pragma omp barrier
        /* @masked */
#pragma omp masked filter(omp_get_num_threads() - 1)
        good += 1;
#pragma omp barrier
        /* @scope */
#pragma omp scope reduction(+ : good)
        good += 10;
        /* @nowait */
#pragma omp scope nowait
        total += 1;
        /* @loop */
#pragma omp loop bind(parallel)
        for (int i = 0; i < 8; i++) ;
        /* @for */
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 8; i++)
            /* @ordered */
#pragma omp ordered threads
            order = 2 * order + i % 2;
        /* @doacross */
#pragma omp for ordered(1)
        for (int i = 1; i < 33; i++) {
            /* @sink */
#pragma omp ordered depend(sink : i - 1)
            row[i] = row[i - 1] + 1;
            /* @source */
#pragma omp ordered depend(source)
        }
        /* @simd */
#pragma omp for simd
        for (int i = 1; i < 33; i++) {
#pragma omp ordered simd
            here++;
        }
    }
    printf("%d %d %d %d %d %d\n", x, max, good, order, total, row[32]);
    return 0;
}
