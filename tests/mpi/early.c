/*
 * A thread that waits until MPI_Initialized says yes, and then has an error handler of its own put in place: not before measurement is
 * done with the one of MPI_COMM_WORLD. What measurement calls with that put aside is held up here, so that there is time for it.
 */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <unistd.h>

static volatile int reported, aside, reported_aside;

/* Of our own communicator; ranks of which not all are measured would have another call. */
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    int (*real)(MPI_Comm, MPI_Comm *) = (int (*)(MPI_Comm, MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_dup");

    if (comm == MPI_COMM_WORLD) {
        aside = 1;
        for (int i = 0; i < 300 && !reported; i++) usleep(1000);
        reported_aside |= reported;
    }
    return real(comm, made);
}

static void handler(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
}

static MPI_Errhandler own;

static void *waits(void *arg)
{
    int yes = 0;

    (void)arg;
    while (!yes) {
        MPI_Initialized(&yes);
        usleep(100);
    }
    reported = 1;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Errhandler there = MPI_ERRHANDLER_NULL;
    pthread_t thread;
    int provided = 0;

    pthread_create(&thread, NULL, waits, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_join(thread, NULL);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &there);
    CHECK(there == own);
    CHECK(!reported_aside);
    CHECK(aside == (dlsym(RTLD_DEFAULT, "fake_mpi_take") != NULL));
    return finish();
}
