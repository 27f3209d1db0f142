/* MPI that hooks must not disturb: derived types of many kinds, packing, windows in all ways of synchronisation. Prints checksums. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 12

typedef struct {
    char tag;
    double x[3];
    int id;
} particle_t;

static int rank, size, next, before;

static void report(const char *what, double value)
{
    double sum;

    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %.12g\n", what, sum);
}

static MPI_Datatype particle_type(void)
{
    int counts[3] = {1, 3, 1};
    MPI_Aint at[3] = {offsetof(particle_t, tag), offsetof(particle_t, x), offsetof(particle_t, id)};
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, packed, type;

    MPI_Type_create_struct(3, counts, at, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(particle_t), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&packed);
    return type;
}

static void structs(void)
{
    particle_t mine[N], theirs[N];
    MPI_Datatype type = particle_type();
    double sum = 0;

    memset(mine, 0, sizeof mine);
    for (int i = 0; i < N; i++) mine[i] = (particle_t){(char)('a' + i), {rank, i, rank * i}, rank + i};
    memset(theirs, 0, sizeof theirs);
    MPI_Sendrecv(mine, N, type, next, 1, theirs, N, type, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) sum += theirs[i].tag + theirs[i].x[0] + theirs[i].x[1] + theirs[i].x[2] * theirs[i].id;
    report("struct", sum);
    MPI_Type_free(&type);
}

static void columns(void)
{
    static double a[N][N], b[N][N];
    int sizes[2] = {N, N}, parts[2] = {3, 4}, starts[2] = {2, 5}, lengths[3] = {2, 1, 3}, at[3] = {0, 5, 20};
    MPI_Datatype types[3];
    MPI_Request requests[6];
    double sum = 0;

    MPI_Type_vector(N, 1, N, MPI_DOUBLE, &types[0]);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &types[1]);
    MPI_Type_indexed(3, lengths, at, MPI_DOUBLE, &types[2]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = rank * 1000 + i * N + j;
    for (int k = 0; k < 3; k++) {
        MPI_Type_commit(&types[k]);
        MPI_Irecv(&b[0][k], 1, types[k], before, k, MPI_COMM_WORLD, &requests[2 * k]);
        MPI_Isend(&a[0][k], 1, types[k], next, k, MPI_COMM_WORLD, &requests[2 * k + 1]);
        MPI_Waitall(2, &requests[2 * k], MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += b[i][j] * (i + 1) + j;
    report("columns", sum);
    for (int k = 0; k < 3; k++) MPI_Type_free(&types[k]);
}

static void packed(void)
{
    char buffer[200];
    int at = 0, n = rank + 3, m = 0;
    double x[2] = {rank + 0.5, 2.25}, y[2] = {0, 0};

    MPI_Pack(&n, 1, MPI_INT, buffer, sizeof buffer, &at, MPI_COMM_WORLD);
    MPI_Pack(x, 2, MPI_DOUBLE, buffer, sizeof buffer, &at, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(buffer, sizeof buffer, MPI_PACKED, next, 2, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    at = 0;
    MPI_Unpack(buffer, sizeof buffer, &at, &m, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, sizeof buffer, &at, y, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    report("packed", m + y[0] * 10 + y[1]);
}

static void windows(void)
{
    double *part = NULL, sum = 0, add = 1.5, got = 0;
    long *counter = NULL, one = 1, old = 0, swap = 77, expected = size;
    MPI_Win win, counters;
    MPI_Group world, to, from;
    MPI_Datatype odd;

    MPI_Win_allocate(N * sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    for (int i = 0; i < N; i++) part[i] = rank;
    MPI_Win_fence(0, win);
    MPI_Type_vector(N / 2, 1, 2, MPI_DOUBLE, &odd);
    MPI_Type_commit(&odd);
    double mine[N];
    for (int i = 0; i < N; i++) mine[i] = 100 * rank + i;
    MPI_Put(mine, 1, odd, next, 0, 1, odd, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) sum += part[i] * (i + 1);
    report("put", sum);
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++) MPI_Accumulate(&add, 1, MPI_DOUBLE, r, 1, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
    report("accumulate", part[1]);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &to);
    MPI_Group_incl(world, 1, &before, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Get(&got, 1, MPI_DOUBLE, next, 3, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    report("get", got);
    MPI_Group_free(&to), MPI_Group_free(&from), MPI_Group_free(&world);

    MPI_Win_allocate_shared(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &counters);
    *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, counters);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, counters);
    MPI_Win_flush(0, counters);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Compare_and_swap(&swap, &expected, &old, MPI_LONG, 0, 0, counters);
    MPI_Win_unlock_all(counters);
    MPI_Barrier(MPI_COMM_WORLD);
    report("counter", rank == 0 ? (double)*counter : 0);
    MPI_Type_free(&odd);
    MPI_Win_free(&counters);
    MPI_Win_free(&win);
}

static void largest(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        if (((particle_t *)in)[i].x[2] > ((particle_t *)inout)[i].x[2]) ((particle_t *)inout)[i] = ((particle_t *)in)[i];
}

static void operations(void)
{
    particle_t mine = {'x', {1, 2, (rank * 7) % 5}, rank}, best;
    MPI_Datatype type = particle_type();
    MPI_Op op;

    memset(&best, 0, sizeof best);
    MPI_Op_create(largest, 1, &op);
    MPI_Allreduce(&mine, &best, 1, type, op, MPI_COMM_WORLD);
    report("operation", best.x[2] * 10);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    structs(), columns(), packed(), windows(), operations();
    MPI_Finalize();
    return 0;
}
