/* Directives whose first and last lines compare_opari.py compares with those of OPARI2. Never run. */
#include <stdio.h>
static int sum;
static inline int work(int x) {
    return x * 2;
}
int main(void)
{
    int i;
#pragma omp parallel
    {
        sum += work(1);
    }
#pragma omp parallel \
    num_threads(2) \
    private(i)
    {
        for (i = 0; i < 3; i++)
            sum += i;
    }
#pragma omp parallel
    sum += work(3);
#pragma omp parallel
    printf("%d\n",
           sum);

#pragma omp parallel
    for (i = 0; i < 3; i++)
        sum++;
#pragma omp parallel
#pragma omp critical
    sum++;
#pragma omp parallel
    {
#pragma omp critical (foo)
        {
            sum++;
        }
#pragma omp critical
        sum = work(
            sum);
#pragma omp single
        {
            sum++;
        }
#pragma omp single nowait
        printf("x");
#pragma omp master
        {
            sum--;
        }
#pragma omp master
        sum--;
#pragma omp for
        for (int j = 0; j < 10; j++)
            sum += j;
#pragma omp parallel
        {
            sum++;
#pragma omp parallel
            {
                sum++;
            }

        }
#pragma omp task
        {
            sum++;
        }
#pragma omp sections
        {
#pragma omp section
            sum++;
#pragma omp section
            sum++;
        }
        if (sum)
        {
#pragma omp single
            if (sum) {
                sum++;
            } else {
                sum--;
            }
        }
    }
#pragma omp parallel for
    for (i = 0; i < 10; i++)
        sum += i;
#pragma omp parallel for
    for (i = 0; i < 10; i++) {
        sum += i;
    }
#pragma omp parallel
    {
        sum++;
        if (sum) {
            sum++;
        }
    }
    return 0;
}
