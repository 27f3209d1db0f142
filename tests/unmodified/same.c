/*
 * Everything of a process that measurement must leave alone, printed before and after OpenMP (and MPI) have started, and by a program that this
 * one starts. Ends as its argument says.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef USE_MPI
#include <mpi.h>
#endif

extern char **environ;

/* Of a handler that is a function: whose library it is from. */
static const char *handler_of(const struct sigaction *action)
{
    Dl_info info;

    if (action->sa_handler == SIG_DFL) return "d";
    if (action->sa_handler == SIG_IGN) return "i";
    return dladdr((void *)action->sa_sigaction, &info) && info.dli_fname && strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') : "h";
}

static void print_signals(void)
{
    sigset_t blocked;

    sigprocmask(SIG_BLOCK, NULL, &blocked);
    printf("signals");
    for (int s = 1; s < 65; s++) {
        struct sigaction action;
        if (sigaction(s, NULL, &action) != 0) continue;
        printf(" %s%s", handler_of(&action), sigismember(&blocked, s) ? "b" : "");
        if (action.sa_flags) printf("/%x", (unsigned)action.sa_flags);
        for (int other = 1; other < 65; other++)
            if (sigismember(&action.sa_mask, other) > 0) printf("+%d", other);
    }
    stack_t stack;
    sigset_t pending;
    struct itimerval timer;
    sigaltstack(NULL, &stack);
    sigpending(&pending);
    printf("; alternate stack %d, pending %d", stack.ss_flags, !sigisemptyset(&pending));
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
        if (getitimer(which, &timer) == 0) printf(", timer %d", timer.it_value.tv_sec || timer.it_value.tv_usec);
    printf("\n");
}

static void print_affinity(const char *who)
{
    cpu_set_t set;

    sched_getaffinity(0, sizeof set, &set);
    printf("affinity of %s", who);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) printf(" %d", i);
    printf("; policy %d, nice %d\n", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0));
}

static void print_file(const char *path)
{
    char text[4096];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;

    if (file) fclose(file);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0' || text[i] == '\n') text[i] = ' ';
    text[length] = '\0';
    printf("%s: %s\n", path, text);
}

static void print_process(void)
{
    char path[4096];
    struct dirent **list;

    print_file("/proc/self/cmdline");
    print_file("/proc/self/comm");
    print_file("/proc/self/oom_score_adj");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    printf("%s, invoked as %s; dumpable %d, new privileges %d, at parent's death %d, personality %x, slack %d\n", path, program_invocation_name,
           prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_PDEATHSIG, &(int){0}),
           (unsigned)personality(0xffffffff), prctl(PR_GET_TIMERSLACK));
    printf("leads group %d, session %d; rounding %d, exceptions %x; locale %s; tasks %d\n", getpgrp() == getpid(), getsid(0) == getpid(),
           fegetround(), (unsigned)fegetexcept(), setlocale(LC_ALL, NULL), scandir("/proc/self/task", &list, NULL, NULL) - 2);
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
        if (length <= 0) continue;
        to[length] = '\0';
        int fd = atoi(list[i]->d_name);
        printf(" %d:%s:%x:%x", fd, strncmp(to, "pipe", 4) ? to : "pipe", (unsigned)fcntl(fd, F_GETFL), (unsigned)fcntl(fd, F_GETFD));
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
    int error = errno;

    printf("---- %s: errno %d", when, error);
    for (int i = 1; i < argc; i++) printf(" %s", argv[i]);
    printf("\n");
    print_signals();
    print_affinity("this thread");
    print_process();
    print_limits();
    print_descriptors();
    for (char **e = environ; *e; e++) /* but what shells and launchers say of the command itself */
        if (strncmp(*e, "_=", 2) && strncmp(*e, "OMPI_ARGV=", 10) && strncmp(*e, "OMPI_COMMAND=", 13)) printf("%s\n", *e);
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

/* Which rank speaks: the last. Whether this one does not. The others end well: a launcher kills what is left when one does not. */
static bool silence(void)
{
#ifdef USE_MPI
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *size = getenv("OMPI_COMM_WORLD_SIZE");

    if (!rank) rank = getenv("PMI_RANK"), size = getenv("PMI_SIZE");
    if (rank && size && atoi(rank) + 1 < atoi(size) && !freopen("/dev/null", "w", stdout)) exit(1);
    return rank && size && atoi(rank) + 1 < atoi(size);
#else
    return false;
#endif
}

static void run_team(void)
{
    long sum = 0;

#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++) sum += i;
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); i++) {
#pragma omp ordered
            print_affinity("a thread of the team");
        }
    }
    printf("%ld\n", sum);
}

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "";

    if (strcmp(end, "child") == 0) {
        print_all("child", argc, argv);
        return 0;
    }
    const bool silent = silence();
    print_all("begin", argc, argv);
#ifdef USE_MPI
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    errno = 77;
    run_team();
    print_all("in the middle", argc, argv);
    printf("child ends with %d\n", start_again("/proc/self/exe"));
    fflush(stdout);
    int status = system("env | grep -v '^_=' | grep -E '^(LD_|OMP_|OMPP_|_OMPP|GOMP|KMP)' | sort; exit 5");
    printf("system ends with %d\n", status);
    fflush(stdout);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    print_all("end", argc, argv);
    if (silent) return 0;
    if (strcmp(end, "abort") == 0) abort();
    if (strcmp(end, "kill") == 0) raise(SIGKILL);
    if (strcmp(end, "segv") == 0) raise(SIGSEGV);
    if (strcmp(end, "_exit") == 0) _exit(3);
    if (strcmp(end, "exit") == 0) exit(9);
    return 42;
}
