// Directives as attributes. A compiler that does not know them makes a serial program, with the same result.
#include <cstdio>
#include <omp.h>

int main()
{
    int n = 0, sum = 0;
    [[maybe_unused]] int list[] = {1, 2};

    /* @loop */
    [[omp::directive(parallel for, reduction(+ : sum), schedule(static))]]
    for (int i = 0; i < 10; i++) sum += i;
    /* @sequence */
    [[omp::sequence(directive(parallel), omp::directive(for, reduction(+ : sum)))]]
    for (int i = 0; i < 10; i++) {
        sum += i;
    }
    /* @using */
    [[using omp : directive(parallel num_threads(2))]]
    {
        /* @single */
        [[omp::directive(single)]] n += list[1];
        /* @barrier */
        [[omp::directive(barrier)]];
    }
    std::printf("%d %d\n", n, sum);
    return 0;
}
