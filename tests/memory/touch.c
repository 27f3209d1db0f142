/* Touches known pages of named structures in known places, and accesses known scalars a known number of times. */
#define _GNU_SOURCE
#include <ompp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { A = 1024, B = 256, READ = 128, REPEATS = 1000, PASSED = 64, ROUNDS = 3, MOVED = 64, GIVEN = 32, LATE = 16 };

static long page;
static volatile int64_t shared __attribute__((aligned(8)));
static volatile int32_t small __attribute__((aligned(4)));
static volatile char wide[100];

static char *fresh(size_t pages)
{
    char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    return memory;
}

static void touch(volatile char *memory, size_t pages)
{
    for (size_t i = 0; i < pages; i++) memory[page * i] = 1;
}

/* Maps other memory at the addresses of a block. */
static void renew(char *memory, size_t pages)
{
    mmap(memory, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
}

static void *renew_passed(void *memory)
{
    renew(memory, PASSED);
    return NULL;
}

/* Pages at addresses that others have had: mapped by one thread and touched by others, brought by mremap, given back in between. */
static void use_again(char *passed, char *moved, char *given)
{
    pthread_t mapper;

    for (int round = 0; round < ROUNDS; round++) {
        if (pthread_create(&mapper, NULL, renew_passed, passed) == 0) pthread_join(mapper, NULL);
        /* @passed */
#pragma omp parallel for schedule(static)
        for (int i = 0; i < PASSED; i++) touch(passed + page * (PASSED - 1 - i), 1);
    }
    touch(moved, MOVED);
    char *one = fresh(1);
    touch(one, 1);
    touch(mremap(one, page, MOVED * page, MREMAP_MAYMOVE | MREMAP_FIXED, moved), MOVED);
    touch(given, GIVEN);
    madvise(given, GIVEN * page, MADV_DONTNEED);
    touch(given, GIVEN);
}

int main(int argc, char **argv)
{
    int64_t sum = 0;

    page = sysconf(_SC_PAGESIZE);
    char *a = fresh(A), *b = fresh(B), *large = argc > 1 ? fresh(atoi(argv[1])) : NULL;
    ompp_papi_set_drange(a, A * page, "a");
    ompp_papi_set_drange(b + 100, B * page - 100, "b"); /* its first page belongs to it but for some bytes */
    if (large) ompp_papi_set_drange(large, atoi(argv[1]) * page, "large");
    char *read = fresh(READ), *passed = fresh(PASSED), *moved = fresh(MOVED), *given = fresh(GIVEN);
    ompp_papi_set_drange(passed, PASSED * page, "passed");
    ompp_papi_set_drange(moved, MOVED * page, "moved");
    ompp_papi_set_drange(given, GIVEN * page, "given");
    ompp_papi_set_drange(read, READ * page, "read");
    ompp_papi_set_drange((void *)&shared, sizeof shared, "shared");
    ompp_papi_set_drange((void *)&small, sizeof small, "small");
    ompp_papi_set_drange((void *)wide, sizeof wide, "wide");
#pragma omp parallel reduction(+ : sum)
    {
        /* @loop */
#pragma omp for
        for (int i = 0; i < A; i++) touch(a + page * i, 1);
        /* @single */
#pragma omp single
        touch(b, B);
        /* @repeats */
#pragma omp for
        for (int i = 0; i < REPEATS; i++) sum += shared;
        /* @critical */
#pragma omp critical
        shared = shared + 1;
#pragma omp master
        small = 3;
    }
    touch(b, B); /* again: no faults */
    for (int i = 0; i < READ; i++) sum += ((volatile char *)read)[page * i]; /* the page of zeros */
    touch(read, READ);                                                       /* a fault, and no first touch */
    renew(read, READ);
    touch(read, READ); /* new pages */
    use_again(passed, moved, given);
    char *late = fresh(LATE);
    touch(late, LATE); /* before it has a name */
    renew(late, LATE);
    ompp_papi_set_drange(late, LATE * page, "late");
    touch(late, LATE);
    if (large) touch(large, atoi(argv[1]));
    printf("%ld %ld\n", (long)sum, (long)shared);
    return 0;
}
