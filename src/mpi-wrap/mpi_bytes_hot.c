/**
 * \file
 * The byte rules of MPI calls: count times size of the type, by ompP's definitions, extended to what ompP does not
 * know. See docs/mpi.md for the table. Called by the generated wrappers after a call that succeeded.
 *
 * In each rule the first thing looked at says which of the other arguments are significant at this rank; the others are
 * not touched: they may be unmapped memory or invalid handles.
 */
#include "base/ompp_hash.h"
#include "mpi-wrap/mpi_bytes_priv.h"

#include <errno.h>
#include <stdatomic.h>

/*
 * Asking a type for its size or a communicator for its rank, sizes and kind reads a value in memory: errno is not
 * touched by it, and not saved here. Topologies are asked for more (below).
 */

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/*
 * Sizes of named types (MPI_DOUBLE, ...), which keep their handles as long as the process lives, by handle. An entry is
 * written once; type is set last. A type that finds its place taken is asked for its size each time, like all others.
 */
enum { SIZES_BITS = 7, BUSY = 1, MAX_QUESTIONS = 1000 };
static struct {
    _Atomic uintptr_t type; /* 0 = free */
    uint64_t bytes;
} sizes[1 << SIZES_BITS];

static size_t place_of(MPI_Datatype type) { return ompp_hash_place((uintptr_t)type, SIZES_BITS); }

/* Sizes of the others, as they were last: a handle may have been given to another type since. */
static struct {
    _Atomic uintptr_t type;
    _Atomic uint64_t bytes;
} latest[1 << SIZES_BITS];

/*
 * A type that was made with large counts has no other envelope than that with large counts: to ask for it is an error
 * of the program. A library without that function, with which ours may be run, has no such types.
 */
#if MPI_VERSION >= 4
#pragma weak PMPI_Type_get_envelope_c
#endif

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner = MPI_COMBINER_DUP;

#if MPI_VERSION >= 4
    MPI_Count large[4];
    if (PMPI_Type_get_envelope_c)
        return PMPI_Type_get_envelope_c(type, &large[0], &large[1], &large[2], &large[3], &combiner) == MPI_SUCCESS &&
               combiner == MPI_COMBINER_NAMED;
#endif
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

static void keep_latest(size_t i, MPI_Datatype type, uint64_t bytes)
{
    atomic_store_explicit(&latest[i].type, (uintptr_t)type, memory_order_relaxed);
    atomic_store_explicit(&latest[i].bytes, bytes, memory_order_relaxed);
}

/* Keeps the size of a type. After a number of questions in vain, for programs with many others, nobody asks whether it
 * is a named one. */
static void keep_size(MPI_Datatype type, uint64_t bytes)
{
    static _Atomic unsigned questions;
    const size_t i = place_of(type);
    uintptr_t expected = 0;

    keep_latest(i, type, bytes);
    if (sizes[i].type || atomic_load_explicit(&questions, memory_order_relaxed) > MAX_QUESTIONS) return;
    atomic_fetch_add_explicit(&questions, 1, memory_order_relaxed);
    if (!is_named(type)) return;
    if (!atomic_compare_exchange_strong(&sizes[i].type, &expected, BUSY)) return;
    sizes[i].bytes = bytes;
    atomic_store_explicit(&sizes[i].type, (uintptr_t)type, memory_order_release);
}

/*
 * A type is not looked at when there are none of it: it may then be MPI_DATATYPE_NULL, or, in Fortran, a number that is
 * no handle, of which Open MPI makes a null pointer.
 */
static __attribute__((noinline)) uint64_t bytes_of_slow(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    if (count <= 0 || type == MPI_DATATYPE_NULL || type == (MPI_Datatype)0) return 0;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
    keep_size(type, (uint64_t)size);
    return (uint64_t)count * (uint64_t)size;
}

uint64_t ompp_mpi_bytes_of(MPI_Count count, MPI_Datatype type)
{
    const size_t i = place_of(type);

    if (__builtin_expect(count <= 0 || atomic_load_explicit(&sizes[i].type, memory_order_acquire) != (uintptr_t)type,
                         0))
        return bytes_of_slow(count, type);
    return (uint64_t)count * sizes[i].bytes;
}

bool ompp_mpi_type_is_known(MPI_Datatype type)
{
    const uintptr_t handle = (uintptr_t)type;
    const size_t i = place_of(type);

    return handle && (atomic_load_explicit(&sizes[i].type, memory_order_acquire) == handle ||
                      atomic_load_explicit(&latest[i].type, memory_order_relaxed) == handle);
}

uint64_t ompp_mpi_bytes_guess(MPI_Count count, MPI_Datatype type)
{
    const size_t i = place_of(type);

    if (count <= 0 || !type) return 0;
    if (atomic_load_explicit(&sizes[i].type, memory_order_acquire) == (uintptr_t)type)
        return (uint64_t)count * sizes[i].bytes;
    if (atomic_load_explicit(&latest[i].type, memory_order_relaxed) != (uintptr_t)type) return 0;
    return (uint64_t)count * atomic_load_explicit(&latest[i].bytes, memory_order_relaxed);
}

static ompp_mpi_counts_t each(MPI_Count count) { return (ompp_mpi_counts_t){.each = count}; }

static MPI_Count count_at(ompp_mpi_counts_t counts, int i)
{
    if (!counts.array) return counts.each;
    return counts.wide ? ((const MPI_Count *)counts.array)[i] : ((const int *)counts.array)[i];
}

static MPI_Datatype type_at(ompp_mpi_types_t types, int i)
{
    return types.fortran ? PMPI_Type_f2c(((const MPI_Fint *)types.array)[i]) : ((const MPI_Datatype *)types.array)[i];
}

/* gaps: bit i: place i belongs to no process. */
static bool is_gap(uint64_t gaps, int i) { return i < 64 && (gaps >> i & 1); }

static MPI_Count sum_of(ompp_mpi_counts_t counts, int n, uint64_t gaps)
{
    MPI_Count sum = 0;

    if (!counts.array && !gaps) return n * counts.each;
    for (int i = 0; i < n; i++)
        if (!is_gap(gaps, i)) sum += count_at(counts, i);
    return sum;
}

static uint64_t sum_of_types(ompp_mpi_counts_t counts, ompp_mpi_types_t types, int n, uint64_t gaps)
{
    uint64_t bytes = 0;

    for (int i = 0; i < n; i++)
        if (!is_gap(gaps, i) && count_at(counts, i) > 0)
            bytes += ompp_mpi_bytes_of(count_at(counts, i), type_at(types, i));
    return bytes;
}

/* Who takes part in a collective call. */
typedef struct {
    int rank;   /* own, in the local group */
    int size;   /* of the local group */
    int others; /* processes that exchange data with this one, itself included in an intracommunicator */
    bool inter;
} group_t;

static group_t asked_group(MPI_Comm comm)
{
    group_t g = {0, 0, 0, false};
    int inter = 0;

    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_size(comm, &g.size);
    PMPI_Comm_rank(comm, &g.rank);
    g.others = g.size;
    g.inter = inter;
    if (inter) PMPI_Comm_remote_size(comm, &g.others);
    return g;
}

/* The two communicators that are always there are the same as long as the process lives. */
static group_t group_of(MPI_Comm comm)
{
    static group_t world;
    static _Atomic bool known;

    if (comm == MPI_COMM_SELF) return (group_t){.rank = 0, .size = 1, .others = 1, .inter = false};
    if (comm != MPI_COMM_WORLD) return asked_group(comm);
    if (!atomic_load_explicit(&known, memory_order_acquire)) {
        const group_t asked = asked_group(comm);
        static _Atomic bool taken;
        if (atomic_exchange(&taken, true)) return asked;
        world = asked;
        atomic_store_explicit(&known, true, memory_order_release);
    }
    return world;
}

/* Number of processes data goes to or comes from when a rank's own part does not travel (broadcast, reductions). */
static uint64_t strangers(const group_t *g) { return g->inter ? g->others : g->others - 1; }

typedef enum { ROLE_NONE, ROLE_ROOT, ROLE_LEAF } role_t;

/* Part of this rank in a rooted call; MPI_PROC_NULL: in the root's group of an intercommunicator, but not the root. */
static role_t role_of(int root, const group_t *g)
{
    if (root == MPI_PROC_NULL) return ROLE_NONE;
    if (root == MPI_ROOT) return ROLE_ROOT;
    return !g->inter && root == g->rank ? ROLE_ROOT : ROLE_LEAF;
}

static void add_in(ompp_mpi_values_t values, uint64_t bytes) { values[OMPP_METRIC_BYTES_IN] += bytes; }

static void add_out(ompp_mpi_values_t values, uint64_t bytes) { values[OMPP_METRIC_BYTES_OUT] += bytes; }

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

void ompp_mpi_bytes_sendrecv(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                             MPI_Count recvcount, MPI_Datatype recvtype, int source)
{
    ompp_mpi_bytes_send(values, sendcount, sendtype, dest);
    ompp_mpi_bytes_recv(values, recvcount, recvtype, source);
}

void ompp_mpi_bytes_sendrecv_replace(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int dest, int source)
{
    ompp_mpi_bytes_sendrecv(values, count, type, dest, count, type, source);
}

void ompp_mpi_bytes_partitioned_send(ompp_mpi_values_t values, int partitions, MPI_Count count, MPI_Datatype type,
                                     int dest)
{
    ompp_mpi_bytes_send(values, partitions * count, type, dest);
}

void ompp_mpi_bytes_partitioned_recv(ompp_mpi_values_t values, int partitions, MPI_Count count, MPI_Datatype type,
                                     int source)
{
    ompp_mpi_bytes_recv(values, partitions * count, type, source);
}

/* ---- Collective calls -------------------------------------------------------------------------------------------- */

/* A vector that goes from the root to all, or from all to the root.
 * \param[in,out] root, leaf  what it adds to there. */
static void add_vector(uint64_t *root, uint64_t *leaf, MPI_Count count, MPI_Datatype type, int root_rank, MPI_Comm comm)
{
    const group_t g = group_of(comm);

    switch (role_of(root_rank, &g)) {
    case ROLE_ROOT: *root += strangers(&g) * ompp_mpi_bytes_of(count, type); break;
    case ROLE_LEAF: *leaf += ompp_mpi_bytes_of(count, type); break;
    case ROLE_NONE: break;
    }
}

void ompp_mpi_bytes_bcast(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    add_vector(&values[OMPP_METRIC_BYTES_OUT], &values[OMPP_METRIC_BYTES_IN], count, type, root, comm);
}

void ompp_mpi_bytes_reduce(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    add_vector(&values[OMPP_METRIC_BYTES_IN], &values[OMPP_METRIC_BYTES_OUT], count, type, root, comm);
}

void ompp_mpi_bytes_allreduce(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    const group_t g = group_of(comm);
    const uint64_t bytes = strangers(&g) * ompp_mpi_bytes_of(count, type);

    add_out(values, bytes);
    add_in(values, bytes);
}

/* A chain: from the rank below, to the rank above. */
void ompp_mpi_bytes_scan(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    const group_t g = group_of(comm);
    const uint64_t bytes = ompp_mpi_bytes_of(count, type);

    if (g.rank < g.size - 1) add_out(values, bytes);
    if (g.rank > 0) add_in(values, bytes);
}

/* A reduction to each rank of its part. */
void ompp_mpi_bytes_reduce_scatter(ompp_mpi_values_t values, ompp_mpi_counts_t recvcounts, MPI_Datatype type,
                                   MPI_Comm comm)
{
    const group_t g = group_of(comm);
    const MPI_Count own = count_at(recvcounts, g.rank), all = sum_of(recvcounts, g.size, 0);

    add_out(values, ompp_mpi_bytes_of(g.inter ? all : all - own, type));
    add_in(values, strangers(&g) * ompp_mpi_bytes_of(own, type));
}

/* Both groups of an intercommunicator contribute the same vector: local size times count. */
void ompp_mpi_bytes_reduce_scatter_block(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    ompp_mpi_bytes_reduce_scatter(values, each(count), type, comm);
}

/*
 * Gather and scatter: the root has a part for each rank, the others have one. A rank's own part counts, also where
 * MPI_IN_PLACE says that it lies at its place already.
 * \param[in,out] root, leaf  what is added to by the root's parts, and by the part of each rank.
 */
static void add_parts(uint64_t *root, uint64_t *leaf, ompp_mpi_counts_t parts, MPI_Datatype parts_type, const void *buf,
                      MPI_Count count, MPI_Datatype type, int root_rank, MPI_Comm comm)
{
    const group_t g = group_of(comm);

    switch (role_of(root_rank, &g)) {
    case ROLE_ROOT:
        *root += ompp_mpi_bytes_of(sum_of(parts, g.others, 0), parts_type);
        if (g.inter) break;
        *leaf += buf == MPI_IN_PLACE ? ompp_mpi_bytes_of(count_at(parts, g.rank), parts_type)
                                     : ompp_mpi_bytes_of(count, type);
        break;
    case ROLE_LEAF: *leaf += ompp_mpi_bytes_of(count, type); break;
    case ROLE_NONE: break;
    }
}

void ompp_mpi_bytes_gatherv(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    add_parts(&values[OMPP_METRIC_BYTES_IN], &values[OMPP_METRIC_BYTES_OUT], recvcounts, recvtype, sendbuf, sendcount,
              sendtype, root, comm);
}

void ompp_mpi_bytes_gather(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    ompp_mpi_bytes_gatherv(values, sendbuf, sendcount, sendtype, each(recvcount), recvtype, root, comm);
}

void ompp_mpi_bytes_scatterv(ompp_mpi_values_t values, ompp_mpi_counts_t sendcounts, MPI_Datatype sendtype,
                             const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    add_parts(&values[OMPP_METRIC_BYTES_OUT], &values[OMPP_METRIC_BYTES_IN], sendcounts, sendtype, recvbuf, recvcount,
              recvtype, root, comm);
}

void ompp_mpi_bytes_scatter(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype, const void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    ompp_mpi_bytes_scatterv(values, each(sendcount), sendtype, recvbuf, recvcount, recvtype, root, comm);
}

void ompp_mpi_bytes_allgatherv(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount,
                               MPI_Datatype sendtype, ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype,
                               MPI_Comm comm)
{
    const group_t g = group_of(comm);

    add_in(values, ompp_mpi_bytes_of(sum_of(recvcounts, g.others, 0), recvtype));
    add_out(values, g.others * (sendbuf == MPI_IN_PLACE ? ompp_mpi_bytes_of(count_at(recvcounts, g.rank), recvtype)
                                                        : ompp_mpi_bytes_of(sendcount, sendtype)));
}

void ompp_mpi_bytes_allgather(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    ompp_mpi_bytes_allgatherv(values, sendbuf, sendcount, sendtype, each(recvcount), recvtype, comm);
}

/* A block for each: what arrives in all is what goes out in all, as in an allgather. */
void ompp_mpi_bytes_alltoall(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    ompp_mpi_bytes_allgather(values, sendbuf, sendcount, sendtype, recvcount, recvtype, comm);
}

void ompp_mpi_bytes_alltoallv(ompp_mpi_values_t values, const void *sendbuf, ompp_mpi_counts_t sendcounts,
                              MPI_Datatype sendtype, ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype, MPI_Comm comm)
{
    const group_t g = group_of(comm);
    const uint64_t in = ompp_mpi_bytes_of(sum_of(recvcounts, g.others, 0), recvtype);

    add_in(values, in);
    add_out(values, sendbuf == MPI_IN_PLACE ? in : ompp_mpi_bytes_of(sum_of(sendcounts, g.others, 0), sendtype));
}

void ompp_mpi_bytes_alltoallw(ompp_mpi_values_t values, const void *sendbuf, ompp_mpi_counts_t sendcounts,
                              ompp_mpi_types_t sendtypes, ompp_mpi_counts_t recvcounts, ompp_mpi_types_t recvtypes,
                              MPI_Comm comm)
{
    const group_t g = group_of(comm);
    const uint64_t in = sum_of_types(recvcounts, recvtypes, g.others, 0);

    add_in(values, in);
    add_out(values, sendbuf == MPI_IN_PLACE ? in : sum_of_types(sendcounts, sendtypes, g.others, 0));
}

/* ---- Neighbourhoods ---------------------------------------------------------------------------------------------- */

/* Neighbours in the order of the buffers. A cartesian one beyond a border is MPI_PROC_NULL and gets nothing. */
typedef struct {
    int in, out; /* places in the buffers */
    uint64_t in_gap, out_gap;
} neighbours_t;

static neighbours_t cartesian_neighbours(MPI_Comm comm)
{
    neighbours_t n = {0};
    int dims = 0, below, above;

    PMPI_Cartdim_get(comm, &dims);
    for (int d = 0; d < dims; d++) {
        PMPI_Cart_shift(comm, d, 1, &below, &above);
        if (d >= 32) continue;
        if (below == MPI_PROC_NULL) n.in_gap |= 1ull << 2 * d;
        if (above == MPI_PROC_NULL) n.in_gap |= 1ull << (2 * d + 1);
    }
    n.out_gap = n.in_gap;
    n.in = n.out = 2 * dims;
    return n;
}

static neighbours_t neighbours_of(MPI_Comm comm)
{
    neighbours_t n = {0};
    int topology = MPI_UNDEFINED, rank = 0, weighted;
    const int saved = errno;

    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        n = cartesian_neighbours(comm);
    } else if (topology == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &n.in);
        n.out = n.in;
    } else if (topology == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &n.in, &n.out, &weighted);
    }
    errno = saved;
    return n;
}

void ompp_mpi_bytes_neighbor_alltoallv(ompp_mpi_values_t values, ompp_mpi_counts_t sendcounts, MPI_Datatype sendtype,
                                       ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype, MPI_Comm comm)
{
    const neighbours_t n = neighbours_of(comm);

    add_out(values, ompp_mpi_bytes_of(sum_of(sendcounts, n.out, n.out_gap), sendtype));
    add_in(values, ompp_mpi_bytes_of(sum_of(recvcounts, n.in, n.in_gap), recvtype));
}

void ompp_mpi_bytes_neighbor(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype, MPI_Count recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm)
{
    ompp_mpi_bytes_neighbor_alltoallv(values, each(sendcount), sendtype, each(recvcount), recvtype, comm);
}

void ompp_mpi_bytes_neighbor_allgatherv(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype,
                                        ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype, MPI_Comm comm)
{
    ompp_mpi_bytes_neighbor_alltoallv(values, each(sendcount), sendtype, recvcounts, recvtype, comm);
}

void ompp_mpi_bytes_neighbor_alltoallw(ompp_mpi_values_t values, ompp_mpi_counts_t sendcounts,
                                       ompp_mpi_types_t sendtypes, ompp_mpi_counts_t recvcounts,
                                       ompp_mpi_types_t recvtypes, MPI_Comm comm)
{
    const neighbours_t n = neighbours_of(comm);

    add_out(values, sum_of_types(sendcounts, sendtypes, n.out, n.out_gap));
    add_in(values, sum_of_types(recvcounts, recvtypes, n.in, n.in_gap));
}

/* ---- One-sided --------------------------------------------------------------------------------------------------- */

void ompp_mpi_bytes_put(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int target)
{
    ompp_mpi_bytes_send(values, count, type, target);
}

void ompp_mpi_bytes_get(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int target)
{
    ompp_mpi_bytes_recv(values, count, type, target);
}

/* With MPI_NO_OP the origin's data are not significant. */
void ompp_mpi_bytes_get_accumulate(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype,
                                   MPI_Count recvcount, MPI_Datatype recvtype, int target, MPI_Op op)
{
    if (op != MPI_NO_OP) ompp_mpi_bytes_send(values, sendcount, sendtype, target);
    ompp_mpi_bytes_recv(values, recvcount, recvtype, target);
}

void ompp_mpi_bytes_fetch_and_op(ompp_mpi_values_t values, MPI_Datatype type, int target, MPI_Op op)
{
    ompp_mpi_bytes_get_accumulate(values, 1, type, 1, type, target, op);
}

/* The value to compare with travels, too. */
void ompp_mpi_bytes_compare_and_swap(ompp_mpi_values_t values, MPI_Datatype type, int target)
{
    ompp_mpi_bytes_send(values, 2, type, target);
    ompp_mpi_bytes_recv(values, 1, type, target);
}
