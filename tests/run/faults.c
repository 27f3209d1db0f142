/*
 * Does a fixed round of constructs and MPI calls over and over, and each thread keeps its own account of it in a file, by write(2), one
 * entry after each construct: what it knows when it is killed is there. Rank VICTIM has a thread that ends the process after so many
 * microseconds, WAY tells how. Arguments: DIRECTORY ROUNDS VICTIM WAY MICROSECONDS. With PLAIN it knows nothing of ompp, with SERIAL
 * nothing of MPI. Files in DIRECTORY tell who it is and how far it has come: pid.RANK, ends.RANK, over.RANK.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#ifndef SERIAL
#include <mpi.h>
#endif
#include <omp.h>
#ifndef PLAIN
#include <ompp.h>
#else
#define ompp_region_begin(name) (void)(name)
#define ompp_region_end(name) (void)(name)
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STEP, PARALLEL, CRITICAL, LOOP, REDUCE, EXCHANGE, KINDS };
#define THREADS 2
#define MEGABYTE ((size_t)1 << 20)

typedef struct {
    int file;
    unsigned done[KINDS];
    char padding[64];
} account_t;

static account_t account[THREADS];
static const char *way, *dir;
static long microseconds;
static volatile int never;

#ifdef SERIAL
static void begin_mpi(int *rank, int *size) { *rank = 0, *size = 1; }
static void end_mpi(void) {}
static void end_all(void) { abort(); }
static void exchange(double *sum, double *other, int rank, int size) { *other = *sum + rank + size; }
static void reduce(double *sum) { *sum += 1; }
#else
static void begin_mpi(int *rank, int *size)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}
static void end_mpi(void) { MPI_Finalize(); }
static void end_all(void) { MPI_Abort(MPI_COMM_WORLD, 3); }
static void exchange(double *sum, double *other, int rank, int size)
{
    MPI_Sendrecv(sum, 1, MPI_DOUBLE, (rank + 1) % size, 0, other, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void reduce(double *sum) { MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
#endif

/* A file that is there as a whole or not at all. rank < 0: as the launcher says. */
static void mark(const char *what, int rank)
{
    const char *launcher[] = {getenv("OMPI_COMM_WORLD_RANK"), getenv("PMI_RANK")};
    char path[1000], to[1000];
    FILE *file;

    for (int i = 0; i < 2 && rank < 0; i++)
        rank = launcher[i] ? atoi(launcher[i]) : rank;
    snprintf(path, sizeof path, "%s/.%s.%d", dir, what, (int)getpid());
    snprintf(to, sizeof to, "%s/%s.%d", dir, what, rank < 0 ? 0 : rank);
    file = fopen(path, "w");
    if (!file)
        _exit(9);
    fprintf(file, "%d", (int)getpid());
    fclose(file);
    rename(path, to);
}

static void enter(int thread, int kind)
{
    account_t *a = &account[thread];

    a->done[kind]++;
    if (pwrite(a->file, a->done, sizeof a->done, 0) != sizeof a->done)
        _exit(9);
}

/* Until the kernel ends us, in a group of processes with little memory; without one, until there is none, as many programs do it. */
static void use_memory_up(void)
{
    const char *group = getenv("FAULTS_CGROUP");
    struct rlimit limit = {400 * MEGABYTE, 400 * MEGABYTE};
    char *piece;
    FILE *list = group ? fopen(group, "w") : NULL;

    if (list) {
        fprintf(list, "%d\n", (int)getpid());
        fclose(list);
    } else {
        setrlimit(RLIMIT_AS, &limit);
    }
    while ((piece = mmap(NULL, MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED)
        memset(piece, 1, MEGABYTE);
    abort();
}

static void *killer(void *unused)
{
    struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};

    nanosleep(&t, NULL);
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(way, "segv") == 0)
        *(volatile int *)(long)never = 1;
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "_exit") == 0)
        _exit(3);
    if (strcmp(way, "mpi_abort") == 0)
        end_all();
    if (strcmp(way, "memory") == 0)
        use_memory_up();
    return unused;
}

static void nap(int round, int rank)
{
    struct timespec t = {0, 100000 * ((round * 7 + rank * 3) % 5)};

    nanosleep(&t, NULL);
}

static void team(int round, int rank, double *sum)
{
#pragma omp parallel num_threads(THREADS)
    {
        const int me = omp_get_thread_num();
#pragma omp critical
        {
            *sum += me;
            nap(round, rank);
        }
        enter(me, CRITICAL);
#pragma omp for schedule(static)
        for (int i = 0; i < THREADS; i++)
            nap(round + i, rank);
        enter(me, LOOP);
    }
    /* A member may not come back from the barrier: the one that does speaks for all. */
    enter(0, PARALLEL);
}

static void rounds(int n, int rank, int size)
{
    double sum = 0, other = 0;

    for (int round = 0; round < n; round++) {
        ompp_region_begin("step");
        team(round, rank, &sum);
        exchange(&sum, &other, rank, size);
        enter(0, EXCHANGE);
        if (round % 5 == 0) {
            reduce(&sum);
            enter(0, REDUCE);
        }
        ompp_region_end("step");
        enter(0, STEP);
    }
}

int main(int argc, char **argv)
{
    int rank, size, number;
    char path[1000];
    pthread_t thread;

    if (argc < 6)
        return 2;
    dir = argv[1];
    way = argv[4];
    microseconds = atol(argv[5]);
    number = atoi(argv[2]);
    mark("pid", -1);
    begin_mpi(&rank, &size);
    for (int i = 0; i < THREADS; i++) {
        snprintf(path, sizeof path, "%s/account.%d.%d", dir, rank, i);
        account[i].file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    ompp_region_begin("all");
    if (atoi(argv[3]) == rank)
        pthread_create(&thread, NULL, killer, NULL);
    rounds(number, rank, size);
    ompp_region_end("all");
    mark("ends", rank);
    end_mpi();
    mark("over", rank);
    return 0;
}
