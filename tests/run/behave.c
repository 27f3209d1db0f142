/*
 * Does what measurement could disturb, among parallel regions, and prints what it sees of itself: with and without measurement the same.
 * The argument says what; "rate N": N parallel regions; "output N": N MiB on stdout.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int sum;

static void team(void)
{
    sum = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        sum++;
#pragma omp for
        for (int i = 0; i < 4; i++) {
#pragma omp critical
            sum++;
        }
    }
    printf("team: %d\n", sum);
    fflush(stdout);
}

/* ---- What it is ---- */

static void print_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    char path[300], target[300];

    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n < 0 || atoi(e->d_name) < 3 || atoi(e->d_name) == dirfd(dir))
            continue;
        target[n] = '\0';
        printf("descriptor %s\n", e->d_name);
    }
    if (dir)
        closedir(dir);
}

static void print_signals(void)
{
    sigset_t mask;

    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int s = 1; s < NSIG; s++) {
        struct sigaction action;
        if (sigaction(s, NULL, &action) == 0 && (action.sa_handler != SIG_DFL || sigismember(&mask, s) > 0))
            printf("signal %d: %s%s\n", s, action.sa_handler == SIG_IGN ? "ignored" : action.sa_handler == SIG_DFL ? "default" : "handled",
                   sigismember(&mask, s) > 0 ? ", blocked" : "");
    }
}

static void self(void)
{
    cpu_set_t cpus;
    char dir[4096];
    struct rlimit limit;
    mode_t mask = umask(0);

    umask(mask);
    team();
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("cpus %d, dir %s, umask %o, priority %d\n", CPU_COUNT(&cpus), getcwd(dir, sizeof dir), (unsigned)mask, getpriority(PRIO_PROCESS, 0));
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (getrlimit(i, &limit) == 0)
            printf("limit %d: %lld\n", i, (long long)limit.rlim_cur);
    print_descriptors();
    print_signals();
    printf("next descriptor: %d\n", dup(0));
    fflush(stdout);
    if (system("env | grep -v '^_=' | sort"))
        printf("no env\n");
    if (system("ls /proc/self/fd | wc -l"))
        printf("no ls\n");
    team();
}

/* ---- Children ---- */

static void finish(const char *what, pid_t pid)
{
    int status = 0;

    waitpid(pid, &status, 0);
    printf("%s: exited %d status %d signal %d\n", what, WIFEXITED(status), WEXITSTATUS(status), WTERMSIG(status));
    fflush(stdout);
}

/* A thread as runtimes without the C library make it: no thread-local storage of its own, so it calls nobody. */
static int on_a_thread(void *flag)
{
    __atomic_add_fetch((int *)flag, 1, __ATOMIC_RELEASE);
    return 0;
}

static void clone_thread(void)
{
    const int shared = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    static char stack[65536] __attribute__((aligned(64)));
    static int done = 0, alive;

    for (int i = 0; i < 20; i++) {
        __atomic_store_n(&alive, 1, __ATOMIC_RELEASE);
        clone(on_a_thread, stack + sizeof stack, shared, &done, NULL, NULL, &alive);
        team();
        while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    printf("threads of clone: %d\n", done);
}

static int on_a_clone(void *flag)
{
    *(volatile int *)flag = 1;
    return 6;
}

static void children(void)
{
    char *args[] = {"sh", "-c", "exit 4", NULL};
    static char stack[65536] __attribute__((aligned(64)));
    int done = 0;
    pid_t pid;

    team();
    fflush(stdout);
    if ((pid = fork()) == 0) {
        int mine = 0;
#pragma omp parallel num_threads(1) reduction(+ : mine)
        mine += 1;
        exit(mine);
    }
    finish("fork", pid);
    if ((pid = fork()) == 0)
        abort();
    finish("fork and abort", pid);
    if ((pid = vfork()) == 0) {
        execv("/bin/sh", args);
        _exit(9);
    }
    finish("vfork", pid);
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, args, environ) == 0)
        finish("posix_spawn", pid);
    pid = clone(on_a_clone, stack + sizeof stack, SIGCHLD | CLONE_VM, &done);
    finish("clone", pid);
    printf("clone: %d, system: %d\n", done, WEXITSTATUS(system("exit 5")));
    FILE *pipe = popen("echo from a pipe", "r");
    char line[100] = "";
    if (pipe && fgets(line, sizeof line, pipe))
        printf("popen: %s", line);
    printf("pclose: %d\n", pipe ? pclose(pipe) : -1);
    clone_thread();
    team();
}

/* ---- Threads, jumps, descriptors ---- */

static void *work(void *how)
{
    int mine = 0;

#pragma omp parallel num_threads(2) reduction(+ : mine)
    mine += 1;
    if (how)
        pthread_exit((void *)(long)mine);
    return (void *)(long)mine;
}

/* With a pending cancel from its first moment or a later one; it may be taken in pause() alone. */
static void *work_and_wait(void *unused)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    work(NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (;;)
        pause();
    return unused;
}

static void *work_for_ever(void *unused)
{
    for (;;)
        work(NULL);
    return unused;
}

static void threads(void)
{
    pthread_t thread[4];
    void *result;
    long all = 0;

    for (int round = 0; round < 20; round++) {
        for (long i = 0; i < 4; i++)
            pthread_create(&thread[i], NULL, work, i % 2 ? "exit" : NULL);
        for (int i = 0; i < 4; i++) {
            pthread_join(thread[i], &result);
            all += (long)result;
        }
    }
    printf("threads: %ld\n", all);
    all = 0;
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread[0], NULL, work_and_wait, NULL);
        pthread_cancel(thread[0]);
        pthread_join(thread[0], &result);
        all += result == PTHREAD_CANCELED;
    }
    printf("cancelled: %ld\n", all);
    pthread_create(&thread[0], NULL, work_for_ever, NULL); /* is in a region when the program ends */
    pthread_detach(thread[0]);
    team();
}

static jmp_buf place;

static void __attribute__((noinline)) deep(int n)
{
    if (n == 0)
        longjmp(place, 1);
#pragma omp parallel num_threads(1) if (0)
    deep(n - 1);
}

/* Out of plain functions, and out of a serialised region and another in it, which OpenMP does not allow and programs do. */
static void jumps(void)
{
    volatile int came = 0;

    for (volatile int i = 0; i < 100; i++) {
        if (setjmp(place) == 0)
            deep(i % 3);
        else
            came++;
    }
    printf("jumps: %d\n", came);
    team();
}

static void descriptors(void)
{
    team();
    for (int fd = 3; fd < 1000; fd++)
        close(fd);
    int a = open("/dev/null", O_RDONLY), b = open("/dev/null", O_WRONLY);
    printf("opened %d %d\n", a, b);
    for (int i = 0; i < 200; i++)
        work(NULL);
    team();
    close(a);
    close(b);
    for (int fd = 3; fd < 1000; fd++)
        if (close(fd) == 0)
            printf("not ours: %d\n", fd);
    fclose(stdin);
    team();
}

/* Descriptor 2 becomes a file of the program's, open to the end: nobody else's text is to get there. */
static void reuse(void)
{
    close(2);
    int fd = open("data.out", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    team();
    printf("opened %d, written %zd\n", fd, write(fd, "data\n", 5));
}

static volatile sig_atomic_t seen;

static void handler(int number)
{
    seen += number == SIGUSR1;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = handler};

    sigaction(SIGUSR1, &action, NULL);
    signal(SIGTERM, SIG_IGN);
    signal(SIGXFSZ, handler);
    for (int i = 0; i < 100; i++) {
        raise(SIGUSR1);
        work(NULL);
    }
    errno = 0;
    team();
    printf("seen %d\n", (int)seen);
    print_signals();
}

static void library(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW);
    int (*run)(int) = handle ? (int (*)(int))dlsym(handle, "library_team") : NULL;

    printf("library: %d\n", run ? run(3) : -1);
    team();
    if (handle)
        dlclose(handle);
    printf("dlerror: %s\n", dlerror() ? "something" : "nothing");
    team();
}

static void rate(int n)
{
    long all = 0;

    for (int i = 0; i < n; i++)
        all += (long)work(NULL);
    printf("rate: %ld\n", all);
}

static void output(long mebibytes)
{
    char *text = malloc(1 << 20);

    memset(text, 'x', 1 << 20);
    for (long i = 0; i < mebibytes; i++) {
        work(NULL);
        fwrite(text, 1, 1 << 20, stdout);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "self";

    if (strcmp(what, "self") == 0)
        self();
    if (strcmp(what, "children") == 0)
        children();
    if (strcmp(what, "threads") == 0)
        threads();
    if (strcmp(what, "jumps") == 0)
        jumps();
    if (strcmp(what, "descriptors") == 0)
        descriptors();
    if (strcmp(what, "reuse") == 0)
        reuse();
    if (strcmp(what, "signals") == 0)
        signals();
    if (strcmp(what, "library") == 0)
        library(argv[2]);
    if (strcmp(what, "rate") == 0)
        rate(atoi(argv[2]));
    if (strcmp(what, "output") == 0)
        output(atol(argv[2]));
    if (strcmp(what, "exec") == 0 && argc > 2) {
        team();
        execl(argv[0], argv[0], "exec", NULL);
    }
    if (strcmp(what, "exec") == 0)
        team();
    return strcmp(what, "status") == 0 ? 77 : 0;
}
