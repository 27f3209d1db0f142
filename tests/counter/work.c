/* Known work in each construct, in units of 1500 pages that are touched for the first time, each with some 60,000 instructions. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNIT 1500
#define STEPS 20000 /* per page */

static long page;
static volatile unsigned long results[8]; /* of constructs; nobody reads them */

static char *fresh(size_t pages)
{
    char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    return memory;
}

static unsigned long work(char *memory)
{
    unsigned long x = 88172645463325252ul;

    memory[0] = 1;
    for (int i = 0; i < STEPS; i++) x ^= x << 13, x ^= x >> 7;
    return x;
}

int main(void)
{
    page = sysconf(_SC_PAGESIZE);
    char *a = fresh(4 * UNIT), *b = fresh(2 * UNIT), *c = fresh(UNIT);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 4 * UNIT; i++) results[0] = work(a + page * i);
#pragma omp single
        for (int i = 0; i < 2 * UNIT; i++) results[1] = work(b + page * i);
#pragma omp master
        for (int i = 0; i < UNIT; i++) results[2] = work(c + page * i);
    }
    return 0;
}
