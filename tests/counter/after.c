/* The page faults that follow a loop in the body of a parallel region are not the loop's. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(0, 1000 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int n = 0;

    madvise(memory, 1000 * page, MADV_NOHUGEPAGE);
#pragma omp parallel num_threads(1)
    {
        n++;
#pragma omp for
        for (int i = 0; i < 10; i++) n += i;
        for (int i = 0; i < 500; i++) memory[page * i] = 1;
#pragma omp for nowait
        for (int i = 0; i < 10; i++) n += i;
        for (int i = 500; i < 1000; i++) memory[page * i] = 1;
    }
    return n != 91;
}
