/* Small OpenMP program that does something unusual: its argument says what. The result and the exit status are always the same. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long sum;

static void *work(void *arg)
{
#pragma omp parallel
    {
#pragma omp critical
        sum += 1;
    }
    return arg;
}

/* A child that works, too, and ends like any program. */
static void with_child(char **argv, int exec)
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (exec)
            execl(argv[0], argv[0], "child", (char *)NULL);
        sum = 0;
        /* only this thread came along: no parallel region with more */
#pragma omp parallel num_threads(1)
        sum += 1;
        _exit(sum == 1 ? 0 : 9);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* One thread leaves the other alone at a barrier, which that one leaves, too. */
static void cancelled(void)
{
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
        }
#pragma omp barrier
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing";
    pthread_t thread[3];

    work(NULL);
    if (strcmp(what, "chdir") == 0 && chdir("/") != 0)
        return 1;
    if (strcmp(what, "fork") == 0 || strcmp(what, "exec") == 0)
        with_child(argv, what[0] == 'e');
    if (strcmp(what, "cancel") == 0) cancelled();
    for (int i = 0; i < 3 && strcmp(what, "threads") == 0; i++) {
        if (pthread_create(&thread[i], NULL, work, NULL) != 0 || pthread_join(thread[i], NULL) != 0)
            return 1;
    }
    work(NULL);
    printf("%s %ld\n", what, sum);
    return strcmp(what, "child") == 0 ? 0 : 5;
}
