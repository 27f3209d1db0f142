/* Many events of one kind: own_cost.c KIND; those of "work" have few. Prints something that depends on all of it. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
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

/* Each thread makes its own tasks. */
static long tree(int depth)
{
    long a = 0, b = 0;

    if (depth == 0) return 1;
#pragma omp task shared(a)
    a = tree(depth - 1);
#pragma omp task shared(b)
    b = tree(depth - 1);
#pragma omp taskwait
    return a + b;
}

static void do_tree(void)
{
#pragma omp parallel
#pragma omp single
    sum = tree(19);
}

__attribute__((noinline)) static long small(long x) { return x * 3 + 1; }

static void do_function(void)
{
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < 8000000; i++) sum += small(i);
}

__attribute__((noinline)) static long nested(int n) { return n < 2 ? n : nested(n - 1) + nested(n - 2); }

static void do_nested(void)
{
#pragma omp parallel reduction(+ : sum)
    sum += nested(31);
}

/* A lock for each thread, and data of its own. */
static void do_lock_own(void)
{
#pragma omp parallel reduction(+ : sum)
    {
        omp_lock_t own;
        omp_init_lock(&own);
        for (int i = 0; i < 4000000; i++) {
            omp_set_lock(&own);
            sum += i;
            omp_unset_lock(&own);
        }
        omp_destroy_lock(&own);
    }
}

/* One lock for all. */
static void do_lock_shared(void)
{
    omp_init_lock(&lock);
#pragma omp parallel for
    for (int i = 0; i < 4000000; i++) {
        omp_set_lock(&lock);
        sum += i;
        omp_unset_lock(&lock);
    }
}

static void do_regions(void)
{
    for (int r = 0; r < 100000; r++) {
#pragma omp parallel for
        for (int i = 0; i < 64; i++) v[i * 64] += r;
    }
}

static void do_loops(void)
{
#pragma omp parallel
    for (int r = 0; r < 2000000; r++) {
#pragma omp for nowait
        for (int i = 0; i < 64; i++) v[i * 64] += r;
    }
}

static void do_chunks(void)
{
    for (int r = 0; r < 200; r++) {
#pragma omp parallel for schedule(dynamic, 4)
        for (int i = 0; i < 1 << 18; i++) v[i & 65535] += r;
    }
}

/* A rank that sends to itself, so that nobody waits. */
static void do_messages(void)
{
#ifdef WITH_MPI
    double from = 1, to;

    MPI_Init(NULL, NULL);
    for (int i = 0; i < 3000000; i++)
        MPI_Sendrecv(&from, 1, MPI_DOUBLE, 0, 1, &to, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
#endif
}

/* Local calls are counted, not timed: some ns each. */
static void do_local(void)
{
#ifdef WITH_MPI
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 2000000; i++) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        for (int k = 0; k < 200; k++) v[rank] += k;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
#endif
}

/* ---- Few events -------------------------------------------------------------------------------------------------- */

static void turn(int i)
{
    for (int k = 0; k < 3000000; k++) v[i * 64] += k;
}

static void do_work(void)
{
#pragma omp parallel for
    for (int i = 0; i < 200; i++) turn(i);
}

static void do_work_dynamic(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 200; i++) turn(i);
}

static void do_work_task(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; i++) {
#pragma omp task
        turn(i);
    }
}

static void do_work_critical(void)
{
#pragma omp parallel for
    for (int i = 0; i < 200; i++) {
        turn(i);
#pragma omp critical
        sum += i;
    }
}

static void do_work_lock(void)
{
    omp_init_lock(&lock);
#pragma omp parallel for
    for (int i = 0; i < 200; i++) {
        turn(i);
        omp_set_lock(&lock);
        sum += i;
        omp_unset_lock(&lock);
    }
}

static void do_work_atomic(void)
{
#pragma omp parallel for
    for (int i = 0; i < 200; i++) {
        turn(i);
#pragma omp atomic
        sum += i;
    }
}

static void do_work_barrier(void)
{
#pragma omp parallel
    for (int i = 0; i < 100; i++) {
        turn(omp_get_thread_num());
#pragma omp barrier
    }
}

static void do_work_regions(void)
{
    for (int r = 0; r < 50; r++) {
#pragma omp parallel for
        for (int i = 0; i < 4; i++) turn(i);
    }
}

static void do_work_sections(void)
{
    for (int r = 0; r < 50; r++) {
#pragma omp parallel sections
        {
            turn(0);
#pragma omp section
            turn(1);
        }
    }
}

static void do_work_serial(void)
{
    for (int i = 0; i < 200; i++) turn(i);
#pragma omp parallel
    turn(omp_get_thread_num());
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
#define ROW(name) {#name, do_##name},
    ROW(atomic) ROW(critical) ROW(lock) ROW(task) ROW(tree) ROW(function) ROW(nested) ROW(lock_own) ROW(lock_shared)
        ROW(regions) ROW(loops) ROW(chunks) ROW(messages) ROW(local) ROW(work) ROW(work_dynamic) ROW(work_task)
            ROW(work_critical) ROW(work_lock) ROW(work_atomic) ROW(work_barrier) ROW(work_regions) ROW(work_sections)
                ROW(work_serial)};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0) kinds[i].run();
    printf("%ld %g\n", sum, v[3]);
    return 0;
}
