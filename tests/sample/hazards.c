/*
 * What programs do with SIGPROF, descriptors, stacks, processes and code while they are sampled. Prints what it finds, which is the same
 * without samples. usage: hazards CASE [FILE]
 * EVENT=CASE in the environment: a parallel region after it.
 */
#include "hazards.h"
#include "hazards_code.h"

/* ---- The signal is blocked, and waited for ----------------------------------------------------------------------- */

static void *wait_in_thread(void *unused)
{
    const struct timespec soon = {0, 50000000}, now = {0, 0};
    sigset_t prof, pending, none;
    struct signalfd_siginfo told;
    struct epoll_event event;
    siginfo_t info = {0};

    (void)unused;
    sigemptyset(&none);
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    spin(0.1);
    block(SIG_BLOCK);
    const int fd = signalfd(-1, &prof, SFD_NONBLOCK | SFD_CLOEXEC), pool = epoll_create1(EPOLL_CLOEXEC);
    spin(0.3);
    sigpending(&pending);
    printf("pending %d, waits %d, descriptor %zd", sigismember(&pending, SIGPROF), sigtimedwait(&prof, &info, &soon),
           read(fd, &told, sizeof told));
    spin(0.1);
    printf(", ppoll %d", ppoll(NULL, 0, &soon, &none));
    spin(0.1);
    printf(", pselect %d", pselect(0, NULL, NULL, NULL, &soon, &none));
    spin(0.1);
    printf(", epoll %d\n", epoll_pwait(pool, &event, 1, 50, &none));
    raise(SIGPROF);
    printf("own: waits %d", sigtimedwait(&prof, &info, &soon));
    printf(" code %d; again %d", info.si_code, sigtimedwait(&prof, &info, &now));
    raise(SIGPROF);
    printf("; descriptor %zd signal %u code %d\n", read(fd, &told, sizeof told), told.ssi_signo, told.ssi_code);
    close(fd);
    close(pool);
    return NULL;
}

static void blocked(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, wait_in_thread, NULL);
    spin(0.2);
    pthread_join(thread, NULL);
    for (int i = 0; i < 300; i++) { /* nothing is lost where it is blocked for a moment */
        block(SIG_BLOCK);
        spin(0.001);
        block(SIG_UNBLOCK);
    }
}

/* Threads that begin with all signals blocked, as those of xz. */
static void masked(void)
{
    double seconds = 0.5;
    pthread_t threads[2];
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, spin_thread, &seconds);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    spin(0.2);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

/* ---- The program's own handler, timer, action -------------------------------------------------------------------- */

static void handler(void)
{
    struct sigaction action = {.sa_sigaction = count_info, .sa_flags = SA_SIGINFO}, before;
    pthread_t threads[3];
    double seconds = 0.4;

    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, spin_thread, &seconds);
    spin(0.2);
    sigaction(SIGPROF, &action, &before);
    printf("before: %s, flags %x\n", before.sa_handler == SIG_DFL ? "default" : "other", (unsigned)before.sa_flags);
    spin(0.2);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("came %d\n", came[SIGPROF]);
    kill(getpid(), SIGPROF);
    printf("came %d, not by kill() %d\n", came[SIGPROF], others);
}

/* On a busy machine signals come late, so that the program works until twenty of them have come, or for five seconds. */
static void timer(void)
{
    const struct itimerval each = {{0, 20000}, {0, 20000}}, none = {{0, 0}, {0, 0}};
    clock_t start;

    spin(0.1);
    signal(SIGPROF, count);
    start = clock();
    setitimer(ITIMER_PROF, &each, NULL);
    for (int i = 0; i < 500 && came[SIGPROF] < 20; i++) spin(0.01);
    setitimer(ITIMER_PROF, &none, NULL);
    printf("came %s\n", came[SIGPROF] < 20                                       ? "too seldom"
                        : came[SIGPROF] * 0.02 > (clock() - start) * 1e-6 + 0.05 ? "too often"
                                                                                 : "as often as asked for");
}

static void query(void)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART},
                     plain = {.sa_handler = SIG_DFL, .sa_flags = SA_ONSTACK};

    for (int i = 0; i < 3; i++) {
        spin(0.1);
        sigaction(SIGPROF, NULL, &action);
        printf("%s, flags %x; ", action.sa_handler == SIG_DFL ? "default" : "other", (unsigned)action.sa_flags);
        if (i == 0) printf("signal() says %s; ", signal(SIGPROF, SIG_DFL) == SIG_DFL ? "default" : "other");
        if (i == 1) sigaction(SIGPROF, &plain, NULL);
    }
    printf("\n");
}

static void killed(void)
{
    spin(0.2);
    fflush(stdout);
    kill(getpid(), SIGPROF);
    for (int i = 0; i < 100; i++) usleep(10000);
    printf("survived\n");
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------- */

static sem_t closed, changed;

static void *close_meanwhile(void *unused)
{
    (void)unused;
    spin(0.1);
    sem_post(&closed);
    sem_wait(&changed);
    for (int i = 0; i < 10; i++) {
        block(SIG_BLOCK); /* what was ours is to rest now, and to go on */
        spin(0.01);
        block(i < 9 ? SIG_UNBLOCK : SIG_BLOCK);
    }
    return NULL; /* and to end */
}

static int own_event(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_CPU_CLOCK};

    attr.exclude_kernel = attr.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
}

/* Numbers up to 1100 become the program's: perf events where they are permitted, else files. */
static void closes(void)
{
    unsigned long long first, second;
    unsigned good = 0, running = 0, n = 0;
    pthread_t thread;

    sem_init(&closed, 0, 0);
    sem_init(&changed, 0, 0);
    pthread_create(&thread, NULL, close_meanwhile, NULL);
    sem_wait(&closed);
    for (int fd = 3; fd < 1100; fd++) close(fd);
    int one = own_event();
    const bool events = one >= 0;
    if (!events) one = open("/dev/zero", O_RDONLY);
    for (int fd = one + 1; fd < 1100; fd++) {
        /* those of ours are high: an event of its own there, for which ours could be taken */
        int again = events && fd > 990 && fd < 1020 ? own_event() : dup(one);
        if (again != fd) {
            dup2(again, fd);
            close(again);
        }
    }
    sem_post(&changed);
    pthread_join(thread, NULL);
    for (int fd = one; fd < 1100; fd++, n++) {
        good += fcntl(fd, F_GETFD) == 0;
        if (!events) continue;
        if (read(fd, &first, sizeof first) != sizeof first) continue;
        for (unsigned i = 0; i < 1000; i++) sink += i;
        if (read(fd, &second, sizeof second) != sizeof second) continue;
        running += second > first;
    }
    printf("open %s, at work %s\n", good == n ? "all" : "some", !events || running == n ? "all" : "some");
    spin(0.1);
}

/* ---- Processes --------------------------------------------------------------------------------------------------- */

static void print_status(const char *who)
{
    char line[200];
    FILE *status = fopen("/proc/self/status", "r");

    while (fgets(line, sizeof line, status))
        if (strncmp(line, "Sig", 3) == 0 && strncmp(line, "SigQ", 4) != 0) printf("%s: %s", who, line);
    fclose(status);
    printf("%s: %s\n", who, action_of_system());
    fflush(stdout);
}

static void report(pid_t pid, const char *who)
{
    int status = -1;

    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status)) printf("%s: signal %d\n", who, WTERMSIG(status));
    else printf("%s: status %d\n", who, WEXITSTATUS(status));
    fflush(stdout);
}

static void processes(void)
{
    const char *started = file ? file : self;
    char *words[] = {(char *)started, "status", NULL}, command[4200];
    pid_t pid;

    spin(0.1);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        print_status("forked");
        spin(0.2);
        fflush(stdout);
        raise(SIGPROF);
        _exit(3);
    }
    report(pid, "forked");
    block(SIG_BLOCK);
    spin(0.1);
    pid = fork();
    if (pid == 0) {
        print_status("forked, blocked");
        _exit(4);
    }
    report(pid, "forked, blocked");
    block(SIG_UNBLOCK);
    for (int i = 0; i < 50; i++) {
        pid = vfork();
        if (pid == 0) {
            signal(SIGPROF, SIG_DFL); /* as who starts others does */
            block(SIG_UNBLOCK);
            execv(started, (char *[]){(char *)started, "nothing", NULL});
            _exit(5);
        }
        report(pid, "vforked");
        spin(0.01);
    }
    posix_spawn(&pid, started, NULL, NULL, words, environ);
    report(pid, "spawned");
    snprintf(command, sizeof command, "%s status", started);
    printf("system %d\n", system(command));
}

/* Replaces itself again and again, the signal blocked or not, with other threads at work. */
static void executes(void)
{
    char left[20];
    int n = file ? atoi(file) : 40;
    double seconds = 10;
    pthread_t thread;

    block(SIG_UNBLOCK);
    if (n == 0) {
        printf("executed\n");
        return;
    }
    pthread_create(&thread, NULL, spin_thread, &seconds);
    spin(0.01);
    if (n % 2) block(SIG_BLOCK);
    spin(0.01);
    snprintf(left, sizeof left, "%d", n - 1);
    execl(self, self, "executes", left, NULL);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void *short_thread(void *number)
{
    sink += (unsigned long)number;
    return NULL;
}

static unsigned timers(void)
{
    char line[200];
    FILE *all = fopen("/proc/self/timers", "r");
    unsigned n = 0;

    while (all && fgets(line, sizeof line, all)) n += strncmp(line, "ID:", 3) == 0;
    if (all) fclose(all);
    return n;
}

static long memory(void)
{
    long total = 0, resident = 0;
    FILE *pages = fopen("/proc/self/statm", "r");

    if (fscanf(pages, "%ld %ld", &total, &resident) != 2) abort();
    fclose(pages);
    return resident * 4;
}

static void threads(void)
{
    pthread_t thread[4];
    long before = 0;

    for (long i = 0; i < 10000; i += 4) {
        for (long k = 0; k < 4; k++)
            if (pthread_create(&thread[k], NULL, short_thread, (void *)(i + k)) != 0) abort();
        for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
        if (i == 1000) before = memory();
    }
    spin(0.2);
    printf("timers left: %s, memory %s\n", timers() > 1 ? "many" : "none",
           memory() - before > 1500 ? "lost" : "as before");
}

/* ---- Calls that can be interrupted ------------------------------------------------------------------------------- */

static void *interrupt_thread(void *pipes)
{
    struct pollfd many[200];
    static sem_t never;
    unsigned long broken = 0;
    char byte = 0;

    for (int i = 0; i < 200; i++) many[i] = (struct pollfd){.fd = ((int *)pipes)[0], .events = POLLIN};
    for (int i = 0; i < 1500; i++) {
        struct timespec until;
        const struct timespec nap = {0, 1000};
        broken += poll(many, 200, 0) < 0;
        broken += poll(many, 200, i % 50 == 0) < 0;
        broken += nanosleep(&nap, NULL) != 0;
        broken += write(((int *)pipes)[3], &byte, 1) != 1;
        broken += read(((int *)pipes)[2], &byte, 1) != 1;
        clock_gettime(CLOCK_REALTIME, &until);
        broken += sem_timedwait(&never, &until) != 0 && errno == EINTR;
        for (unsigned k = 0; k < 20000; k++) sink += k;
    }
    return (void *)broken;
}

static void interrupted(void)
{
    unsigned long all = 0;
    pthread_t thread[2];
    int pipes[2][4];

    for (int i = 0; i < 2; i++)
        if (pipe(pipes[i]) != 0 || pipe(pipes[i] + 2) != 0 ||
            pthread_create(&thread[i], NULL, interrupt_thread, pipes[i]) != 0)
            abort();
    for (int i = 0; i < 2; i++) {
        void *broken;
        pthread_join(thread[i], &broken);
        all += (unsigned long)broken;
    }
    printf("interrupted %lu\n", all);
}

/* ---- Before the first event -------------------------------------------------------------------------------------- */

/* Both go on, to events of their own. */
static void parted(void)
{
    spin(0.4);
    const pid_t pid = fork();
    if (pid) report(pid, "forked");
    else spin(0.1);
}

__attribute__((noinline)) static void descend(int levels)
{
    if (levels) descend(levels - 1);
    else spin(3.5);
    sink++;
}

/* More frames than there is room for. */
static void deep(void) { descend(120); }

/* ---- Which one --------------------------------------------------------------------------------------------------- */

static void nothing(void) {}
static void status(void) { print_status("started"); }
static void serial(void) { spin(0.5); }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"blocked", blocked},   {"masked", masked},   {"handler", handler}, {"timer", timer},
    {"query", query},       {"killed", killed},   {"closes", closes},   {"processes", processes},
    {"executes", executes}, {"threads", threads}, {"stacks", stacks},   {"jumps", jumps},
    {"code", code},         {"modules", modules}, {"library", library}, {"interrupted", interrupted},
    {"nothing", nothing},   {"status", status},   {"serial", serial},   {"parted", parted},
    {"deep", deep},
};

static void work(void) { sink++; }

int main(int argc, char **argv)
{
    self = argv[0];
    file = argc > 2 ? argv[2] : NULL;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc < 2 || strcmp(argv[1], cases[i].name) != 0) continue;
        cases[i].run();
        const char *event = getenv("EVENT");
        if (event && strcmp(event, argv[1]) == 0) {
#pragma omp parallel num_threads(2)
            work();
        }
        return 0;
    }
    return 2;
}
