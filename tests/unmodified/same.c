/*
 * Everything of a process that measurement must leave alone, printed before and after OpenMP (and MPI) have started, by each thread of a
 * team, by a child and by a program that this one starts, and at exit. Ends as its argument says.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#ifdef USE_MPI
#include <mpi.h>
#endif

extern char **environ;

/* First of all: what prints computes. */
static void print_floats(const char *who)
{
    const int flags = fetestexcept(FE_ALL_EXCEPT), traps = fegetexcept(), rounding = fegetround();
#ifdef __x86_64__
    fenv_t all;

    fegetenv(&all);
    const unsigned control = all.__control_word, status = all.__status_word, tags = all.__tags, sse = all.__mxcsr;
    fesetenv(&all);
    printf("floats of %s: x87 %x %x %x, sse %x\n", who, control, status, tags, sse);
#endif
    printf("floats of %s: flags %x, traps %x, rounding %x\n", who, (unsigned)flags, (unsigned)traps, (unsigned)rounding);
}

/* Of the calling thread. */
static void print_thread(const char *who)
{
    pthread_attr_t attributes;
    size_t stack = 0, guard = 0;
    int state, type;
    char name[32] = "";
    stack_t alternate;
    sigset_t blocked;

    print_floats(who);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    pthread_setcancelstate(state, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    pthread_setcanceltype(type, NULL);
    if (getpid() != gettid() && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &stack);
        pthread_attr_getguardsize(&attributes, &guard);
        pthread_attr_destroy(&attributes);
    }
    pthread_getname_np(pthread_self(), name, sizeof name);
    sigaltstack(NULL, &alternate);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    printf("%s: name %s, stack %zu, guard %zu, cancel %d %d, alternate stack %x, slack %d, io priority %ld, own locale %d, blocked", who, name, stack,
           guard, state, type, (unsigned)alternate.ss_flags, prctl(PR_GET_TIMERSLACK), syscall(SYS_ioprio_get, 1, 0),
           uselocale((locale_t)0) != LC_GLOBAL_LOCALE);
    for (int s = 1; s < 65; s++)
        if (sigismember(&blocked, s) > 0) printf(" %d", s);
    printf("\n");
}

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
        if (getitimer(which, &timer) == 0)
            printf(", timer %d %ld %ld", timer.it_value.tv_sec || timer.it_value.tv_usec, (long)timer.it_interval.tv_sec, (long)timer.it_interval.tv_usec);
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

/* Lines of /proc/self/status that are no sizes of memory but what is locked. */
static void print_status(void)
{
    static const char *const names[] = {"Umask",  "TracerPid", "Uid",    "Gid",     "Groups", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt",
                                        "Cap", "NoNewPrivs", "Seccomp", "Speculation", "Cpus_allowed_list", "Mems_allowed_list", "VmLck", "VmPin", "THP_enabled", "CoreDumping"};
    char line[500];
    FILE *file = fopen("/proc/self/status", "r");

    while (file && fgets(line, sizeof line, file))
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0) printf("%s", line);
    if (file) fclose(file);
}

/* Of the C library: what functions keep between calls. */
static void print_library(void)
{
    static bool drawn;
    const char *error = dlerror();

    printf("dlerror %s, optind %d, decimal point %s, bytes of a character %zu, zone %s %ld\n", error ? error : "none", optind,
           localeconv()->decimal_point, MB_CUR_MAX, tzname[0], timezone);
    if (drawn) printf("random numbers %d %ld %ld\n", rand(), random(), lrand48());
    drawn = true;
    FILE *const streams[] = {stdin, stdout, stderr};
    for (int i = 0; i < 3; i++)
        printf("stream %d: descriptor %d, buffer %zu, lines %d, pending %d, wide %d, offset %d\n", i, fileno(streams[i]), __fbufsize(streams[i]),
               __flbf(streams[i]), i == 1 ? 0 : (int)__fpending(streams[i]), fwide(streams[i], 0), i == 0 && lseek(0, 0, SEEK_CUR) > 0);
    printf("children: %d, %s\n", (int)waitpid(-1, NULL, WNOHANG | __WALL), strerror(errno));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void print_tasks(void)
{
    struct dirent **list;
    char names[64][64] = {""}, path[300];
    int n = scandir("/proc/self/task", &list, NULL, NULL), k = 0;

    for (int i = 0; i < n && k < 64; i++) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", list[i]->d_name);
        FILE *file = list[i]->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (!file) continue;
        if (fgets(names[k], sizeof names[k], file)) names[k++][strcspn(names[k], "\n")] = '\0';
        fclose(file);
    }
    qsort(names, (size_t)k, sizeof names[0], by_text);
    printf("tasks %d:", k);
    for (int i = 0; i < k; i++) printf(" %s", names[i]);
    printf("\n");
}

static void print_process(void)
{
    char path[4096];

    print_file("/proc/self/cmdline");
    print_file("/proc/self/coredump_filter");
    print_file("/proc/self/timers");
    print_file("/proc/self/loginuid");
    print_file("/proc/self/comm");
    print_file("/proc/self/oom_score_adj");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    printf("%s, invoked as %s; dumpable %d, new privileges %d, at parent's death %d, personality %x, slack %d\n", path, program_invocation_name,
           prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_PDEATHSIG, &(int){0}),
           (unsigned)personality(0xffffffff), prctl(PR_GET_TIMERSLACK));
    printf("leads group %d, session %d; rounding %d, exceptions %x; locale %s; terminal %d\n", getpgrp() == getpid(), getsid(0) == getpid(),
           fegetround(), (unsigned)fegetexcept(), setlocale(LC_ALL, NULL), open("/dev/tty", O_RDWR | O_CLOEXEC | O_PATH) < 0 ? errno : 0);
    printf("subreaper %d, kept capabilities %d, secure bits %d, huge pages off %d, time stamp counter %d, memory policy %ld, processor %d\n",
           prctl(PR_GET_CHILD_SUBREAPER, &(int){0}), prctl(PR_GET_KEEPCAPS, 0, 0, 0, 0), prctl(PR_GET_SECUREBITS, 0, 0, 0, 0),
           prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), prctl(PR_GET_TSC, &(int){0}), syscall(SYS_get_mempolicy, &(int){0}, NULL, 0, NULL, 0), sched_getcpu() < 0);
    print_status();
    print_tasks();
    print_library();
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
        for (char *c = to, *from = to; (*c = *from); from++) c += *c < '0' || *c > '9'; /* numbers are of this run */
        if (strstr(to, "ucx_shm_posix_")) strcpy(strstr(to, "ucx_shm_posix_"), "ucx"); /* so are letters */
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

    print_floats(when);
    printf("---- %s: errno %d", when, error);
    for (int i = 1; i < argc; i++) printf(" %s", argv[i]);
    printf("\n");
    fflush(stdout);
    print_signals();
    print_thread("this thread");
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

static volatile long table[100];

static void run_team(void)
{
    long sum = 0;

#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++) sum += table[i] += i;
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); i++) {
#pragma omp ordered
            {
                print_thread("a thread of the team");
                print_affinity("a thread of the team");
            }
        }
    }
    printf("%ld\n", sum);
    printf("OpenMP: %d threads, limit %d, dynamic %d, nested %d, levels %d, processors %d, cancellation %d, binding %d, places %d, wait %s\n",
           omp_get_max_threads(), omp_get_thread_limit(), omp_get_dynamic(), omp_get_max_active_levels() > 1, omp_get_level(), omp_get_num_procs(),
           omp_get_cancellation(), (int)omp_get_proc_bind(), omp_get_num_places(), getenv("OMP_WAIT_POLICY"));
}

/* errno is the same behind each construct. */
static void print_errors(void)
{
    omp_lock_t lock;
    int i = 0, n = 0;
    int seen[20];

#define SEE(what)                \
    do {                         \
        errno = 77;              \
        what;                    \
        seen[n++] = errno;       \
    } while (0)
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
    SEE(PRAGMA(omp parallel) { PRAGMA(omp barrier) });
    SEE(PRAGMA(omp critical) i++);
    SEE(PRAGMA(omp atomic) i++);
    SEE(PRAGMA(omp single) i++);
    SEE(PRAGMA(omp task) i++);
    SEE(PRAGMA(omp taskwait));
    SEE(omp_init_lock(&lock));
    SEE(omp_set_lock(&lock));
    SEE(omp_unset_lock(&lock));
    SEE(omp_destroy_lock(&lock));
    SEE(PRAGMA(omp parallel for schedule(dynamic)) for (int k = 0; k < 10; k++) continue);
#ifdef USE_MPI
    int rank, size, sent = 1, received;
    MPI_Request request;
    SEE(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    SEE(MPI_Type_size(MPI_INT, &size));
    SEE(MPI_Isend(&sent, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request));
    SEE(MPI_Recv(&received, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    SEE(MPI_Wait(&request, MPI_STATUS_IGNORE));
    SEE(MPI_Wtime());
#endif
    printf("errno behind calls:");
    for (int k = 0; k < n; k++) printf(" %d", seen[k]);
    printf("\n");
}

#ifdef USE_MPI
static void print_mpi(void)
{
    int level, flag, length, main_thread, *tag_bound = NULL, *global = NULL;
    MPI_Errhandler world, own;
    char name[MPI_MAX_OBJECT_NAME];

    MPI_Query_thread(&level);
    MPI_Is_thread_main(&main_thread);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &own);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_bound, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
    printf("MPI: threads %d %d, errors %d %d, name %s, largest tag %d, global time %d\n", level, main_thread, world == MPI_ERRORS_ARE_FATAL,
           own == MPI_ERRORS_ARE_FATAL, name, tag_bound ? *tag_bound : 0, global ? *global : 0);
}
#else
static void print_mpi(void) {}
#endif

/* ---- What comes by itself ---------------------------------------------------------------------------------------- */

static volatile sig_atomic_t came[65];

static void count_signal(int s) { came[s]++; }

static void count_signals(void)
{
    static const int some[] = {SIGALRM, SIGVTALRM, SIGPROF, SIGCHLD, SIGIO, SIGURG, SIGUSR1, SIGUSR2, SIGTRAP, SIGPIPE, SIGXFSZ, SIGWINCH, SIGCONT};
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};

    for (unsigned i = 0; i < sizeof some / sizeof some[0]; i++) sigaction(some[i], &action, NULL);
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++) sigaction(s, &action, NULL);
}

static void print_signals_that_came(void)
{
    printf("signals that came:");
    for (int s = 1; s < 65; s++)
        if (came[s]) printf(" %d*%d", s == SIGCHLD ? 1 : (int)came[s], s); /* those of children may be joined */
    printf("\n");
}

static char **arguments;

static void at_exit_first(void)
{
    printf("at exit: what was registered first comes last\n");
    print_all("at exit", 1, arguments);
}

static void at_exit_last(void) { printf("at exit: what was registered last comes first\n"); }

__attribute__((constructor)) static void before_main(int argc, char **argv, char **envp)
{
    arguments = argv;
    if (argc > 1 && strcmp(argv[1], "child") != 0) atexit(at_exit_first);
    (void)envp;
}

__attribute__((destructor)) static void behind_all(void)
{
    printf("destructor: rounding %d, tasks %s\n", fegetround(), access("/proc/self/task", F_OK) ? "unknown" : "known");
}

static void look_in_child(int argc, char **argv)
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        print_all("forked child", argc, argv);
        _exit(6);
    }
    waitpid(child, &status, 0);
    printf("forked child ends with %d\n", status);
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
    atexit(at_exit_last);
    count_signals();
#ifdef USE_MPI
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    errno = 77;
    run_team();
    print_all("in the middle", argc, argv);
    print_errors();
    print_mpi();
    look_in_child(argc, argv);
    printf("child ends with %d\n", start_again("/proc/self/exe"));
    fflush(stdout);
    int status = system("env | grep -v '^_=' | grep -E '^(LD_|OMP_|OMPP_|_OMPP|GOMP|KMP)' | sort; exit 5");
    printf("system ends with %d\n", status);
    fflush(stdout);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    print_signals_that_came();
    print_all("end", argc, argv);
    if (silent) return 0;
    if (strcmp(end, "abort") == 0) abort();
    if (strcmp(end, "kill") == 0) raise(SIGKILL);
    if (strcmp(end, "segv") == 0) raise(SIGSEGV);
    if (strcmp(end, "_exit") == 0) _exit(3);
    if (strcmp(end, "exit") == 0) exit(9);
    return 42;
}
