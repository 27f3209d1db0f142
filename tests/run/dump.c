/*
 * Works for a while and asks for reports meanwhile. Arguments: seconds, and what else:
 *   call     OMPP_Dump() between two parallel regions and inside one
 *   leave    the first thread ends by pthread_exit(), another one works on
 *   signal   a signal to the process, which only this program may take
 *   files    one file after the other, and which numbers they get
 *   pcontrol MPI_Pcontrol(2) (built with -DMPI)
 */
#define _GNU_SOURCE
#include "ompp.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef MPI
#include <mpi.h>
#endif

enum { ROUNDS = 50 };
static double seconds;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ROUNDS criticals per thread that count, and as many user regions as fit. */
static long work(void)
{
    double end = now() + seconds;
    long sum = 0;

#pragma omp parallel
    {
        for (int i = 0; i < ROUNDS; i++) {
            /* @counted */
#pragma omp critical(counted)
            sum++;
        }
        while (now() < end) {
            ompp_region_begin("busy");
            ompp_region_begin("inner");
            ompp_region_end("inner");
            ompp_region_end("busy");
        }
    }
    return sum;
}

static void *work_on(void *unused)
{
    work();
    printf("done\n");
    fflush(stdout);
    return unused;
}

static void take_signal(void)
{
    sigset_t set;
    int got = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* threads made from here on inherit this; one made before does not */
    work();
    kill(getpid(), SIGUSR1);
    usleep(20000);
    sigwait(&set, &got);
    printf("signal %d\n", got == SIGUSR1);
}

/* Between the constructs, whose events may open files of ours on this thread. */
static void open_files(void)
{
    int least = 1 << 30, most = 0;

    work();
    double end = now() + seconds;
    for (int fd; now() < end && (fd = open("/dev/null", O_RDONLY)) >= 0; close(fd)) {
        if (fd < least) least = fd;
        if (fd > most) most = fd;
    }
    printf("descriptors %d-%d\n", least, most);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";
    pthread_t thread;

    seconds = argc > 1 ? atof(argv[1]) : 0;
#ifdef MPI
    MPI_Init(&argc, &argv);
#endif
    POMP_Init();
    if (strcmp(what, "leave") == 0) {
        pthread_create(&thread, NULL, work_on, NULL);
        pthread_detach(thread);
        pthread_exit(NULL);
    }
    if (strcmp(what, "signal") == 0 || strcmp(what, "files") == 0) {
        strcmp(what, "signal") ? open_files() : take_signal();
        return 0;
    }
    printf("sum %ld\n", work());
    if (strcmp(what, "call") == 0) {
        OMPP_Dump();
#pragma omp parallel
#pragma omp master
        OMPP_Dump();
    }
#ifdef MPI
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "pcontrol") == 0) MPI_Pcontrol(2);
    MPI_Finalize();
#endif
    return 0;
}
