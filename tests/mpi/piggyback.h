/* What the test programs of clock vectors share: numbers that clocks get as mark, and what a call has adopted. */
#include "check.h"

#include <stdbool.h>
#include <unistd.h>

enum { LATE_US = 100000 };

typedef struct {
    int64_t mark;
    uint64_t ranks, joined, unknown, flags;
} adopted_t;

/* A function of the fake runtime, which has all that are asked for; NULL without it. */
static void *fake(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    CHECK(found || !dlsym(RTLD_DEFAULT, "fake_mpi_take"));
    return found;
}

__attribute__((unused)) static void mark(int64_t number)
{
    static void (*set)(int64_t);
    static int known;

    if (!known++) set = (void (*)(int64_t))fake("fake_mark");
    if (set) set(number);
}

/* Clocks of this rank are suspended, for the time that has this number; 0 = they go on. */
__attribute__((unused)) static void suspend(uint64_t number)
{
    static void (*set)(uint64_t);
    static int known;

    if (!known++) set = (void (*)(uint64_t))fake("fake_suspension");
    if (set) set(number);
}

/* \return false when there are no clocks. */
__attribute__((unused)) static bool take(adopted_t *a)
{
    void (*joined)(adopted_t *) = (void (*)(adopted_t *))fake("fake_joined");

    memset(a, 0, sizeof *a);
    if (joined) joined(a);
    return joined != NULL && getenv("FAKE_STAMPS");
}

__attribute__((unused)) static void adopted_at(int line, int64_t number, uint64_t ranks)
{
    adopted_t a;

    if (!take(&a) || (a.mark == number && a.ranks == ranks && a.unknown == 0)) return;
    failures++;
    printf("line %d: rank %d of %d: mark %lld of ranks %llx, %llu unknown; expected %lld of %llx\n", line, rank, size, (long long)a.mark,
           (unsigned long long)a.ranks, (unsigned long long)a.unknown, (long long)number, (unsigned long long)ranks);
}

#define ADOPTED(number, ranks) adopted_at(__LINE__, number, ranks)
#define BIT(r) (UINT64_C(1) << (r))

/* Of two ranks the late one begins when the other has begun long since. */
__attribute__((unused)) static void come_after(int other, bool late)
{
    char token = 0;

    if (late) {
        PMPI_Send(&token, 1, MPI_CHAR, other, 77, MPI_COMM_WORLD); /* it is not in MPI any more when the other goes on */
        usleep(LATE_US);
    } else {
        PMPI_Recv(&token, 1, MPI_CHAR, other, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
