/* What the cases of hazards.c share: work, the signal blocked, and handlers that count. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static const char *self, *file;
static volatile unsigned long sink;

static double used(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of this thread's processor time. */
static void spin(double seconds)
{
    const double end = used() + seconds;

    do
        for (unsigned i = 0; i < 20000; i++) sink += i;
    while (used() < end);
}

static void *spin_thread(void *seconds)
{
    spin(*(double *)seconds);
    return NULL;
}

static void block(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(how, &set, NULL);
}

/* As the system has it. */
static const char *action_of_system(void)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } action;

    syscall(SYS_rt_sigaction, SIGPROF, NULL, &action, sizeof action.mask);
    return action.handler == (void *)SIG_DFL ? "default" : action.handler == (void *)SIG_IGN ? "ignored" : "caught";
}

static volatile sig_atomic_t came[65], others;
static void count(int s) { came[s]++; }
static void count_info(int s, siginfo_t *info, void *context)
{
    (void)context;
    came[s]++;
    others += info->si_code != SI_USER && info->si_code != SI_TKILL;
}
