/* Many events of one kind: own_cost.c KIND; "work" has few. Prints something that depends on all of it. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

static double v[1 << 16];
static long sum;
static omp_lock_t lock;

static void do_atomic(void)
{
#pragma omp parallel for
    for (int i = 0; i < 8000000; i++) {
#pragma omp atomic
        v[(i * 7) & 65535] += 1;
    }
}

static void do_critical(void)
{
#pragma omp parallel for
    for (int i = 0; i < 4000000; i++) {
#pragma omp critical
        sum += i;
    }
}

static void do_lock(void)
{
    omp_init_lock(&lock);
    for (int i = 0; i < 4000000; i++) {
        omp_set_lock(&lock);
        sum += i;
        omp_unset_lock(&lock);
    }
}

static void do_task(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2000000; i++) {
#pragma omp task
        v[i & 65535] += 1;
    }
}

__attribute__((noinline)) static long small(long x) { return x * 3 + 1; }

static void do_function(void)
{
    for (long i = 0; i < 8000000; i++) sum += small(i);
}

static void do_work(void)
{
#pragma omp parallel for
    for (int i = 0; i < 200; i++)
        for (int k = 0; k < 1000000; k++) v[i] += k;
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"atomic", do_atomic}, {"critical", do_critical}, {"lock", do_lock},
             {"task", do_task},     {"function", do_function}, {"work", do_work}};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0) kinds[i].run();
    printf("%ld %g\n", sum, v[3]);
    return 0;
}
