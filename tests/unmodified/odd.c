/*
 * Programs that come to libgomp in odd ways: teams of several POSIX threads, of changing size, nested, and before and after a fork. With
 * -DOPENER, a program without OpenMP that opens the library of its argument and calls its function sum(); with -DLIBRARY, that library.
 */
#include <stdio.h>

#ifdef LIBRARY

int sum(int n);

/* Inlined in the loop below, whose call into libgomp may get a line from here. */
static inline int next(int seed)
{
    for (int n = seed % 7; n > 0; n--)
        if (n % 2) seed = seed * 17 + 1;
    return seed & 7;
}

int sum(int n)
{
    int s = 0, start = 5;

#pragma omp parallel for reduction(+ : s) schedule(dynamic) num_threads(2)
    for (int i = 0; i < n; i++) s += i + next(start) + next(i);
    return s;
}

#elif defined OPENER

#include <dlfcn.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*sum)(int) = library ? (int (*)(int))dlsym(library, "sum") : NULL;

    if (!sum) return 1;
    printf("%d\n", sum(1000));
    return 0; /* not closed: threads of libgomp may still be in its code */
}

#else

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PTHREADS = 4, TEAMS = 25 };

static long members, passes;

static void *work(void *arg)
{
    for (int i = 0; i < TEAMS; i++) {
        omp_set_num_threads(1 + i % 3);
#pragma omp parallel
        {
#pragma omp atomic
            members++;
#pragma omp for schedule(dynamic)
            for (int k = 0; k < 10; k++) {
#pragma omp critical
                passes++;
            }
        }
    }
    return arg;
}

static void nest(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(3)
        {
#pragma omp atomic
            members++;
        }
    }
}

/* The child has no threads of libgomp's; it may run a team of one, and ends with a status of its own. */
static void fork_one(void)
{
    int status = 0;
    pid_t child = fork();

    if (!child) {
#pragma omp parallel num_threads(1)
        members++;
        printf("child %ld\n", members);
        exit(3);
    }
    waitpid(child, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
}

int main(void)
{
    pthread_t threads[PTHREADS];

    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    for (int i = 0; i < PTHREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < PTHREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 5; i++) nest();
    printf("members %ld, passes %ld\n", members, passes);
    fflush(stdout);
    fork_one();
    for (int i = 0; i < 5; i++) nest();
    printf("members %ld\n", members);
    return 5;
}

#endif
