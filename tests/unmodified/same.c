/*
 * Everything of a process that measurement must leave alone, printed before and after OpenMP (and MPI) have started, and by a program that this
 * one starts. Ends as its argument says.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef USE_MPI
#include <mpi.h>
#endif

extern char **environ;

static void print_signals(void)
{
    sigset_t blocked;

    sigprocmask(SIG_BLOCK, NULL, &blocked);
    printf("signals");
    for (int s = 1; s < 65; s++) {
        struct sigaction action;
        if (sigaction(s, NULL, &action) != 0) continue;
        printf(" %s%s", action.sa_handler == SIG_DFL ? "d" : action.sa_handler == SIG_IGN ? "i" : "h", sigismember(&blocked, s) ? "b" : "");
    }
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("; alternate stack: %d\n", stack.ss_flags);
}

static void print_affinity(void)
{
    cpu_set_t set;

    sched_getaffinity(0, sizeof set, &set);
    printf("affinity");
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) printf(" %d", i);
    printf("; policy %d, nice %d\n", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0));
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    return atoi((*a)->d_name) - atoi((*b)->d_name);
}

static void print_descriptors(void)
{
    struct dirent **list;
    int n = scandir("/proc/self/fd", &list, NULL, by_number);

    printf("descriptors");
    for (int i = 0; i < n; i++) {
        char path[300], to[300];
        snprintf(path, sizeof path, "/proc/self/fd/%s", list[i]->d_name);
        ssize_t length = readlink(path, to, sizeof to - 1);
        if (length > 0) to[length] = '\0', printf(" %s:%s", list[i]->d_name, strncmp(to, "pipe", 4) ? to : "pipe");
    }
    printf("\n");
}

static void print_limits(void)
{
    struct rlimit limit;
    char cwd[4096];
    mode_t mask = umask(0);

    umask(mask);
    printf("cwd %s umask %o limits", getcwd(cwd, sizeof cwd), mask);
    for (int r = 0; r < RLIMIT_NLIMITS; r++)
        if (getrlimit(r, &limit) == 0) printf(" %lx:%lx", (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
    printf("\n");
}

static void print_all(const char *when, int argc, char **argv)
{
    printf("---- %s:", when);
    for (int i = 1; i < argc; i++) printf(" %s", argv[i]);
    printf("\n");
    print_signals();
    print_affinity();
    print_limits();
    print_descriptors();
    for (char **e = environ; *e; e++) /* but what shells and launchers say of the command itself */
        if (strncmp(*e, "_=", 2) && strncmp(*e, "OMPI_ARGV=", 10) && strncmp(*e, "OMPI_COMMAND=", 13)) printf("%s\n", *e);
    printf("errno %d\n", errno);
    fflush(stdout);
}

static int start_again(const char *self)
{
    char *argv[] = {(char *)self, "child", NULL};
    int status = -1;
    pid_t pid;

    if (posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0) waitpid(pid, &status, 0);
    return status;
}

static void end_in_thread(void)
{
    _exit(3);
}

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "";
    long sum = 0;

    if (strcmp(end, "child") == 0) {
        print_all("child", argc, argv);
        return 0;
    }
#ifdef USE_MPI
    MPI_Init(&argc, &argv);
#else
    print_all("begin", argc, argv);
#endif
    errno = 77;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++) sum += i;
    }
    printf("%ld\n", sum);
#ifndef USE_MPI
    print_all("in the middle", argc, argv);
    printf("child ends with %d\n", start_again("/proc/self/exe"));
#endif
    fflush(stdout);
    int status = system("env | grep -v '^_=' | grep -E '^(LD_|OMP_|OMPP_|_OMPP|GOMP|KMP)' | sort; exit 5");
    printf("system ends with %d\n", status);
    fflush(stdout);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    if (strcmp(end, "abort") == 0) abort();
    if (strcmp(end, "kill") == 0) raise(SIGKILL);
    if (strcmp(end, "segv") == 0) raise(SIGSEGV);
    if (strcmp(end, "_exit") == 0) end_in_thread();
    if (strcmp(end, "exit") == 0) exit(9);
    print_all("end", argc, argv);
    return 42;
}
