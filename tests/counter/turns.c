/*
 * A thread that runs three quarters of its time on one processor and one quarter on another, and touches pages at a rate that
 * changes from piece to piece: 10 and 50 per ms. In all 24000 pages.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PIECES 20
#define LONG_MS 30
#define SHORT_MS 10

static int processors[2];
static char *memory;

static void go_to(int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

static void touch_for(int ms, int pages_per_ms)
{
    const long page = sysconf(_SC_PAGESIZE);
    const double start = cpu_ms();

    for (int ms_done = 0; ms_done < ms; ms_done++) {
        for (int i = 0; i < pages_per_ms; i++, memory += page) *memory = 1;
        while (cpu_ms() < start + ms_done + 1) continue;
    }
}

int main(void)
{
    cpu_set_t allowed;
    int n = 0;

    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &allowed)) processors[n++] = i;
    memory = mmap(NULL, 256u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, 256u << 20, MADV_NOHUGEPAGE);
    for (int k = 0; k < PIECES; k++) {
        const int rate = k % 2 ? 50 : 10;
#pragma omp parallel num_threads(1)
        {
            go_to(processors[0]);
            touch_for(LONG_MS, rate);
        }
#pragma omp parallel num_threads(1)
        {
            go_to(processors[1]);
            touch_for(SHORT_MS, rate);
        }
    }
    return 0;
}
