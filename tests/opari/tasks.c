/* Tasks and what comes with them. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0, chain = 0, red = 0;
    omp_event_handle_t event;

    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            /* @group */
#pragma omp taskgroup task_reduction(+ : red)
            for (int i = 0; i < 6; i++) {
                /* @task */
#pragma omp task in_reduction(+ : red) priority(i) final(i > 4) mergeable
                red += 1;
            }
            /* @depend */
#pragma omp task depend(out : chain)
            chain = 1;
            /* @inout */
#pragma omp task depend(inout : chain) if(task : sum >= 0)
            if (chain == 1) chain = 2;
            else chain = -1;
            /* @undeferred */
#pragma omp task if(0) untied shared(red)
            red += 0;
            /* @waitdepend */
#pragma omp taskwait depend(in : chain)
            /* @detach */
#pragma omp task detach(event)
            omp_fulfill_event(event);
            /* @yield */
#pragma omp taskyield
            /* @wait */
#pragma omp taskwait
            /* @taskloop */
#pragma omp taskloop num_tasks(4) reduction(+ : sum)
            for (int i = 0; i < 40; i++) sum += 10;
            /* @simd */
#pragma omp taskloop simd grainsize(10)
            for (int i = 0; i < 40; i++) ;
        } /* @end single */
        /* @master */
#pragma omp master taskloop reduction(+ : sum)
        for (int i = 0; i < 4; i++) {
            /* @inner */
#pragma omp task shared(sum)
            {
#pragma omp atomic
                sum += 1000;
            }
#pragma omp taskwait
        }
#pragma omp barrier
        /* @masked */
#pragma omp masked taskloop simd filter(0)
        for (int i = 0; i < 4; i++) ;
    } /* @end parallel */
    printf("%ld %ld %ld\n", sum, chain, red);
    return 0;
}
