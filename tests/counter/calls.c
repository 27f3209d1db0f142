/* Touches a known number of fresh pages in one parallel region that two functions lead to, and prints it for each. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static long page;

__attribute__((noinline)) static void touch(int pages)
{
    char *memory = mmap(NULL, (size_t)(pages * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(memory, (size_t)(pages * page), MADV_NOHUGEPAGE);
#pragma omp parallel
    for (int i = 0; i < pages; i++) memory[page * i] = 1;
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void small(void)
{
    touch(400);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void large(void)
{
    for (int i = 0; i < 3; i++) touch(400);
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    page = sysconf(_SC_PAGESIZE);
    touch(50); /* threads start */
    small();
    large();
    return 0;
}
