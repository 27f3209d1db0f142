/* Hooks in a signal handler from the first moment on, in a forked child, and around longjmp. Says nothing; ends with 0. */
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int handled;
static jmp_buf place;

static void handler(int number)
{
    (void)number;
    handled++;
}

static void work(int n)
{
    for (volatile int i = 0; i < n; i++) continue;
}

int main(void)
{
    int status = 0;

    signal(SIGALRM, handler);
    ualarm(1000, 1000);
#pragma omp parallel num_threads(2)
    {
        work(5000000);
    }
    ualarm(0, 0);
    pid_t child = fork();
    if (child == 0) {
        work(1000);
        _exit(7);
    }
    waitpid(child, &status, 0);
    if (!setjmp(place)) longjmp(place, 1);
    return handled > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}
