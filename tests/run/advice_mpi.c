/* As advice.c, of ranks: advice_mpi.c NAME. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int rank, size;

/* A rank that is late sleeps, so that ranks that share a processor change nothing. */
static void rest(double ms)
{
    const struct timespec t = {0, (long)(ms * 1e6)};

    nanosleep(&t, NULL);
}

static void sum_up(MPI_Comm comm)
{
    double a = 1, b;

    MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, comm);
}

/* Each rank is late as often as the others. */
static void do_in_turn(void)
{
    for (int i = 0; i < 60; i++) {
        if (i % size == rank) rest(10);
        sum_up(MPI_COMM_WORLD);
    }
}

/* The same on another communicator, and in a barrier. */
static void do_in_turn_other(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 60; i++) {
        if (i % size == rank) rest(10);
        MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
}

/* More calls than are kept. */
static void do_in_turn_many(void)
{
    for (int i = 0; i < 20000; i++) {
        if (i % 50 == 25 * rank) rest(1);
        sum_up(MPI_COMM_WORLD);
    }
}

static void do_late(void)
{
    for (int i = 0; i < 60; i++) {
        rest(rank == 1 ? 10 : 1);
        sum_up(MPI_COMM_WORLD);
    }
}

static void do_small(void)
{
    for (int i = 0; i < 200000; i++) sum_up(MPI_COMM_WORLD);
}

/* One thread calls MPI, and the other waits for it. uneven: also at another barrier, for a thread that works longer. */
static void of_one_thread(double uneven)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 40; i++) {
        rest((rank == 1 ? 10 : 2) + (omp_get_thread_num() ? uneven : 0));
#pragma omp barrier
#pragma omp master
        sum_up(MPI_COMM_WORLD);
#pragma omp barrier
    }
}

static void do_late_master(void) { of_one_thread(0); }

static void do_uneven_master(void) { of_one_thread(12); }

static void do_late_single(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 40; i++) {
        rest(rank == 1 ? 10 : 2);
#pragma omp barrier
#pragma omp single
        sum_up(MPI_COMM_WORLD);
    }
}

enum { MANY = 1 << 20 }; /* doubles: more than a message that goes before its receiver is there */
static double here[MANY], there[MANY];

/* ---- Messages: rank 0 sends, or the other way round -------------------------------------------------------------- */

/* The receiver is there first. */
static void do_late_sender(void)
{
    for (int i = 0; i < 40; i++) {
        if (rank == 0) {
            rest(10);
            MPI_Send(here, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        }
        if (rank == 1) MPI_Recv(there, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The same, from whoever comes. */
static void do_late_sender_any(void)
{
    MPI_Status status;

    for (int i = 0; i < 40; i++) {
        if (rank == 0) {
            rest(10);
            MPI_Send(here, 1, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
        }
        if (rank == 1) MPI_Recv(there, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    }
}

/* The same with receives that are begun before. */
static void do_late_sender_wait(void)
{
    MPI_Request requests[2];

    for (int i = 0; i < 40; i++) {
        if (rank == 0) {
            rest(10);
            MPI_Isend(here, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(here, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, &requests[1]);
        }
        if (rank == 1) {
            MPI_Irecv(there, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(there + 1, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &requests[1]);
        }
        if (rank < 2) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

/* More messages than are kept. */
static void do_late_sender_many(void)
{
    for (int i = 0; i < 20000; i++) {
        if (rank == 0) {
            if (i % 40 == 7) rest(1);
            MPI_Send(here, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        }
        if (rank == 1) MPI_Recv(there, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Which message it was is known too late: nothing is said of who is late. */
static void do_late_unknown(void)
{
    MPI_Request request;

    for (int i = 0; i < 40; i++) {
        if (rank == 0) {
            rest(10);
            MPI_Send(here, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        }
        if (rank == 1) {
            MPI_Irecv(there, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

/* Nor is it where a rank starts persistent requests, of any message. */
static void do_receive_unknown(void)
{
    MPI_Request request;

    if (rank < 2) {
        MPI_Recv_init(there, 1, MPI_DOUBLE, rank, 2, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Send(here, 1, MPI_DOUBLE, rank, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    for (int i = 0; i < 40; i++) {
        if (rank == 0) {
            rest(10);
            MPI_Send(here, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        }
        if (rank == 1) MPI_Recv(there, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void do_late_receiver(void)
{
    for (int i = 0; i < 20; i++) {
        if (rank == 0) MPI_Send(here, MANY, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        if (rank == 1) {
            rest(20);
            MPI_Recv(there, MANY, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* A communicator with names of its own, and sends that say that they wait. */
static void do_late_receiver_grid(void)
{
    const int sizes[1] = {size}, periods[1] = {1};
    MPI_Comm grid;

    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &grid);
    for (int i = 0; i < 40; i++) {
        if (rank == 0) MPI_Ssend(here, 1, MPI_DOUBLE, 1, 1, grid);
        if (rank == 1) {
            rest(10);
            MPI_Recv(there, 1, MPI_DOUBLE, 0, 1, grid, MPI_STATUS_IGNORE);
        }
    }
    MPI_Comm_free(&grid);
}

/* Nobody is late: it is the bytes that take the time. */
static void do_transfer(void)
{
    for (int i = 0; i < 60; i++) {
        if (rank == 0) MPI_Send(here, MANY, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(there, MANY, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* ---- Controls ---------------------------------------------------------------------------------------------------- */

static void do_even(void)
{
    for (int i = 0; i < 10; i++) {
        rest(100);
        sum_up(MPI_COMM_WORLD);
    }
}

/* What is received was sent long before. */
static void do_early(void)
{
    for (int i = 0; i < 10; i++) {
        if (rank == 0) MPI_Send(here, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        rest(100);
        if (rank == 1) MPI_Recv(there, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Work goes on while messages do. */
static void do_exchange(void)
{
    const int other = rank ^ 1;
    MPI_Request requests[2];

    for (int i = 0; i < 10 && other < size; i++) {
        MPI_Irecv(there, 100, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(here, 100, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[1]);
        rest(100);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
#define ROW(name) {#name, do_##name},
    ROW(in_turn) ROW(in_turn_other) ROW(in_turn_many) ROW(late) ROW(late_master) ROW(uneven_master) ROW(late_single)
        ROW(small) ROW(late_sender) ROW(late_sender_any) ROW(late_sender_wait) ROW(late_sender_many) ROW(late_unknown)
            ROW(receive_unknown) ROW(late_receiver) ROW(late_receiver_grid) ROW(transfer) ROW(even) ROW(early)
                ROW(exchange)};

int main(int argc, char **argv)
{
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0) programs[i].run();
    MPI_Finalize();
    return 0;
}
