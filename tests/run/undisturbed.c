/*
 * What measurement must leave as it is inside the program's threads.
 *
 * floats TRAPS ROUNDING: every thread sets these, runs constructs, and finds traps, rounding and flags as it has set them. With MPI
 * (WITH_MPI), ranks also send messages, and meet. first
 * measure|exit|jump US: signals come after that many microseconds, while measurement starts; the handler measures, ends the program
 * (status 4), or leaves by longjmp (6). together measure|jump US: the first events of several threads come at once, and signals
 * for each of them; it prints how often all threads have entered their region. stack BYTES: all constructs are in a thread with so
 * small a stack.
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "ompp.h"
#ifdef WITH_MPI
#include <mpi.h>
#endif

static int traps, rounding, wrong;

static void set_floats(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(rounding);
    feenableexcept(traps);
}

static void look_at_floats(const char *where)
{
    const int flags = fetestexcept(FE_ALL_EXCEPT), round = fegetround(), enabled = fegetexcept();

    if (!flags && round == rounding && enabled == traps)
        return;
#pragma omp critical(print)
    if (!wrong++)
        printf("%s: flags %#x, rounding %#x, traps %#x\n", where, flags, round, enabled);
}

static int work(void)
{
    int sum = 0;

#pragma omp parallel num_threads(2)
    {
        set_floats();
        ompp_region_begin("region");
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; i++) {
#pragma omp critical
            sum++;
        }
#pragma omp single
#pragma omp atomic
        sum++;
#pragma omp barrier
        ompp_region_end("region");
        ompp_progress("point");
        look_at_floats("thread");
    }
    look_at_floats("main");
    return sum;
}

#ifdef WITH_MPI
static void send_messages(void)
{
    int rank, size, sent = 1, sum = 0, received = 0;
    MPI_Request request;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    look_at_floats("MPI");
}
#else
static void send_messages(void) {}
#endif

static int floats(char **argv)
{
    int sum = 0;

    traps = (int)strtol(argv[2], NULL, 0);
    rounding = (int)strtol(argv[3], NULL, 0);
    omp_get_max_threads(); /* LLVM's library divides as it begins */
    set_floats();
    for (int k = 0; k < 400; k++) {
        sum += work();
        send_messages();
    }
    printf("%d, %d wrong\n", sum, wrong);
    return 0;
}

static const char *action;
static sigjmp_buf before;

static void handler(int signal)
{
    (void)signal;
    ompp_region_begin("in handler");
    ompp_region_end("in handler");
    if (strcmp(action, "exit") == 0)
        exit(4);
    if (strcmp(action, "jump") == 0)
        siglongjmp(before, 1);
}

static void *other_thread(void *unused)
{
    ompp_region_begin("other thread");
    ompp_region_end("other thread");
    return unused;
}

static int first(char **argv)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval t = {.it_value = {0, atoi(argv[3])}};
    pthread_t thread;

    action = argv[2];
    if (strcmp(action, "measure") == 0)
        t.it_interval = t.it_value;
    sigaction(SIGALRM, &a, NULL);
    if (sigsetjmp(before, 1) == 0) {
        setitimer(ITIMER_REAL, &t, NULL);
        for (int i = 0; i < 200 || t.it_interval.tv_usec == 0; i++) {
            ompp_region_begin("first");
            ompp_region_end("first");
            usleep(50);
        }
        /* Where debug information is installed, the end of a run works too long to go on beside so many signals. */
        if (t.it_interval.tv_usec < 100)
            setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
        return 5;
    }
    ompp_region_begin("second");
    ompp_region_end("second");
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    return 6;
}

enum { TOGETHER = 4, EVENTS = 50 };

static pthread_barrier_t all_there;
static __thread sigjmp_buf own_before;
static __thread volatile int may_jump;
static int entered;

static void own_handler(int signal)
{
    (void)signal;
    ompp_region_begin("in handler");
    ompp_region_end("in handler");
    if (!may_jump)
        return;
    may_jump = 0;
    siglongjmp(own_before, 1);
}

static void *come_together(void *unused)
{
    sigset_t mask, none;
    int cancel, mine = 0;

    sigemptyset(&none);
    pthread_barrier_wait(&all_there);
    if (sigsetjmp(own_before, 1) == 0) {
        may_jump = strcmp(action, "jump") == 0;
        ompp_region_begin("together");
        ompp_region_end("together");
        may_jump = 0;
        mine++;
    }
    for (int i = 1; i < EVENTS; i++, mine++) {
        ompp_region_begin("together");
        ompp_region_end("together");
    }
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
    __atomic_add_fetch(&entered, mine, __ATOMIC_RELAXED);
    if (cancel != PTHREAD_CANCEL_ENABLE || memcmp(&mask, &none, sizeof mask) != 0)
        __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
    pthread_barrier_wait(&all_there);
    return unused;
}

static int together(char **argv)
{
    struct sigaction a = {.sa_handler = own_handler, .sa_flags = SA_RESTART};
    pthread_t threads[TOGETHER];

    action = argv[2];
    sigaction(SIGUSR1, &a, NULL);
    pthread_barrier_init(&all_there, NULL, TOGETHER + 1);
    for (int i = 0; i < TOGETHER; i++)
        pthread_create(&threads[i], NULL, come_together, NULL);
    pthread_barrier_wait(&all_there);
    for (int n = 0; n < 20; n++) {
        for (volatile int spin = 0; spin < 300 * atoi(argv[3]); spin++)
            continue;
        for (int i = 0; i < TOGETHER; i++)
            pthread_kill(threads[i], SIGUSR1);
    }
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < TOGETHER; i++)
        pthread_join(threads[i], NULL);
    printf("%d, %d wrong\n", entered, wrong);
    return 0;
}

static void *on_small_stack(void *sum)
{
    *(int *)sum = work();
    return NULL;
}

static int stack(char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int sum = 0;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)atol(argv[2]));
    if (pthread_create(&thread, &attributes, on_small_stack, &sum))
        return 2;
    pthread_join(thread, NULL);
    printf("%d\n", sum);
    return 0;
}

int main(int argc, char **argv)
{
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    floats(argv);
    MPI_Finalize();
    look_at_floats("MPI_Finalize");
    return wrong;
#endif
    if (argc > 3 && strcmp(argv[1], "floats") == 0)
        return floats(argv);
    if (argc > 3 && strcmp(argv[1], "first") == 0)
        return first(argv);
    if (argc > 3 && strcmp(argv[1], "together") == 0)
        return together(argv);
    return argc > 2 ? stack(argv) : 1;
}
