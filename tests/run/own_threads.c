/*
 * Threads of the program's own. teams: 200 of them, most at the same time, each with a parallel region of two,
 * whose masters all work at the same time.
 * messages: three wait for messages while the initial thread sleeps in no region at all.
 */
#ifdef MPI
#include <mpi.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { TEAMS = 200, RECEIVERS = 3 };

#ifdef MPI
static void *receive(void *tag)
{
    int x;

    MPI_Recv(&x, 1, MPI_INT, 0, (int)(long)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(void)
{
    pthread_t threads[RECEIVERS];
    int given, x = 1;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &given);
    for (long i = 0; i < RECEIVERS; i++) pthread_create(&threads[i], NULL, receive, (void *)i);
    usleep(300000);
    for (int i = 0; i < RECEIVERS; i++) MPI_Send(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    for (int i = 0; i < RECEIVERS; i++) pthread_join(threads[i], NULL);
    MPI_Finalize();
    puts("done");
    return 0;
}
#else
static void *work(void *unused)
{
    volatile int sum = 0;

#pragma omp parallel num_threads(2)
    {
#pragma omp master
        usleep(20000);
        for (int k = 0; k < 200000; k++)
            if (k % 100000 == 0) {
#pragma omp atomic
                sum += 1;
            }
    }
    return unused;
}

int main(void)
{
    pthread_t threads[TEAMS];

    for (int i = 0; i < TEAMS; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < TEAMS; i++) pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
#endif
