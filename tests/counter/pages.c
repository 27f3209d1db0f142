/* Touches a known number of fresh pages in each construct: the page faults of it. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static long page;

static char *fresh(size_t pages)
{
    char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    return memory;
}

static void touch(char *memory, size_t pages)
{
    for (size_t i = 0; i < pages; i++) memory[page * i] = 1;
}

int main(void)
{
    page = sysconf(_SC_PAGESIZE);
    char *a = fresh(1200), *b = fresh(600), *c = fresh(1000);
#pragma omp parallel
    {
        /* @loop */
#pragma omp for
        for (int i = 0; i < 1200; i++) touch(a + page * i, 1);
        /* @single */
#pragma omp single
        touch(b, 500);
        /* @master */
#pragma omp master
        touch(c, 300);
    }
    touch(c + page * 300, 200);
    return 0;
}
