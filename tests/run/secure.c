/*
 * A program with rights that its caller lacks: prints who it is, and what it was given back of the environment. Calls what we follow,
 * of each kind.
 */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static double numbers[1000];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 1000; i++) numbers[i] += i;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int memory(void)
{
    char *block = malloc(10000), *copy = calloc(1, 20000);
    void *pages = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(block, 1, 10000);
    memcpy(copy, block, 10000);
    memcpy(pages, copy, 10000);
    const int sum = ((char *)pages)[9999] + copy[9999];
    munmap(pages, 65536);
    block = realloc(block, 100000);
    free(block);
    free(copy);
    return sum;
}

static int constructs(void)
{
    int sum = 0;
    omp_lock_t lock;

    omp_init_lock(&lock);
#pragma pomp inst begin(all)
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        sum++;
#pragma omp atomic
        sum++;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; i++) {
            omp_set_lock(&lock);
            sum++;
            omp_unset_lock(&lock);
        }
#pragma omp single
#pragma omp task
#pragma omp atomic
        sum++;
#pragma omp barrier
    }
#pragma pomp inst end(all)
    omp_destroy_lock(&lock);
    return sum;
}

int main(void)
{
    const char *job = getenv("OMPP_JOB_DIR");
    pthread_t thread;
    int status = -1;
    void *library = dlopen("libm.so.6", RTLD_NOW);

    if (library) dlclose(library);
    if (pthread_create(&thread, NULL, work, NULL) == 0) pthread_join(thread, NULL);
    const int sum = constructs() + memory() + (int)numbers[1];
    if (fork() == 0) execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
    wait(&status);
    printf("%d %d %d %s\n", getuid() != geteuid() || getgid() != getegid(), sum, WEXITSTATUS(status),
           job ? job : "none");
    return 7;
}
