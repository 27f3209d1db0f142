/* Tasks that run where they are created: final and what it creates (included tasks), mergeable, if(0) within if(0). */
#include <omp.h>
#include <stdio.h>

static long count;

static void tree(int depth)
{
#pragma omp atomic
    count += 1;
    for (int i = 0; depth > 0 && i < 2; i++) {
        /* @tree */
#pragma omp task final(depth < 3) mergeable
        {
            tree(depth - 1);
        }
    }
    /* @wait */
#pragma omp taskwait
}

int main(void)
{
    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            tree(5);
            /* @outer */
#pragma omp task if (0)
            {
                /* @inner */
#pragma omp task if (0)
                {
#pragma omp atomic
                    count += 100;
                }
            }
        } /* @end single */
    } /* @end parallel */
    printf("%ld\n", count);
    return 0;
}
