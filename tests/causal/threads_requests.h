/* Programs of threads.c that tell where a request begins and ends. */
#include "work.h"

#include "coz_like.h"

#include <pthread.h>
#include <semaphore.h>

static _Atomic int over;
static sem_t asks, answers;

/* ---- requests in u, one after the other, that wait for nobody; the initial thread has other work, and tells progress ---- */

static void *request_thread(void *number)
{
    (void)number;
    while (!over) {
        OMPP_BEGIN("request");
        region("u", 7);
        OMPP_END("request");
    }
    return NULL;
}

/* In many regions, which take turns; or in one. */
static void serve(int regions, int steps)
{
    char name[8];

    for (int i = 0; i < steps; i++) {
        snprintf(name, sizeof name, "r%d", i % regions);
        region(name, 2);
        OMPP_PROGRESS("step");
    }
}

static void served(int regions, int steps, int joined)
{
    pthread_t thread;

    pthread_create(&thread, NULL, request_thread, NULL);
    serve(regions, steps);
    over = joined;
    if (joined) pthread_join(thread, NULL);
}

static void requests(void)
{
    served(1, 20 * run.rounds, 1);
}

/* It ends while one is under way. */
static void unfinished(void)
{
    served(1, 20 * run.rounds, 0);
}

static void crowded(void)
{
    served(40, 40 * run.rounds, 1);
}

/* One asks and waits for the answer, which takes 4; the other tidies up for 2 then, before it can be asked again. */
static void *answering_thread(void *nothing)
{
    for (;;) {
        sem_wait(&asks);
        if (over) return nothing;
        region("answer", 4);
        sem_post(&answers);
        region("tidy", 2);
    }
}

static void asked(void)
{
    pthread_t thread;

    sem_init(&answers, 0, 0);
    sem_init(&asks, 0, 0);
    pthread_create(&thread, NULL, answering_thread, NULL);
    for (int i = 0; i < run.rounds; i++) {
        region("think", 10);
        OMPP_BEGIN("request");
        COZ_BEGIN("coz request");
        sem_post(&asks);
        sem_wait(&answers);
        COZ_END("coz request");
        OMPP_END("request");
        OMPP_PROGRESS("round");
    }
    over = 1;
    sem_post(&asks);
    pthread_join(thread, NULL);
}

/* One that lasts as long as the program. */
static void session(void)
{
    OMPP_BEGIN("request");
    serve(1, 20 * run.rounds);
    OMPP_END("request");
}
