/* Locks in variables of all kinds. Their names, as locks.py wants them, stand behind their declarations. */
#include "locks.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    double balance;
    omp_lock_t lock;
    struct {
        int n;
        omp_nest_lock_t deep[2];
    } inner;
};

omp_lock_t global;               /* @global */
static omp_lock_t row[3];        /* @row[1] */
static struct account bank[4];   /* @bank[2].lock */
static struct account *at_bank = &bank[3];

static void use(omp_lock_t *lock, int times)
{
    omp_init_lock(lock);
    for (int i = 0; i < times; i++) {
        omp_set_lock(lock);
        omp_unset_lock(lock);
    }
}

static void in_function(int times)
{
    static omp_lock_t own; /* @in_function::own */
    use(&own, times);
}

int main(void)
{
    omp_lock_t *heap = malloc(sizeof *heap), stack;
    omp_nest_lock_t *nest = &at_bank->inner.deep[1];

    use(&global, 1);
    use(&row[1], 2);
    use(&row[2], 3);
    use(&bank[2].lock, 4);
    in_function(5);
    use(library_lock(), 6);
    use(heap, 7);
    use(&stack, 8);
    omp_init_nest_lock(nest);
    omp_set_nest_lock(nest);
    omp_unset_nest_lock(nest);
#pragma omp parallel
    {
        omp_set_lock(&global);
        omp_unset_lock(&global);
    }
    printf("%g\n", bank[2].balance);
    free(heap);
    return 0;
}
