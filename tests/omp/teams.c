/* Leagues of teams on the host: teams, distribute, and the combined forms. */
#include <omp.h>
#include <stdio.h>

enum { N = 48 };

int main(void)
{
    long a[N] = {0}, sum = 0, teams = 0;

    /* @teams */
#pragma omp teams num_teams(2) thread_limit(2)
    {
#pragma omp atomic
        teams += 1;
        /* @distribute */
#pragma omp distribute
        for (int i = 0; i < N; i++)
            a[i] += 1;
        /* @inner */
#pragma omp parallel num_threads(2)
        {
#pragma omp atomic
            sum += 100;
        }
    } /* @end teams */
    /* @combined */
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2)
    for (int i = 0; i < N; i++)
        a[i] += 1;
    for (int i = 0; i < N; i++)
        sum += a[i];
    printf("%d\n", sum >= 96 + 100 && teams >= 1);
    return 0;
}
