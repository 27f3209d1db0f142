/* Collective calls: ompP's byte rules, rubbish in what is not significant at a rank, MPI_IN_PLACE, intercommunicators. */
#include "check.h"

#define P ((uint64_t)size)

static int *big;

static void rooted(int root)
{
    const int i_am = rank == root;
    void *const bad = i_am ? big : unmapped();
    const int bad_count = i_am ? 3 : -77;
    int a[3] = {rank, 1, 2}, counts[64], displs[64];

    for (int i = 0; i < size; i++) counts[i] = i % 3, displs[i] = 3 * i;
    MPI_Bcast(a, 3, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(a[0] == root);
    SEEN("MPI_Bcast", 1, 0, i_am ? 0 : 12, i_am ? 12 * (P - 1) : 0, 0, 0, 1);
    MPI_Reduce(a, bad, 3, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    SEEN("MPI_Reduce", 1, 0, i_am ? 12 * (P - 1) : 0, i_am ? 0 : 12, 0, 0, 1);
    MPI_Gather(a, 3, MPI_INT, bad, bad_count, i_am ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    SEEN("MPI_Gather", 1, 0, i_am ? 12 * P : 0, 12, 0, 0, 1);
    MPI_Scatter(bad, bad_count, i_am ? MPI_INT : MPI_DATATYPE_NULL, a, 3, MPI_INT, root, MPI_COMM_WORLD);
    SEEN("MPI_Scatter", 1, 0, 12, i_am ? 12 * P : 0, 0, 0, 1);
    uint64_t sum = 0;
    for (int i = 0; i < size; i++) sum += 4 * counts[i];
    MPI_Gatherv(a, rank % 3, MPI_INT, bad, i_am ? counts : bad, i_am ? displs : bad, i_am ? MPI_INT : MPI_DATATYPE_NULL,
                root, MPI_COMM_WORLD);
    SEEN("MPI_Gatherv", 1, 0, i_am ? sum : 0, 4 * (rank % 3), 0, 0, 1);
    MPI_Scatterv(bad, i_am ? counts : bad, i_am ? displs : bad, i_am ? MPI_INT : MPI_DATATYPE_NULL, a, rank % 3, MPI_INT,
                 root, MPI_COMM_WORLD);
    SEEN("MPI_Scatterv", 1, 0, 4 * (rank % 3), i_am ? sum : 0, 0, 0, 1);
    if (i_am) MPI_Gather(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, big, 3, MPI_INT, root, MPI_COMM_WORLD);
    else MPI_Gather(a, 3, MPI_INT, bad, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    SEEN("MPI_Gather", 1, 0, i_am ? 12 * P : 0, 12, 0, 0, 1);
}

static void everybody(void)
{
    int a[64] = {rank}, b[256], counts[64], displs[64], zeros[64] = {0};
    MPI_Datatype types[64], nulls[64];
    MPI_Request r;

    for (int i = 0; i < size; i++) counts[i] = 1, displs[i] = i, types[i] = MPI_INT, nulls[i] = MPI_DATATYPE_NULL;
    MPI_Allreduce(a, b, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(b[0] == size - 1);
    SEEN("MPI_Allreduce", 1, 0, 12 * (P - 1), 12 * (P - 1), 0, 0, 1);
    MPI_Iallreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    SEEN("MPI_Iallreduce", 1, 0, 12 * (P - 1), 12 * (P - 1), 0, 0, 1);
    MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD);
    SEEN("MPI_Allgather", 1, 0, 8 * P, 8 * P, 0, 0, 1);
    MPI_Allgather(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, b, 2, MPI_INT, MPI_COMM_WORLD);
    SEEN("MPI_Allgather", 1, 0, 8 * P, 8 * P, 0, 0, 1);
    MPI_Allgatherv(a, 1, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD);
    SEEN("MPI_Allgatherv", 1, 0, 4 * P, 4 * P, 0, 0, 1);
    MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);
    SEEN("MPI_Alltoall", 1, 0, 4 * P, 4 * P, 0, 0, 1);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, counts, displs, MPI_INT, MPI_COMM_WORLD);
    SEEN("MPI_Alltoallv", 1, 0, 4 * P, 4 * P, 0, 0, 1);
    for (int i = 0; i < size; i++) displs[i] *= 4;
    MPI_Alltoallw(a, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD);
    SEEN("MPI_Alltoallw", 1, 0, 4 * P, 4 * P, 0, 0, 1);
    MPI_Alltoallw(MPI_IN_PLACE, zeros, zeros, nulls, b, counts, displs, types, MPI_COMM_WORLD);
    SEEN("MPI_Alltoallw", 1, 0, 4 * P, 4 * P, 0, 0, 1);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    SEEN("MPI_Reduce_scatter", 1, 0, 4 * (P - 1), 4 * (P - 1), 0, 0, 1);
    MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    SEEN("MPI_Scan", 1, 0, rank ? 4 : 0, rank < size - 1 ? 4 : 0, 0, 0, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    SEEN("MPI_Barrier", 1, 0, 0, 0, 0, 0, 1);
}

/* Two groups: even and odd ranks. */
static void intercommunicator(void)
{
    MPI_Comm local, inter;
    const int odd = rank % 2, lead = rank == 0;
    int x = 4, y[64];
    uint64_t remote;

    if (size < 2) return;
    remote = odd ? (P + 1) / 2 : P / 2;
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, odd ? 0 : 1, 9, &inter);
    const int root = odd ? 0 : lead ? MPI_ROOT : MPI_PROC_NULL;
    void *const bad = odd || lead ? &x : unmapped();

    MPI_Bcast(bad, 1, MPI_INT, root, inter);
    SEEN("MPI_Bcast", 1, 0, odd ? 4 : 0, lead ? 4 * remote : 0, 0, 0, 1);
    MPI_Gather(odd ? &x : NULL, odd ? 1 : 0, odd ? MPI_INT : MPI_DATATYPE_NULL, lead ? y : NULL, lead ? 1 : 0,
               lead ? MPI_INT : MPI_DATATYPE_NULL, root, inter);
    SEEN("MPI_Gather", 1, 0, lead ? 4 * remote : 0, odd ? 4 : 0, 0, 0, 1);
    MPI_Allreduce(&x, y, 1, MPI_INT, MPI_SUM, inter);
    SEEN("MPI_Allreduce", 1, 0, 4 * remote, 4 * remote, 0, 0, 1);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

static void neighbours(void)
{
    MPI_Comm line;
    int zero = 0, x = 1, y[2];
    const uint64_t n = (rank > 0) + (rank < size - 1);

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &zero, 0, &line);
    MPI_Neighbor_allgather(&x, 1, MPI_INT, y, 1, MPI_INT, line);
    SEEN("MPI_Neighbor_allgather", 1, 0, 4 * n, 4 * n, 0, 0, 1);
    MPI_Comm_free(&line);
}

static void one_sided(void)
{
    MPI_Win window;
    int cell = 0, x = 3;

    if (size < 2) return; /* Open MPI 4.1 has no windows on a single process without a network */
    MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&x, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
#ifdef OPEN_MPI /* with Debian 12's MPICH 4.0.2 the value does not arrive here, measured or not; cause unknown */
    CHECK(cell == 3);
#endif
    MPI_Get(&x, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    SEEN("MPI_Put", 2, 0, 0, 4, 0, 0, 0);
    SEEN("MPI_Get", 1, 0, 4, 0, 0, 0, 0);
    SEEN("MPI_Win_fence", 3, 0, 0, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    big = calloc(64 * 3, sizeof *big);
    for (int root = 0; root < size; root++) rooted(root);
    everybody();
    intercommunicator();
    neighbours();
    one_sided();
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    SEEN("MPI_Barrier", 0, 0, 0, 0, 0, 0, 0);
    free(big);
    return finish();
}
