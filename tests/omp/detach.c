/* Detached tasks: complete when their event is fulfilled, before their code ends, after it, and by another task. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    static omp_event_handle_t late[4];
    long sum = 0, x = 0;

    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            for (int i = 0; i < 3; i++) {
                omp_event_handle_t early;
                /* @early */
#pragma omp task detach(early)
                {
#pragma omp atomic
                    sum += 1;
                    omp_fulfill_event(early);
                }
            }
            for (int i = 0; i < 4; i++) {
                omp_event_handle_t event;
                /* @late */
#pragma omp task detach(event) depend(out : late[i])
                {
#pragma omp atomic
                    sum += 10;
                }
                late[i] = event;
            }
            for (int i = 0; i < 4; i++) {
                /* @after */
#pragma omp task depend(in : late[i])
                {
#pragma omp atomic
                    x += 1;
                }
            }
            for (int i = 0; i < 4; i++) {
                /* @fulfil */
#pragma omp task firstprivate(i)
                {
                    omp_fulfill_event(late[i]);
                }
            }
            /* @wait */
#pragma omp taskwait
        } /* @end single */
    } /* @end parallel */
    printf("%ld %ld\n", sum, x);
    return 0;
}
