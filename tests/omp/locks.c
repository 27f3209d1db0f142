/* OpenMP locks: simple, hand over hand (not nested like brackets), test, and nest locks. */
#include <omp.h>
#include <stdio.h>

enum { CELLS = 5 };

int main(void)
{
    static omp_lock_t lock, held, free_lock, cell[CELLS];
    static omp_nest_lock_t nest;
    long sum = 0, at[CELLS] = {0}, deep = 0;

    omp_init_lock(&lock);
    omp_init_lock(&held);
    omp_init_lock(&free_lock);
    omp_init_nest_lock(&nest);
    if (omp_test_lock(&free_lock))
        omp_set_lock(&held); /* until the end: tests of it fail */
    for (int i = 0; i < CELLS; i++)
        omp_init_lock(&cell[i]);
    /* @parallel */
#pragma omp parallel
    {
        for (int k = 0; k < 20; k++) {
            omp_set_lock(&lock);
            sum += 1;
            omp_unset_lock(&lock);
        }
        omp_set_lock(&cell[0]);
        for (int i = 0; i < CELLS; i++) { /* the next lock is taken before this one is given back */
            at[i] += 1;
            if (i + 1 < CELLS)
                omp_set_lock(&cell[i + 1]);
            omp_unset_lock(&cell[i]);
        }
        for (int k = 0; k < 3; k++)
            if (omp_test_lock(&held))
                sum += 1000;
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        deep += 1;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    } /* @end parallel */
    omp_unset_lock(&held);
    omp_unset_lock(&free_lock);
    omp_destroy_lock(&lock);
    omp_destroy_lock(&held);
    omp_destroy_lock(&free_lock);
    omp_destroy_nest_lock(&nest);
    for (int i = 0; i < CELLS; i++) {
        sum += at[i];
        omp_destroy_lock(&cell[i]);
    }
    printf("%ld %ld\n", sum, deep);
    return 0;
}
