/*
 * Whose memory it is, is found out under a lock. A handler of a timer jumps out of it ("jump"), or the thread is cancelled there
 * ("cancel"); meanwhile other threads touch new memory, too. Prints "done": nobody waits for a lock that nobody has. Local data of the
 * thread that jumped has its names afterwards.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 256, JUMPS = 400, CANCELS = 200, OTHERS = 2, LATE = 100000 };

static volatile sig_atomic_t jumps;
static sigjmp_buf back;
static atomic_int over;

static void handler(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* Others might know of it, as far as the compiler can tell. */
#define SHARED(array) __asm__ volatile("" ::"r"(array) : "memory")

/* Frames that are looked for each time, at another depth. */
__attribute__((noinline)) static int deep(int n)
{
    char own[64] = {0};

    SHARED(own);
    own[n % 64]++;
    return n ? deep(n - 1) + own[0] : own[0];
}

/* Local data of a thread that has been left in the middle of such a search. */
__attribute__((noinline)) static void after_all(void)
{
    char late[64] = {0};

    for (int i = 0; i < LATE; i++) {
        SHARED(late);
        late[i % 64]++;
    }
}

/* Memory that is new at each turn: for ever, or until all is over. */
static void *touch(void *until_over)
{
    char *all = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    while (!until_over || !over) {
        for (int i = 0; i < PAGES; i++) all[i * PAGE] += (char)deep(i % 40);
        mmap(all, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    munmap(all, (size_t)PAGES * PAGE);
    return NULL;
}

static void *cancelled(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return touch(unused);
}

static void jump(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGALRM, &action, NULL);
    if (sigsetjmp(back, 1) == 0) setitimer(ITIMER_REAL, &often, NULL);
    if (++jumps < JUMPS) touch(NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
}

static void cancel(void)
{
    for (int i = 0; i < CANCELS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, cancelled, NULL) != 0) continue;
        usleep(300);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    pthread_t others[OTHERS];
    sigset_t alarm, before;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    for (int i = 0; i < OTHERS; i++) pthread_create(&others[i], NULL, touch, &over);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (argc > 1 && strcmp(argv[1], "jump") == 0) jump();
    else cancel();
    after_all();
    over = 1;
    for (int i = 0; i < OTHERS; i++) pthread_join(others[i], NULL);
    puts("done");
    return 0;
}
