/*
 * Small inner loops that run again and again, so that none leaves its page: what is counted in registers there must come to memory while
 * they run. Nothing in the loops is volatile, or calls: what they have done is seen by the sum, for all that they add is 1. First
 * argument: what happens meanwhile; second: the loop. Prints how many loads of "a" have been made at least since it was named.
 */
#include <ompp.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif

enum { INNER = 60, OFTEN = 1 << 18 };

static double a[512] __attribute__((aligned(4096))), sum[512] __attribute__((aligned(4096)));
static double *const volatile places[] = {a, sum}; /* which the compiler does not know */
static sigjmp_buf back;
static volatile sig_atomic_t ready;
static _Atomic int done; /* rounds that end */

/* A step, and none; turns that the compiler does not know. */
ALONE static void nest(double *to, const double *from, long turns, int inner)
{
    for (long k = 0; k < turns; k++)
        for (int j = 0; j < inner; j++) *to += from[j];
}

/* Turns that it knows. */
ALONE static void known(double *to, const double *from, long turns)
{
    for (long k = 0; k < turns; k++)
        for (int j = 0; j < INNER; j++) *to += from[j];
}

/* One loop that stays where it is. */
ALONE static void stays(double *to, const double *from, long turns)
{
    for (long k = 0; k < turns; k++) *to += *from;
}

/* Jumps into the middle of what turns: that is no loop to the compiler, but the one around it is, by which the address advances. */
ALONE static void jumps(double *to, const double *from, long turns)
{
    for (int k = 0; k < INNER; k++) {
        long left = turns;
        if (from[k] > 1) goto middle;
    begin:
        *to += from[k];
    middle:
        if (left % 3 == 0) *to += from[k];
        if (--left > 0) goto begin;
    }
}

static long account(void)
{
    return (long)*(volatile double *)sum;
}

static void once(const char *shape, long turns)
{
    double *const from = places[0], *const to = places[1];

    if (!strcmp(shape, "nest")) nest(to, from, turns, INNER);
    if (!strcmp(shape, "known")) known(to, from, turns);
    if (!strcmp(shape, "stays")) stays(to, from, turns * INNER);
    if (!strcmp(shape, "jumps")) jumps(to, from, turns / INNER);
}

/* Some rounds that end, and one that does not. */
static void *work(void *shape)
{
    for (int i = 0; i < 3; i++) {
        once(shape, OFTEN);
        done++;
    }
    once(shape, 1l << 40);
    return NULL;
}

static void name(void)
{
    ompp_papi_set_drange(places[0], sizeof a, "a");
    ompp_papi_set_drange(places[1], sizeof sum, "sum");
}

static void jump(int sig)
{
    (void)sig;
    if (ready) siglongjmp(back, 1);
}

static void leave(char *shape)
{
    const struct itimerval soon = {{0, 0}, {0, 300000}};

    signal(SIGALRM, jump);
    if (sigsetjmp(back, 1)) return;
    ready = 1;
    setitimer(ITIMER_REAL, &soon, NULL);
    work(shape);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    long before = 0;

    if (argc < 3) return 2;
    for (int i = 0; i < 512; i++) a[i] = 1;
    char *const shape = argv[2];
    const int late = !strcmp(argv[1], "register");
    if (!late) name();
    if (!strcmp(argv[1], "jump")) {
        leave(shape);
    } else {
        pthread_create(&thread, NULL, work, shape);
        while (done < 3) usleep(1000);
        usleep(100000); /* it is in the loop that does not end */
        if (late) {
            name();
            before = account();
        }
        usleep(300000);
    }
    printf("%ld\n", account() - before);
    fflush(stdout);
    if (!strcmp(argv[1], "kill")) kill(getpid(), SIGKILL);
    return 0;
}
