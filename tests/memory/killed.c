/*
 * Is killed from outside, at any moment. Threads read and write structures, in regions that they leave often and in one that they never
 * leave, and keep an account of their own in a file: what they have done is there, too. Structures are many, very many with a second
 * argument, and come while threads count; a forked child counts for nobody.
 */
#include <ompp.h>

#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, FEW = 40, MANY = 600, LENGTH = 64 };

typedef struct {
    unsigned long often, copies, stays;
} account_t;

static volatile double fill[MANY][LENGTH], often[THREADS][LENGTH], stays[THREADS][LENGTH];
static struct {
    char bytes[64];
} from[THREADS], to[THREADS];

static void name(int first, int end)
{
    char text[32];

    for (int i = first; i < end; i++) {
        snprintf(text, sizeof text, "fill%d", i);
        ompp_papi_set_drange((void *)fill[i], sizeof fill[i], text);
    }
}

/* Does not count for its parent. */
static void in_child(int me)
{
    const pid_t child = fork();

    if (child == 0) {
        for (int i = 0; i < 1000; i++) often[me][i % LENGTH];
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    const int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

    if (file < 0 || ftruncate(file, sizeof(account_t) * THREADS) != 0) return 2;
    volatile account_t *accounts = mmap(NULL, sizeof(account_t) * THREADS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (accounts == MAP_FAILED) return 2;
    const int many = argc > 2 ? MANY : 100;
    name(0, FEW);
    ompp_papi_set_drange((void *)often, sizeof often, "often");
    ompp_papi_set_drange(to, sizeof to, "to");
#pragma omp parallel num_threads(THREADS)
    {
        const int me = omp_get_thread_num();
#pragma omp single
        {
            name(FEW, many);
            ompp_papi_set_drange((void *)stays, sizeof stays, "stays");
        }
        in_child(me);
        for (int round = 0; round < 20000; round++) {
#pragma pomp inst begin(step)
            for (int i = 0; i < 3; i++) {
                often[me][i];
                accounts[me].often++;
            }
            to[me] = from[me];
            accounts[me].copies++;
#pragma pomp inst end(step)
        }
        for (unsigned i = 0;; i++) {
            stays[me][i % LENGTH] = i;
            accounts[me].stays++;
        }
    }
}
