/*
 * heat: a hybrid MPI + OpenMP solver of the 2-D heat equation, with four faults put in on purpose, each of known size:
 *
 *   an imbalanced loop     thread t of T works t + 1 units, so the others wait for the last one
 *   a critical section     all threads arrive at the same time and pass one by one
 *   a serial part          one thread of each rank works, outside any parallel region
 *   a late rank            the last rank comes late to MPI_Allreduce; the others wait for it
 *
 * The grid is cut into bands of rows, one per rank. A step is: serial part, halo exchange, sweep, imbalanced loop,
 * critical section, late rank, MPI_Allreduce of the residual. `heat --truth RANKS THREADS [STEPS]` prints what a
 * measurement must find.
 *
 * HEAT_WORK=spin (default) the built-in work burns CPU time: faults have their size when every thread has a core of its
 * own. HEAT_WORK=sleep the built-in work is sleep until absolute times: sizes are right on a busy machine, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS 1000000LL

/* Sizes of the parts of one step, ns. */
static const long long lead = 50 * MS;    /* before the first step */
static const long long serial = 15 * MS;  /* serial part of every rank */
static const long long exchange = 8 * MS; /* time for halo exchange and sweep, whose real length does not matter */
static const long long unit = 20 * MS;    /* imbalanced loop: thread t works (t + 1) units */
/* before and after the critical sections, threads wait for the same moment */
static const long long gather = 4 * MS;
static const long long critical = 10 * MS; /* one pass of the critical section */
static const long long late = 40 * MS;     /* the last rank is late by so much */

enum { ROWS = 64, COLUMNS = 128, STEPS = 10, UP = 1, DOWN = 2 };

typedef struct {
    int rank, ranks, threads, steps, level; /* level: of thread support */
    int rows;                               /* of this rank */
    double *now, *next;                     /* shape [rows + 2][COLUMNS]; row 0 and row rows + 1 are halo */
} heat_t;

static long long base; /* start of the first step, ns of CLOCK_REALTIME; 0 = HEAT_WORK=spin */

static long long clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* The built-in work: until the moment `until` (ns after base), which is `amount` of work when nothing disturbs it. */
static void work(long long until, long long amount)
{
    if (base == 0) {
        long long end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + amount;

        while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
            ;
        return;
    }
    struct timespec t = {(base + until) / (1000 * MS), (base + until) % (1000 * MS)};

    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void exchange_halo(const heat_t *h)
{
    int up = h->rank > 0 ? h->rank - 1 : MPI_PROC_NULL;
    int down = h->rank < h->ranks - 1 ? h->rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];

    MPI_Irecv(h->now, COLUMNS, MPI_DOUBLE, up, DOWN, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(h->now + (h->rows + 1) * COLUMNS, COLUMNS, MPI_DOUBLE, down, UP, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(h->now + COLUMNS, COLUMNS, MPI_DOUBLE, up, UP, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(h->now + h->rows * COLUMNS, COLUMNS, MPI_DOUBLE, down, DOWN, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* One Jacobi sweep; the residual of this rank. */
static double sweep(heat_t *h)
{
    double residual = 0;

#pragma omp parallel for reduction(+ : residual) schedule(static)
    for (int i = 1; i <= h->rows; i++) {
        for (int j = 1; j < COLUMNS - 1; j++) {
            const double *p = h->now + i * COLUMNS + j;
            double value = 0.25 * (p[-COLUMNS] + p[COLUMNS] + p[-1] + p[1]);

            residual += (value - *p) * (value - *p);
            h->next[i * COLUMNS + j] = value;
        }
    }
    double *swap = h->now;
    h->now = h->next;
    h->next = swap;
    return residual;
}

/* The imbalanced loop: one block per thread, block t has t + 1 units of work. */
static void heat_sources(const heat_t *h, long long begin)
{
#pragma omp parallel for schedule(static, 1)
    for (int block = 0; block < h->threads; block++) work(begin + (block + 1) * unit, (block + 1) * unit);
}

/* The critical section: each thread passes once. Who is through early has other work until the last one is through. */
static void merge(const heat_t *h, long long begin)
{
    int passed = 0;

#pragma omp parallel shared(passed)
    {
        int order;

        work(begin + gather, 0);
#pragma omp critical(merge)
        {
            order = passed++;
            work(begin + gather + (order + 1) * critical, critical);
        }
        work(begin + 2 * gather + h->threads * critical, (h->threads - order - 1) * critical);
    }
}

static double step(heat_t *h, long long begin)
{
    long long loop = begin + serial + exchange, join = loop + h->threads * unit;
    long long end = join + 2 * gather + h->threads * critical;
    double residual, total;

    work(begin + serial, serial);
    exchange_halo(h);
    residual = sweep(h);
    heat_sources(h, loop);
    merge(h, join);
    if (h->ranks > 1 && h->rank == h->ranks - 1) work(end + late, late);
    MPI_Allreduce(&residual, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

static long long step_ns(int threads)
{
    return serial + exchange + threads * unit + 2 * gather + threads * critical + late + gather;
}

/* What a measurement must find; times in ms. "sum" is over ranks and threads. */
static void print_truth(int ranks, int threads, int steps)
{
    double ms = (double)steps / MS;
    long long pairs = (long long)threads * (threads - 1) / 2;
    int messages = 2 * (ranks - 1) * steps;

    printf("ranks=%d\nthreads=%d\nsteps=%d\nlate_rank=%d\n", ranks, threads, steps, ranks > 1 ? ranks - 1 : -1);
    printf("imbal_sum_ms=%.3f\n", ranks * pairs * unit * ms);
    printf("synch_sum_ms=%.3f\n", ranks * pairs * critical * ms);
    printf("critical_body_sum_ms=%.3f\n", ranks * threads * critical * ms);
    printf("late_mpi_ms_on_other_ranks=%.3f\n", ranks > 1 ? late * ms : 0.0);
    printf("serial_ms_per_rank=%.3f\n", serial * ms);
    printf("critical_entries=%d\nloop_executions=%d\n", ranks * threads * steps, ranks * threads * steps);
    printf("messages=%d\nmessage_bytes=%lld\n", messages, (long long)messages * COLUMNS * (long long)sizeof(double));
    printf("allreduce_calls=%d\nwall_ms=%.3f\n", ranks * steps, lead / (double)MS + (double)step_ns(threads) * ms);
}

static void allocate(heat_t *h)
{
    h->rows = ROWS / h->ranks + (h->rank < ROWS % h->ranks);
    h->now = calloc((size_t)(h->rows + 2) * COLUMNS, sizeof(double));
    h->next = calloc((size_t)(h->rows + 2) * COLUMNS, sizeof(double));
    if (h->now == NULL || h->next == NULL) {
        fprintf(stderr, "heat: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (h->rank == 0) { /* the upper edge is hot, all others are cold */
        for (int j = 0; j < COLUMNS; j++) h->now[j] = h->next[j] = 1;
    }
}

/* All ranks start the first step at the same moment of CLOCK_REALTIME. */
static void agree_on_start(void)
{
    const char *how = getenv("HEAT_WORK");

    if (how != NULL && strcmp(how, "sleep") == 0) base = clock_ns(CLOCK_REALTIME) + lead;
    MPI_Bcast(&base, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
}

static int number(int argc, char **argv, int index, int otherwise)
{
    return argc > index && atoi(argv[index]) > 0 ? atoi(argv[index]) : otherwise;
}

int main(int argc, char **argv)
{
    heat_t h = {.steps = number(argc, argv, 1, STEPS)};
    double residual = 0;

    if (argc > 1 && strcmp(argv[1], "--truth") == 0) {
        print_truth(number(argc, argv, 2, 1), number(argc, argv, 3, 1), number(argc, argv, 4, STEPS));
        return 0;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &h.level);
    MPI_Comm_rank(MPI_COMM_WORLD, &h.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &h.ranks);
    h.threads = omp_get_max_threads();
    allocate(&h);
    agree_on_start();
    for (int i = 0; i < h.steps; i++) residual = step(&h, i * step_ns(h.threads));
    if (h.rank == 0) printf("heat: %d steps, residual %.9e\n", h.steps, residual);
    free(h.now);
    free(h.next);
    MPI_Finalize();
    return 0;
}
