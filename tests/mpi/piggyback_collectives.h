/* Cases of piggyback.c: collective calls, the communicators that they are made on, and windows. */
#include "piggyback_ring.h"

/* Who is no root of a reduction waits for nobody, or, between others and the root, for those and itself. */
static void adopted_between(int line, int64_t number, uint64_t ranks)
{
    adopted_t a;

    if (!take(&a) || (a.mark == 0 && a.ranks == 0)) return;
    if (a.mark == number && a.ranks & BIT(rank) && a.ranks != BIT(rank) && !(a.ranks & ~ranks) && a.unknown == 0) return;
    failures++;
    printf("line %d: rank %d of %d: mark %lld of ranks %llx\n", line, rank, size, (long long)a.mark, (unsigned long long)a.ranks);
}

static void collectives_on(MPI_Comm comm, uint64_t ranks, int i)
{
    int me, n, x = 1, y[64], z[64] = {0}, ones[64], zeros[64] = {0};
    uint64_t before, first;
    adopted_t made;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    /* The members in order of their ranks in the world: split and dup keep it. */
    for (first = 1; !(first & ranks);) first <<= 1;
    before = 0;
    for (int k = 0, seen = 0; seen <= me; k++)
        if (ranks & BIT(k)) before |= BIT(k), seen++;
    for (int k = 0; k < 64; k++) ones[k] = 1;
    take(&made); /* where the communicator was made */
    mark(1000 + i);
#define EVERYBODY(call) (call, ADOPTED(1000 + i, ranks))
/* On a busy machine a root's call may take so long that it is taken to have waited, for somebody unknown. */
#define FROM_ROOT(call) (call, me == 0 ? adopted_between(__LINE__, 0, 0) : ADOPTED(1000 + i, first))
#define TO_ROOT(call) (call, me == 0 ? ADOPTED(1000 + i, ranks) : ADOPTED(0, 0))
#define CHAIN(call) (call, ADOPTED(1000 + i, before))
    EVERYBODY(MPI_Barrier(comm));
    EVERYBODY(MPI_Allreduce(&x, y, 1, MPI_INT, MPI_SUM, comm));
    CHECK(y[0] == n);
    EVERYBODY(MPI_Allgather(&x, 1, MPI_INT, y, 1, MPI_INT, comm));
    EVERYBODY(MPI_Allgatherv(&x, 1, MPI_INT, y, ones, zeros, MPI_INT, comm));
    EVERYBODY(MPI_Alltoall(z, 1, MPI_INT, y, 1, MPI_INT, comm));
    EVERYBODY(MPI_Reduce_scatter_block(z, y, 1, MPI_INT, MPI_SUM, comm));
    EVERYBODY(MPI_Reduce_scatter(z, y, ones, MPI_INT, MPI_SUM, comm));
    CHAIN(MPI_Scan(&x, y, 1, MPI_INT, MPI_SUM, comm));
    CHECK(y[0] == me + 1);
    CHAIN(MPI_Exscan(&x, y, 1, MPI_INT, MPI_SUM, comm));
    y[0] = me == 0 ? 77 : 0;
    FROM_ROOT(MPI_Bcast(y, 1, MPI_INT, 0, comm));
    CHECK(y[0] == 77);
    FROM_ROOT(MPI_Scatter(z, 1, MPI_INT, y, 1, MPI_INT, 0, comm));
#define BETWEEN(call) (call, me == 0 ? ADOPTED(1000 + i, ranks) : adopted_between(__LINE__, 1000 + i, ranks))
    BETWEEN(MPI_Reduce(&x, y, 1, MPI_INT, MPI_SUM, 0, comm));
    CHECK(me != 0 || y[0] == n);
    BETWEEN(MPI_Gather(&x, 1, MPI_INT, y, 1, MPI_INT, 0, comm));

    MPI_Request r[3];
    MPI_Iallreduce(&x, &y[0], 1, MPI_INT, MPI_SUM, comm, &r[0]);
    MPI_Ibarrier(comm, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK(y[0] == n);
    ADOPTED(1000 + i, ranks);
    FROM_ROOT((MPI_Ibcast(y, 1, MPI_INT, 0, comm, r), MPI_Wait(r, MPI_STATUS_IGNORE)));
    TO_ROOT((MPI_Ireduce(&x, y, 1, MPI_INT, MPI_SUM, 0, comm, r), MPI_Wait(r, MPI_STATUS_IGNORE)));
    CHAIN((MPI_Iscan(&x, y, 1, MPI_INT, MPI_SUM, comm, r), MPI_Wait(r, MPI_STATUS_IGNORE)));
    MPI_Ialltoall(z, 1, MPI_INT, y, 1, MPI_INT, comm, r);
    for (int flag = 0; !flag;) MPI_Test(r, &flag, MPI_STATUS_IGNORE);
    ADOPTED(1000 + i, ranks);
}

static int copies;

static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static void communicators(void)
{
    MPI_Comm comm, half, cart, inter, merged;
    MPI_Group group;
    MPI_Request r;
    adopted_t a;
    int key, got, number, one[1] = {size}, yes[1] = {1}, neighbor[2];

    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(world, key, &key);
    take(&a);
    mark(8);
    MPI_Comm_dup(world, &comm);
    CHECK(copies == 1);
    ADOPTED(8, ALL);
    MPI_Comm_delete_attr(world, key);
    MPI_Comm_free_keyval(&key);
    collectives_on(comm, ALL, 1);
    /* Free what still has a receive. */
    MPI_Irecv(&got, 1, MPI_INT, last_rank, 3, comm, &r);
    number = number_of(rank, 3);
    mark(number);
    MPI_Send(&number, 1, MPI_INT, next_rank, 3, comm);
    MPI_Comm_free(&comm);
    take(&a);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(got == number_of(last_rank, 3));
    ADOPTED(got, BIT(last_rank));

    MPI_Comm_split(world, rank % 2, rank, &half);
    uint64_t members = 0;
    for (int i = rank % 2; i < size; i += 2) members |= BIT(i);
    take(&a);
    collectives_on(half, members, 2);
    if (size > 1) {
        MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 9, &inter);
        int other, x = rank, y = -1;
        MPI_Comm_remote_size(inter, &other);
        take(&a);
        mark(7);
        MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_MIN, inter);
        CHECK(y == 1 - rank % 2);
        ADOPTED(7, ALL & ~members);
        MPI_Bcast(&x, 1, MPI_INT, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
        if (rank % 2) ADOPTED(7, 1);
        else ADOPTED(0, 0);
        if (size % 2 == 0) {
            int me;
            MPI_Comm_rank(inter, &me);
            MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 4, inter, &r);
            MPI_Send(&x, 1, MPI_INT, me, 4, inter);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            ADOPTED(7, BIT(rank ^ 1));
        }
        MPI_Intercomm_merge(inter, rank % 2, &merged);
        MPI_Barrier(merged);
        take(&a);
        MPI_Barrier(merged);
        ADOPTED(7, ALL);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);

    MPI_Cart_create(world, 1, one, yes, 0, &cart);
    MPI_Barrier(cart);
    take(&a);
    mark(8);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, neighbor, 1, MPI_INT, cart);
    CHECK(neighbor[0] == last_rank && neighbor[1] == next_rank);
    ADOPTED(8, BIT(last_rank) | BIT(next_rank));
    MPI_Ineighbor_allgather(&rank, 1, MPI_INT, neighbor, 1, MPI_INT, cart, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    ADOPTED(8, BIT(last_rank) | BIT(next_rank));
    collectives_on(cart, ALL, 3);
    MPI_Comm_free(&cart);
    CHECK(cart == MPI_COMM_NULL);

    MPI_Comm_group(world, &group);
    MPI_Group_incl(group, 1, (int[]){0}, &group);
    MPI_Comm_create(world, group, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank != 0));
    if (comm != MPI_COMM_NULL) collectives_on(comm, 1, 4), MPI_Comm_free(&comm);
    collectives_on(MPI_COMM_SELF, BIT(rank), 5);
}

static void windows(void)
{
    MPI_Win win;
    MPI_Group all, from, to;
    adopted_t a;
    int *base, x = rank;

    /* MPICH 4.0.2 confuses ranks in smaller windows. */
    MPI_Win_allocate(4096, sizeof *base, MPI_INFO_NULL, world, &base, &win);
    MPI_Win_fence(0, win);
    take(&a);
    mark(11);
    MPI_Put(&x, 1, MPI_INT, next_rank, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(*base == last_rank);
    CHECK(!take(&a) || a.ranks == ALL);
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &last_rank, &from);
    MPI_Group_incl(all, 1, &next_rank, &to);
    mark(12);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(&x, 1, MPI_INT, next_rank, 0, 1, MPI_INT, win);
    take(&a);
    MPI_Win_complete(win);
    ADOPTED(12, BIT(next_rank));
    MPI_Win_wait(win);
    ADOPTED(12, BIT(last_rank));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank, 0, win);
    MPI_Win_unlock(next_rank, win);
    take(&a);
    MPI_Win_free(&win);
    MPI_Group_free(&all);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}
