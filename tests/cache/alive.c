/* A program with all that happens to hooks: a signal handler that measures, and one that jumps, threads that come and go, a fork. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 15, ROUNDS = 300 };

static double data[N];
static long table[1024];
static volatile sig_atomic_t jumps;
static sigjmp_buf back;

static void handler(int number)
{
    (void)number;
    for (int i = 0; i < 1024; i++) table[(i * 7) % 1024]++;
    if (jumps && table[0] % 4 == 0) siglongjmp(back, 1);
}

static double sweep(double *from, int rounds)
{
    double sum = 0;

    for (int k = 0; k < rounds; k++)
        for (int i = 0; i < N; i++) sum += from[(i * 37) % N] += 1;
    return sum;
}

static void *thread(void *with)
{
    double own[256] = {0};

    for (int k = 0; k < 20; k++)
        for (int i = 0; i < 256; i++) own[i] += ((double *)with)[i];
    return NULL;
}

int main(void)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action;
    pthread_t threads[4];

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGVTALRM, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &often, NULL);
    double sum = sweep(data, ROUNDS);
    sigsetjmp(back, 1); /* what is interrupted is given up; what follows is right all the same */
    jumps++;
    if (jumps < 20) {
        double other[N / 256] = {0};
        for (int k = 0; k < 100000; k++) other[k % (N / 256)] += k;
    }
    setitimer(ITIMER_VIRTUAL, &never, NULL);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, data);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
    fflush(stdout);
    if (fork() == 0) _exit(sweep(data, 2) > 0 ? 3 : 4);
    int status;
    wait(&status);
    printf("%.0f %d\n", sum, WEXITSTATUS(status));
    return 0;
}
