/* Ends while its threads go in and out of regions. living MICROSECONDS */
#include <ompp.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3 };

static _Atomic int running; /* rounds, at first */

static void *go_on(void *nothing)
{
    for (;;) {
        ompp_region_begin("outer");
        for (int i = 0; i < 20; i++) {
            ompp_region_begin("inner");
            ompp_region_end("inner");
        }
        ompp_region_end("outer");
        if (running < THREADS) running++;
    }
    return nothing;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    for (int i = 0; i < THREADS; i++) pthread_create(&thread, NULL, go_on, NULL);
    while (running < THREADS) usleep(100);
    usleep(argc > 1 ? (useconds_t)atoi(argv[1]) : 2000);
    return 0;
}
