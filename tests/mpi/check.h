/*
 * What the test programs of the MPI wrappers share. CHECK: results, the same with and without measurement. SEEN: what was
 * measured since the last SEEN of this function; skipped when the program runs unmeasured.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* MPICH's MPI_STATUSES_IGNORE is the address 1: gcc 12 takes it for an array of no size. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"

static int rank, size, failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) failures++, printf("%s:%d: rank %d of %d: %s\n", __FILE__, __LINE__, rank, size, #condition);\
    } while (0)

#define SEEN(name, timed, counted, in, out, recvs, sends, colls)                                                       \
    seen(__LINE__, name, (const uint64_t[]){timed, counted, in, out, recvs, sends, colls})

__attribute__((unused)) static void seen(int line, const char *name, const uint64_t expected[7])
{
    static const char *const what[] = {"timed", "counted", "in", "out", "recvs", "sends", "colls"};
    void (*take)(const char *, uint64_t *) = (void (*)(const char *, uint64_t *))dlsym(RTLD_DEFAULT, "fake_mpi_take");
    uint64_t got[7] = {0};

    if (!take) return;
    take(name, got);
    for (int i = 0; i < 7; i++) {
        if (got[i] == expected[i]) continue;
        failures++;
        printf("line %d: rank %d of %d: %s: %s %llu, expected %llu\n", line, rank, size, name, what[i],
               (unsigned long long)got[i], (unsigned long long)expected[i]);
    }
}

/* An address that cannot be read. */
__attribute__((unused)) static void *unmapped(void)
{
    return mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

__attribute__((unused)) static int finish(void)
{
    int all = 0;

    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0 && all == 0) printf("ok\n");
    return all != 0;
}

__attribute__((unused)) static void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    SEEN("MPI_Init", 1, 0, 0, 0, 0, 0, 0);
    SEEN("MPI_Comm_rank", 0, 1, 0, 0, 0, 0, 0);
}
