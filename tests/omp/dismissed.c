/*
 * A smaller team makes a runtime dismiss threads, a bigger one makes new ones: here before the dismissed ones have ended, for they
 * take their time. It stays a program of T threads.
 */
#include <omp.h>
#include <stdio.h>
#include <time.h>

extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *dso);
extern void *__dso_handle;

static void linger(void *object)
{
    const struct timespec time = {0, 30000000};

    (void)object;
    nanosleep(&time, NULL);
}

static void linger_at_end(void)
{
    static __thread int asked;

    if (omp_get_thread_num() > 0 && !asked++) __cxa_thread_atexit_impl(linger, NULL, &__dso_handle);
}

int main(void)
{
    const int all = omp_get_max_threads();
    int n = 0;

    for (int i = 0; i < 6; i++) {
        /* @all */
#pragma omp parallel reduction(+ : n)
        {
            linger_at_end();
            /* @task */
#pragma omp task
            linger(NULL); /* the shortest of a place is that of all who had it */
            n++;
        }
        /* @part */
#pragma omp parallel num_threads(all > 1 ? all / 2 : 1) reduction(+ : n)
        n++;
    }
    printf("%d\n", n);
    return 0;
}
