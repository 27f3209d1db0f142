/**
 * \file
 * What calls of MPI count: the byte rules (mpi_bytes_hot.c), and what persistent requests count (mpi_request.c).
 * Private to mpi-wrap.
 */
#ifndef OMPP_MPI_BYTES_PRIV_H
#define OMPP_MPI_BYTES_PRIV_H

#include "runtime/ompp_event.h"
#include "runtime/ompp_message.h"

#include <mpi.h>

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/** Initial values of a call: what it counts without its bytes. */
#define OMPP_MPI_VALUES(sends, recvs, colls)                                                        \
    {                                                                                               \
        [OMPP_METRIC_SENDS] = (sends), [OMPP_METRIC_RECVS] = (recvs), [OMPP_METRIC_COLLS] = (colls) \
    }

/** An array of counts of the user: int, or MPI_Count in calls with large counts. Borrowed; may be rubbish where MPI
 * ignores it. */
typedef struct {
    const void *array;
    bool wide;
    MPI_Count each; /* without an array: the count for each rank */
} ompp_mpi_counts_t;

#define ompp_mpi_counts(array) ((ompp_mpi_counts_t){(array), sizeof *(array) == sizeof(MPI_Count), 0})

/** An array of types of the user, in C's or Fortran's handles. Borrowed; may be rubbish where MPI ignores it. */
typedef struct {
    const void *array;
    bool fortran;
} ompp_mpi_types_t;

static inline ompp_mpi_types_t ompp_mpi_types(const MPI_Datatype *array) { return (ompp_mpi_types_t){array, false}; }

static inline ompp_mpi_types_t ompp_mpi_types_f(const MPI_Fint *array) { return (ompp_mpi_types_t){array, true}; }

/*
 * The byte rules: add to values[OMPP_METRIC_BYTES_IN] and [OMPP_METRIC_BYTES_OUT] what the call moves by ompP's
 * definition (docs/mpi.md). Called after the call, when it succeeded. Arguments are the user's; what is not significant
 * at this rank may be anything and is not looked at. They make local PMPI calls, keep errno, and never fail.
 */
typedef uint64_t ompp_mpi_values_t[OMPP_METRIC_MPI_NUM];

/** \brief Bytes of count elements. \param[in] type  may be no type at all where there are none of it. */
uint64_t ompp_mpi_bytes_of(MPI_Count count, MPI_Datatype type);

/**
 * \brief The same before MPI has accepted the type, of which MPI is not asked: it may be none.
 * \return what this handle was of last; 0 = not known.
 */
uint64_t ompp_mpi_bytes_guess(MPI_Count count, MPI_Datatype type);

/** \return whether MPI has accepted this handle before: then it most likely will again. */
bool ompp_mpi_type_is_known(MPI_Datatype type);

static inline void ompp_mpi_bytes_send(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int dest)
{
    if (dest != MPI_PROC_NULL) values[OMPP_METRIC_BYTES_OUT] += ompp_mpi_bytes_of(count, type);
}

static inline void ompp_mpi_bytes_recv(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int source)
{
    if (source != MPI_PROC_NULL) values[OMPP_METRIC_BYTES_IN] += ompp_mpi_bytes_of(count, type);
}

/** \param[in] matched  the message was not MPI_MESSAGE_NO_PROC. */
static inline void ompp_mpi_bytes_matched(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, bool matched)
{
    if (matched) values[OMPP_METRIC_BYTES_IN] += ompp_mpi_bytes_of(count, type);
}

void ompp_mpi_bytes_sendrecv(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                             MPI_Count recvcount, MPI_Datatype recvtype, int source);
void ompp_mpi_bytes_sendrecv_replace(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int dest,
                                     int source);
void ompp_mpi_bytes_partitioned_send(ompp_mpi_values_t values, int partitions, MPI_Count count, MPI_Datatype type,
                                     int dest);
void ompp_mpi_bytes_partitioned_recv(ompp_mpi_values_t values, int partitions, MPI_Count count, MPI_Datatype type,
                                     int source);

void ompp_mpi_bytes_bcast(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void ompp_mpi_bytes_reduce(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void ompp_mpi_bytes_allreduce(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void ompp_mpi_bytes_scan(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void ompp_mpi_bytes_reduce_scatter(ompp_mpi_values_t values, ompp_mpi_counts_t recvcounts, MPI_Datatype type,
                                   MPI_Comm comm);
void ompp_mpi_bytes_reduce_scatter_block(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void ompp_mpi_bytes_gather(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void ompp_mpi_bytes_gatherv(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype, int root, MPI_Comm comm);
void ompp_mpi_bytes_scatter(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype, const void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void ompp_mpi_bytes_scatterv(ompp_mpi_values_t values, ompp_mpi_counts_t sendcounts, MPI_Datatype sendtype,
                             const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void ompp_mpi_bytes_allgather(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void ompp_mpi_bytes_allgatherv(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount,
                               MPI_Datatype sendtype, ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype,
                               MPI_Comm comm);
void ompp_mpi_bytes_alltoall(ompp_mpi_values_t values, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void ompp_mpi_bytes_alltoallv(ompp_mpi_values_t values, const void *sendbuf, ompp_mpi_counts_t sendcounts,
                              MPI_Datatype sendtype, ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype,
                              MPI_Comm comm);
void ompp_mpi_bytes_alltoallw(ompp_mpi_values_t values, const void *sendbuf, ompp_mpi_counts_t sendcounts,
                              ompp_mpi_types_t sendtypes, ompp_mpi_counts_t recvcounts, ompp_mpi_types_t recvtypes,
                              MPI_Comm comm);
void ompp_mpi_bytes_neighbor(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype, MPI_Count recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm);
void ompp_mpi_bytes_neighbor_allgatherv(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype,
                                        ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void ompp_mpi_bytes_neighbor_alltoallv(ompp_mpi_values_t values, ompp_mpi_counts_t sendcounts, MPI_Datatype sendtype,
                                       ompp_mpi_counts_t recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void ompp_mpi_bytes_neighbor_alltoallw(ompp_mpi_values_t values, ompp_mpi_counts_t sendcounts,
                                       ompp_mpi_types_t sendtypes, ompp_mpi_counts_t recvcounts,
                                       ompp_mpi_types_t recvtypes, MPI_Comm comm);

void ompp_mpi_bytes_put(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int target);
void ompp_mpi_bytes_get(ompp_mpi_values_t values, MPI_Count count, MPI_Datatype type, int target);
void ompp_mpi_bytes_get_accumulate(ompp_mpi_values_t values, MPI_Count sendcount, MPI_Datatype sendtype,
                                   MPI_Count recvcount, MPI_Datatype recvtype, int target, MPI_Op op);
void ompp_mpi_bytes_fetch_and_op(ompp_mpi_values_t values, MPI_Datatype type, int target, MPI_Op op);
void ompp_mpi_bytes_compare_and_swap(ompp_mpi_values_t values, MPI_Datatype type, int target);

/** What the byte rule of a call counts into ompp_values, all of it, into the bytes of its ompp_mpi_piggyback_t. */
#define OMPP_MPI_BYTES_OF(piggyback, rule)                                                          \
    do {                                                                                            \
        uint64_t ompp_values[OMPP_METRIC_MPI_NUM] = OMPP_MPI_VALUES(0, 0, 0);                       \
        rule;                                                                                       \
        (piggyback).bytes = ompp_values[OMPP_METRIC_BYTES_IN] + ompp_values[OMPP_METRIC_BYTES_OUT]; \
    } while (0)

/* ---- Persistent requests ----------------------------------------------------------------------------------------- */

/**
 * \brief Keeps what one start of a request counts; replaces what an earlier request with this handle had. Takes a lock.
 */
void ompp_mpi_request_keep(MPI_Request request, const ompp_mpi_values_t values);
/** \brief After that: to whom it sends. peer: NULL = to nobody. */
void ompp_mpi_request_keep_peer(MPI_Request request, ompp_a_message_t *peer);

/** \brief Adds what starting these requests counts; unknown ones count nothing. Takes a lock. */
void ompp_mpi_request_add(int number, const MPI_Request requests[], ompp_mpi_values_t values);

#endif
