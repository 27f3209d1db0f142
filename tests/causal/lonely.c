/* One thread that works for some time, and comes to no progress point: with an argument in a region, without in none. */
#include "work.h"

#include <pthread.h>

static void *loop(void *argument)
{
    if (argument) region("all", 60);
    else work(60);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    (void)argv;
    if (pthread_create(&thread, NULL, loop, argc > 1 ? &thread : NULL) != 0) return 1;
    pthread_join(thread, NULL);
    printf("done\n");
    return 3;
}
