/*
 * Objects of the program of every kind: types of each constructor, in each class of calls that has a type; communicators and windows that
 * are refused, freed out of sight, or too many; what callbacks return. No error handler of the program ever sees a call of ours, and no
 * call of ours waits for a rank that does not come.
 */
#include "check.h"

#include <stdbool.h>

#ifndef MPI_VERSION
#define MPI_VERSION 3
#endif
#define LARGE (MPI_VERSION >= 4)
#define INTS 6
enum { BYTES = INTS * sizeof(int), ROOM = 64 };

static MPI_Comm world;
static int handled, last_rank, next_rank;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* ---- Types: all of six integers ---------------------------------------------------------------------------------- */

#define SUFFIX(name) name
#define COUNT int
#define PLACE MPI_Aint
#define MADE(n) plain_##n
#include "objects_types.h"
#undef SUFFIX
#undef COUNT
#undef PLACE
#undef MADE
#if LARGE
#define SUFFIX(name) name##_c
#define COUNT MPI_Count
#define PLACE MPI_Count
#define MADE(n) large_##n
#include "objects_types.h"
#endif

static void dup_of_named(MPI_Datatype *type)
{
    MPI_Datatype one;

    MPI_Type_dup(MPI_INT, &one);
    MPI_Type_contiguous(INTS, one, type);
    MPI_Type_free(&one);
}

static void f90(MPI_Datatype *type)
{
    MPI_Datatype one;

    MPI_Type_create_f90_integer(9, &one);
    MPI_Type_contiguous(INTS, one, type);
}

static void matched(MPI_Datatype *type)
{
    MPI_Datatype one;

    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, sizeof(int), &one);
    MPI_Type_contiguous(INTS, one, type);
}

static void (*const others[])(MPI_Datatype *) = {dup_of_named, f90, matched};

static void add_ints(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n * INTS; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void messages(MPI_Datatype type)
{
    int a[ROOM] = {1, 2, 3, 4, 5, 6}, b[ROOM] = {0}, flag = 0;
    MPI_Request r[2];
    MPI_Message message;

    for (int i = 0; i < 2; i++) {
        MPI_Sendrecv(a, 1, type, next_rank, 1, b, 1, type, last_rank, 1, world, MPI_STATUS_IGNORE);
        SEEN("MPI_Sendrecv", 1, 0, BYTES, BYTES, 1, 1, 0);
    }
    for (int i = 0; i < ROOM; i++) CHECK(b[i] == 0 || b[i] == a[i]);
    MPI_Irecv(b, 1, type, last_rank, 2, world, &r[0]);
    MPI_Isend(a, 1, type, next_rank, 2, world, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    SEEN("MPI_Irecv", 1, 0, BYTES, 0, 1, 0, 0);
    SEEN("MPI_Isend", 1, 0, 0, BYTES, 0, 1, 0);
    MPI_Recv_init(b, 1, type, last_rank, 3, world, &r[0]);
    MPI_Ssend_init(a, 1, type, next_rank, 3, world, &r[1]);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    SEEN("MPI_Startall", 1, 0, BYTES, BYTES, 1, 1, 0);
    for (int i = 0; i < 2; i++) MPI_Request_free(&r[i]);
    MPI_Issend(a, 1, type, next_rank, 4, world, &r[0]);
    while (!flag) MPI_Improbe(last_rank, 4, world, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(b, 1, type, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    SEEN("MPI_Mrecv", 1, 0, BYTES, 0, 1, 0, 0);
    SEEN("MPI_Issend", 1, 0, 0, BYTES, 0, 1, 0);
    /* Freed while it is still in use. */
    MPI_Datatype copy;
    MPI_Type_dup(type, &copy);
    MPI_Irecv(b, 1, copy, last_rank, 5, world, &r[0]);
    MPI_Isend(a, 1, copy, next_rank, 5, world, &r[1]);
    MPI_Type_free(&copy);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    SEEN("MPI_Irecv", 1, 0, BYTES, 0, 1, 0, 0);
    SEEN("MPI_Isend", 1, 0, 0, BYTES, 0, 1, 0);
#if LARGE
    MPI_Sendrecv_c(a, 1, type, next_rank, 6, b, 1, type, last_rank, 6, world, MPI_STATUS_IGNORE);
    SEEN("MPI_Sendrecv_c", 1, 0, BYTES, BYTES, 1, 1, 0);
#endif
}

static void collectives(MPI_Datatype type, bool dense)
{
    int *a = calloc((size_t)size * ROOM, sizeof *a), *b = calloc((size_t)size * ROOM, sizeof *b);
    int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
    MPI_Datatype *types = calloc((size_t)size, sizeof *types);
    const uint64_t all = (uint64_t)size * BYTES, root = rank == 0;
    MPI_Aint lower, extent;
    MPI_Request r;

    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < size; i++) counts[i] = 1, places[i] = i, types[i] = type;
    MPI_Bcast(a, 1, type, 0, world);
    SEEN("MPI_Bcast", 1, 0, root ? 0 : BYTES, root ? (uint64_t)(size - 1) * BYTES : 0, 0, 0, 1);
    MPI_Ibcast(a, 1, type, 0, world, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    SEEN("MPI_Ibcast", 1, 0, root ? 0 : BYTES, root ? (uint64_t)(size - 1) * BYTES : 0, 0, 0, 1);
    MPI_Gather(a, 1, type, b, 1, type, 0, world);
    SEEN("MPI_Gather", 1, 0, root ? all : 0, BYTES, 0, 0, 1);
    MPI_Scatterv(a, counts, places, type, b, 1, type, 0, world);
    SEEN("MPI_Scatterv", 1, 0, BYTES, root ? all : 0, 0, 0, 1);
    MPI_Allgather(a, 1, type, b, 1, type, world);
    SEEN("MPI_Allgather", 1, 0, all, all, 0, 0, 1);
    MPI_Allgatherv(a, 1, type, b, counts, places, type, world);
    SEEN("MPI_Allgatherv", 1, 0, all, all, 0, 0, 1);
    MPI_Alltoall(a, 1, type, b, 1, type, world);
    SEEN("MPI_Alltoall", 1, 0, all, all, 0, 0, 1);
    MPI_Ialltoallv(a, counts, places, type, b, counts, places, type, world, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    SEEN("MPI_Ialltoallv", 1, 0, all, all, 0, 0, 1);
    for (int i = 0; i < size; i++) places[i] = i * (int)extent;
    MPI_Alltoallw(a, counts, places, types, b, counts, places, types, world);
    SEEN("MPI_Alltoallw", 1, 0, all, all, 0, 0, 1);
    if (dense) {
        MPI_Op add;
        MPI_Op_create(add_ints, 1, &add);
        MPI_Allreduce(a, b, 1, type, add, world);
        SEEN("MPI_Allreduce", 1, 0, all - BYTES, all - BYTES, 0, 0, 1);
        MPI_Scan(a, b, 1, type, add, world);
        SEEN("MPI_Scan", 1, 0, rank > 0 ? BYTES : 0, rank < size - 1 ? BYTES : 0, 0, 0, 1);
        MPI_Op_free(&add);
    }
#if LARGE
    MPI_Bcast_c(a, 1, type, 0, world);
    SEEN("MPI_Bcast_c", 1, 0, root ? 0 : BYTES, root ? (uint64_t)(size - 1) * BYTES : 0, 0, 0, 1);
#endif
    free(types), free(places), free(counts), free(b), free(a);
}

static void neighbors(MPI_Datatype type, MPI_Comm ring)
{
    int a[2 * ROOM] = {0}, b[2 * ROOM] = {0}, counts[2] = {1, 1};
    MPI_Aint places[2] = {0, ROOM * sizeof(int)};
    MPI_Datatype types[2] = {type, type};

    MPI_Neighbor_allgather(a, 1, type, b, 1, type, ring);
    SEEN("MPI_Neighbor_allgather", 1, 0, 2 * BYTES, 2 * BYTES, 0, 0, 1);
    MPI_Neighbor_alltoallw(a, counts, places, types, b, counts, places, types, ring);
    SEEN("MPI_Neighbor_alltoallw", 1, 0, 2 * BYTES, 2 * BYTES, 0, 0, 1);
}

static void one_sided(MPI_Datatype type, MPI_Win win)
{
    int a[ROOM] = {0}, b[ROOM] = {0};

    MPI_Win_fence(0, win);
    MPI_Put(a, 1, type, next_rank, 0, 1, type, win);
    MPI_Win_fence(0, win);
    MPI_Get(b, 1, type, next_rank, 0, 1, type, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(a, 1, type, next_rank, 0, 1, type, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, b, 1, type, next_rank, 0, 1, type, MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    SEEN("MPI_Put", 1, 0, 0, BYTES, 0, 0, 0);
    SEEN("MPI_Get", 1, 0, BYTES, 0, 0, 0, 0);
    SEEN("MPI_Accumulate", 1, 0, 0, BYTES, 0, 0, 0);
}

static void all_of(void (*const makers[])(MPI_Datatype *), size_t number, MPI_Comm ring, MPI_Win win)
{
    for (size_t i = 0; i < number; i++) {
        MPI_Datatype type;
        MPI_Aint lower, extent;
        makers[i](&type);
        MPI_Type_commit(&type);
        MPI_Type_get_extent(type, &lower, &extent);
        messages(type);
        collectives(type, extent == BYTES);
        neighbors(type, ring);
        one_sided(type, win);
        MPI_Type_free(&type);
    }
}

#define ALL_OF(makers) all_of(makers, sizeof makers / sizeof *makers, ring, win)

static void types(void)
{
    int one[1] = {size}, yes[1] = {1};
    MPI_Comm ring;
    MPI_Win win;
    void *base;

    MPI_Cart_create(world, 1, one, yes, 0, &ring);
    MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, world, &base, &win);
    ALL_OF(plain_types);
    ALL_OF(others);
#if LARGE
    ALL_OF(large_types);
#endif
    MPI_Win_free(&win);
    MPI_Comm_free(&ring);
}

/* Beyond 2 GiB, for which MPI_Type_size() has no number. */
static void huge(void)
{
    MPI_Datatype piece, type;
    MPI_Request r;
    int bytes;

    MPI_Type_contiguous(1 << 30, MPI_BYTE, &piece);
    MPI_Type_contiguous(3, piece, &type);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == MPI_UNDEFINED);
    MPI_Type_commit(&type);
    void *buffer = unmapped();
    MPI_Irecv(buffer, 1, type, rank, 77, world, &r);
    SEEN("MPI_Irecv", 1, 0, UINT64_C(3) << 30, 0, 1, 0, 0);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, 2, type, MPI_PROC_NULL, 77, world, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Type_free(&piece);
}

/* ---- What MPI refuses -------------------------------------------------------------------------------------------- */

/* The error goes to the communicator's own handler, and nothing of ours to the world's. */
static void refused_types(MPI_Comm comm)
{
    int x = 0;
    MPI_Datatype bad = MPI_DATATYPE_NULL;
    MPI_Request r;

#if defined(MPICH_VERSION) || defined(MPICH_NUMVERSION)
    bad = (MPI_Datatype)0x12345; /* no handle */
#endif
    CHECK(MPI_Send(&x, 1, bad, next_rank, 1, comm) != MPI_SUCCESS);
    CHECK(MPI_Isend(&x, 1, bad, next_rank, 1, comm, &r) != MPI_SUCCESS);
    CHECK(MPI_Sendrecv(&x, 1, bad, next_rank, 1, &x, 1, bad, last_rank, 1, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS);
}

/* On one rank alone: the others do not come, and the next call is one of all. */
static void refused_on_one(MPI_Comm comm)
{
    int x = 1, sum = 0;

    for (int i = 0; i < 3; i++) {
        if (rank == i % size) {
#if defined(OPEN_MPI) /* MPICH 4.0.2 crashes */
            CHECK(MPI_Allreduce(&x, &sum, -1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS);
            CHECK(MPI_Reduce(&x, &sum, -1, MPI_INT, MPI_SUM, 0, comm) != MPI_SUCCESS);
#endif
            CHECK(MPI_Allreduce(&x, &sum, 1, MPI_DATATYPE_NULL, MPI_SUM, comm) != MPI_SUCCESS);
            CHECK(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS);
            CHECK(MPI_Bcast(&x, 1, MPI_DATATYPE_NULL, 0, comm) != MPI_SUCCESS);
            CHECK(MPI_Reduce(&x, &sum, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm) != MPI_SUCCESS);
            CHECK(MPI_Scan(&x, &sum, 1, MPI_DATATYPE_NULL, MPI_SUM, comm) != MPI_SUCCESS);
            if (size > 1) MPI_Send(&x, 1, MPI_INT, next_rank, 9, world);
        }
        if (size > 1 && rank == (i + 1) % size) MPI_Recv(&x, 1, MPI_INT, i % size, 9, world, MPI_STATUS_IGNORE);
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size);
        MPI_Scan(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == rank + 1);
    }
}

/* A communicator that MPI does not free is followed as before. */
static void not_freed(void)
{
    MPI_Comm all = MPI_COMM_WORLD;
    int x = 1, sum = 0, before = handled;

    if (rank == 0) CHECK(MPI_Comm_free(&all) != MPI_SUCCESS && handled > before);
    handled = before;
    for (int i = 0; i < 3; i++) MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, world);
    CHECK(sum == size);
}

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

static MPI_Comm hidden;

static int free_hidden(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_Comm_free(&hidden);
}

/* One is freed in a call that is nested in another one; its handle is that of one with other ranks then. */
static void freed_out_of_sight(void)
{
    MPI_Comm carrier, half, copy;
    MPI_Request r;
    int key, x = 1, sum = 0;

    MPI_Comm_split(world, rank == 0, 0, &half);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_hidden, &key, NULL);
    MPI_Comm_dup(world, &carrier);
    MPI_Comm_dup(world, &hidden);
    MPI_Comm_set_attr(carrier, key, &key);
    MPI_Comm_delete_attr(carrier, key);
    CHECK(hidden == MPI_COMM_NULL);
    MPI_Comm_idup(half, &copy, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < (rank == 0 ? 5 : 2); i++) MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, copy);
    CHECK(sum == (rank == 0 ? 1 : size - 1));
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Comm_free(&carrier);
    MPI_Comm_free_keyval(&key);
}

/* Rank 0 has more than can be followed; all others have none. */
static void too_many_on_one(void)
{
    enum { MANY = 220 };
    MPI_Comm *copies = malloc(MANY * sizeof *copies), half, inter, merged;
    int x = 1, sum = 0;

    if (size == 1) {
        free(copies);
        return;
    }
    for (int i = 0; rank == 0 && i < MANY; i++) MPI_Comm_dup(MPI_COMM_SELF, &copies[i]);
    MPI_Comm_split(world, rank == 0, 0, &half);
    MPI_Intercomm_create(half, 0, world, rank == 0, 3, &inter);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == (rank == 0 ? size - 1 : 1));
    MPI_Intercomm_merge(inter, rank == 0, &merged);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == size);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    for (int i = 0; rank == 0 && i < MANY; i++) MPI_Comm_free(&copies[i]);
    free(copies);
}

/* Made by some ranks of another one. */
static void by_some(void)
{
    MPI_Group all, some;
    MPI_Comm comm, copy;
    int x = 1, sum = 0;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &rank, &some);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(world, some, 4, &comm);
        MPI_Comm_dup(comm, &copy);
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, copy);
        CHECK(sum == 1);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size);
    MPI_Comm_free(&comm);
}

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

enum { ODD = 1234567 }; /* no error code */

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = 1;
    return ODD;
}

static int nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int no_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

/* MPI hands on what a callback returns, or makes an error of it: as without us. */
static void odd_results(void)
{
    MPI_Request r;
    int before;

    MPI_Grequest_start(query, nothing, no_cancel, NULL, &r);
    MPI_Grequest_complete(r);
    before = handled;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(handled <= before + 1);
    handled = before;
}

int main(int argc, char **argv)
{
    MPI_Errhandler mine;
    MPI_Comm own;

    start(&argc, &argv);
    world = MPI_COMM_WORLD;
    last_rank = (rank + size - 1) % size;
    next_rank = (rank + 1) % size;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(world, mine);
    MPI_Comm_dup(world, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    types();
    huge();
    CHECK(handled == 0);
    refused_on_one(own);
    refused_types(own);
    not_freed();
    freed_out_of_sight();
    too_many_on_one();
    by_some();
    odd_results();
    CHECK(handled == 0);
    MPI_Comm_free(&own);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&mine);
    return finish();
}
