/* MPI_THREAD_MULTIPLE: four threads exchange messages at once; nothing is lost. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 200 };

static void *exchange(void *arg)
{
    const int tag = (int)(intptr_t)arg;
    MPI_Request r;
    int got;

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &r);
        MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (got != i) __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int provided = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided == MPI_THREAD_MULTIPLE) {
        for (intptr_t i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, exchange, (void *)i);
        for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
        SEEN("MPI_Send", THREADS * ROUNDS, 0, 0, 4 * THREADS * ROUNDS, 0, THREADS * ROUNDS, 0);
        SEEN("MPI_Irecv", THREADS * ROUNDS, 0, 4 * THREADS * ROUNDS, 0, THREADS * ROUNDS, 0, 0);
    }
    SEEN("MPI_Init_thread", 1, 0, 0, 0, 0, 0, 0);
    return finish();
}
