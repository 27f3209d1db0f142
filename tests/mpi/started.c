/* Persistent requests with clock vectors: what they need does not grow, and receipts come from who waits. */
#define _GNU_SOURCE
#include "piggyback.h"

#include <pthread.h>
#include <sched.h>

enum { MANY = 16, ROUNDS = 1200, SETTLED = 300, GROWTH_KB = 600 };

static MPI_Comm pair; /* ranks 0 and 1, for what clocks are not to know */

static long resident_kb(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A rank that only sends: rank 0 to rank 1. */
static void only_sends(void)
{
    static double data[MANY];
    MPI_Request r[MANY];
    long before = 0, after;
    adopted_t a;

    if (rank > 1 || size < 2) return;
    for (int i = 0; i < MANY; i++) {
        if (rank == 0) MPI_Send_init(&data[i], 1, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, &r[i]);
        else MPI_Recv_init(&data[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, &r[i]);
    }
    for (int k = 0; k < ROUNDS; k++) {
        MPI_Startall(MANY, r);
        MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
        /* MPI's own room for messages that come early is not what is looked at. */
        if (k % 10 == 0) PMPI_Barrier(pair);
        if (k == SETTLED) before = resident_kb();
    }
    after = resident_kb();
    CHECK(after - before < GROWTH_KB);
    if (after - before >= GROWTH_KB) printf("rank %d: %ld kB, %ld kB after %d rounds\n", rank, before, after, ROUNDS - SETTLED);
    for (int i = 0; i < MANY; i++) MPI_Request_free(&r[i]);
    /* There are receipts still. */
    take(&a);
    come_after(1 - rank, rank == 1);
    mark(1000 + rank);
    if (rank == 0) MPI_Ssend(data, 1, MPI_DOUBLE, 1, MANY, MPI_COMM_WORLD), ADOPTED(1001, BIT(1));
    else MPI_Recv(data, 1, MPI_DOUBLE, 0, MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(&a);
}

/* ---- Buffered sends ---------------------------------------------------------------------------------------------------- */

/* They are over when they are buffered, whenever the receiver comes. */
static void buffered(void)
{
    enum { NUMBERS = 2000 };
    static int numbers[2][NUMBERS];
    static char room[sizeof numbers + 2 * MPI_BSEND_OVERHEAD];
    void *detached = room;
    int bytes = sizeof room;
    MPI_Request r[2];
    adopted_t a;

    if (rank > 1 || size < 2) return;
    if (rank == 0) MPI_Buffer_attach(room, bytes);
    for (int i = 0; i < 2; i++) {
        const int count = i ? NUMBERS : 1;
        if (rank == 0) MPI_Bsend_init(numbers[i], count, MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]);
        else MPI_Recv_init(numbers[i], count, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
    }
    take(&a);
    mark(1000);
    MPI_Startall(2, r);
    if (rank == 1) MPI_Waitall(2, r, MPI_STATUSES_IGNORE), ADOPTED(1000, 1);
    PMPI_Barrier(pair);
    if (rank == 0) MPI_Waitall(2, r, MPI_STATUSES_IGNORE), ADOPTED(0, 0);
    for (int i = 0; i < 2; i++) MPI_Request_free(&r[i]);
    if (rank == 0) MPI_Buffer_detach(&detached, &bytes);
    take(&a);
}

/* ---- Receives that one thread starts while another is in MPI ------------------------------------------------------------ */

static void *beside(void *arg)
{
    mark(3000); /* greater than what rank 1 waits with */
    MPI_Barrier(MPI_COMM_SELF);
    return arg;
}

/* The sender waits for the thread that waits for the message, and not for any other. */
static void other_threads(void)
{
    MPI_Request r;
    pthread_t thread;
    int number = 0;
    adopted_t a;

    if (rank > 1 || size < 2) return;
    PMPI_Barrier(pair);
    if (rank == 0) MPI_Ssend_init(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r);
    else MPI_Recv_init(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &r);
    take(&a);
    mark(1000);
    MPI_Start(&r);
    if (rank == 0) come_after(1, false);
    else {
        come_after(0, true);
        if (pthread_create(&thread, NULL, beside, NULL) == 0) pthread_join(thread, NULL);
        mark(2000);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        ADOPTED(1000, 1);
    }
    PMPI_Barrier(pair);
    if (rank == 0) {
        MPI_Wait(&r, MPI_STATUS_IGNORE);
#if defined(OPEN_MPI) /* with others the send did not wait */
        ADOPTED(2000, 2);
#endif
    }
    take(&a);
    MPI_Request_free(&r);
}

/* ---- Receives that several threads may acknowledge ---------------------------------------------------------------------- */

static int looking;

static void *look(void *arg)
{
    int there;

    while (__atomic_load_n(&looking, __ATOMIC_ACQUIRE)) MPI_Iprobe(0, 8, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    return arg;
}

/* Two messages are here, and one receive. The sender of the other one waits until that is received, too, whoever looks. */
static void one_of_two(int round)
{
    int numbers[2] = {0, 0}, there = 0;
    MPI_Request r[2];
    pthread_t thread[2];
    adopted_t a;

    mark(10000 + round);
    if (rank == 0) {
        PMPI_Barrier(pair);
        for (int i = 0; i < 2; i++) MPI_Issend(&numbers[i], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &r[i]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        take(&a);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        take(&a);
        CHECK(!a.ranks || a.mark == 20000 + round); /* it may come too late to be read */
    } else {
        MPI_Irecv(&numbers[0], 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &r[0]);
        __atomic_store_n(&looking, 1, __ATOMIC_RELEASE);
        for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, look, NULL);
        PMPI_Barrier(pair);
        while (!there) PMPI_Iprobe(0, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE); /* the second one */
        __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
        for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
        mark(20000 + round);
        usleep(200);
        MPI_Recv(&numbers[1], 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        take(&a);
    }
}

static void some_look(void)
{
    enum { TIMES = 200 };
    cpu_set_t all;

    memset(&all, 0xff, sizeof all);
    if (rank == 1) sched_setaffinity(0, sizeof all, &all); /* launchers give a rank one processor */
    for (int i = 0; rank < 2 && size > 1 && i < TIMES; i++) one_of_two(i);
}

enum { THREADS = 4 };

/* Each thread completes what the one before has started, while that is in MPI. */
static struct {
    MPI_Request requests[THREADS];
    pthread_barrier_t barrier;
    int got[THREADS];
} crossed;

static void *cross(void *arg)
{
    const int me = (int)(intptr_t)arg, next = (me + 1) % THREADS;
    MPI_Request send;

    MPI_Recv_init(&crossed.got[me], 1, MPI_INT, (rank + size - 1) % size, me, MPI_COMM_WORLD, &crossed.requests[me]);
    for (int i = 0; i < 100; i++) {
        MPI_Start(&crossed.requests[me]);
        pthread_barrier_wait(&crossed.barrier);
        MPI_Isend(&i, 1, MPI_INT, (rank + 1) % size, me, MPI_COMM_WORLD, &send);
        MPI_Wait(&crossed.requests[next], MPI_STATUS_IGNORE);
        if (crossed.got[next] != i) __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        pthread_barrier_wait(&crossed.barrier);
    }
    MPI_Request_free(&crossed.requests[me]);
    return NULL;
}

static void crossing(void)
{
    pthread_t thread[THREADS];

    pthread_barrier_init(&crossed.barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, cross, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    int provided = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &pair);
    only_sends();
    buffered();
    if (provided == MPI_THREAD_MULTIPLE) other_threads(), some_look(), crossing();
    return finish();
}
