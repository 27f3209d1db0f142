/* A thread that touches 700 pages in a region and then waits there, until the program ends without it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

static sem_t done;

static void *work(void *nothing)
{
    long page = sysconf(_SC_PAGESIZE);
    volatile char *memory = mmap(NULL, 700 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise((void *)memory, 700 * page, MADV_NOHUGEPAGE);
#pragma pomp inst begin(waiting)
    for (int i = 0; i < 700; i++) memory[page * i] = 1;
    sem_post(&done);
    for (;;) pause();
#pragma pomp inst end(waiting)
    return nothing;
}

int main(void)
{
    pthread_t thread;

    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    sem_wait(&done);
    return 0;
}
