/*
 * Threads that live when the program ends: one that sleeps, one that has returned and is not joined, with an argument the first one,
 * too, because another one calls exit(). Prints what has to be counted: name, loads, stores.
 */
#include <ompp.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile double sleeps[1000], ends[1000];
static pthread_barrier_t done;

static void *run(void *array)
{
    volatile double *a = array;

    for (int i = 0; i < 1000; i++) a[i] += 1;
    pthread_barrier_wait(&done);
    while (a == sleeps) pause();
    return NULL;
}

/* Ends the program: the first thread is alive then. */
static void *leave(void *unused)
{
    for (int i = 0; i < 10; i++) sleeps[i] = 0;
    if (!unused) exit(0); /* clang puts no hooks into what cannot return */
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    (void)argv;
    ompp_papi_set_drange((void *)sleeps, sizeof sleeps, "sleeps");
    ompp_papi_set_drange((void *)ends, sizeof ends, "ends");
    pthread_barrier_init(&done, NULL, 3);
    pthread_create(&thread, NULL, run, (void *)sleeps);
    pthread_create(&thread, NULL, run, (void *)ends);
    pthread_barrier_wait(&done);
    for (int i = 0; i < 10; i++) ends[i] = 0;
    printf("sleeps 1000 %d\nends 1000 1010\n", argc > 1 ? 1010 : 1000);
    fflush(stdout);
    if (argc == 1) return 0;
    pthread_create(&thread, NULL, leave, NULL);
    for (;;) pause();
}
