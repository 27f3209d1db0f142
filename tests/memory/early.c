/* The first access of a thread is in a signal handler that has interrupted pthread_getattr_np(), which locks and allocates: it is not
 * called there. Says nothing; ends with 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#ifdef __clang__
#define UNHOOKED __attribute__((no_sanitize("coverage")))
#else
#define UNHOOKED __attribute__((no_sanitize("thread")))
#endif

static volatile int handled;
static __thread volatile int inside, again;

static void handler(int number)
{
    (void)number;
    handled++;
}

/* In place of the system's. */
UNHOOKED int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    static int (*system)(pthread_t, pthread_attr_t *);

    if (!system) *(void **)&system = dlsym(RTLD_NEXT, "pthread_getattr_np");
    if (inside) again = 1;
    else if (gettid() != getpid()) {
        inside = 1;
        raise(SIGUSR1);
        inside = 0;
    }
    return system(thread, attributes);
}

UNHOOKED static void *begin(void *wrong)
{
    pthread_attr_t attributes;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) pthread_attr_destroy(&attributes);
    *(int *)wrong = again;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int wrong = 0;

    signal(SIGUSR1, handler);
    if (pthread_create(&thread, NULL, begin, &wrong) != 0 || pthread_join(thread, NULL) != 0) return 2;
    if (wrong || handled == 0) return 1;
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    wrong += again;
    return wrong != 0;
}
