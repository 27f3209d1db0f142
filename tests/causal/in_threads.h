/* Threads for the programs whose threads are POSIX's. */
#ifndef IN_THREADS_H
#define IN_THREADS_H

#include <pthread.h>

enum { MANY = 4 }; /* threads at most */

/* Threads 0 .. n - 1 run the function; the caller waits for all. */
static void in_threads(int n, void *(*function)(void *))
{
    pthread_t threads[MANY];

    for (long i = 0; i < n; i++) pthread_create(&threads[i], NULL, function, (void *)i);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

#endif
