/**
 * \file
 * How the runtime reaches the other ranks at the end of the run (ompp_reduce_t), over a communicator of its own that is
 * made when MPI starts (mpi_own.c): the program's messages and collective calls cannot be mixed up with ours.
 *
 * All transfers are polled with a limit, so that a rank that does not come leaves the others with their local profiles
 * and does not make them wait for ever.
 */
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "base/ompp_float.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"
#include "process/ompp_lifecycle.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TAG_SIZE = 1, TAG_DATA = 2 };
#define PIECE_BYTES (1u << 30) /* counts of MPI calls are int */

static struct {
    ompp_mpi_own_t own;
    bool gave_up;         /* a transfer ran into its limit: the communicator has loose ends */
    double limit_seconds; /* of one transfer */
    bool *sized;          /* [own.size] receive_size() has taken the size of the next message of this rank */
} self = {.own.comm = MPI_COMM_NULL, .limit_seconds = 300};

/* ---- Waiting with a limit ---------------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Short waits must stay short, long ones must not keep a core busy. */
static void pause_after(double waited_seconds)
{
    const struct timespec nap = {0, waited_seconds < 0.1 ? 100000 : 2000000};

    if (waited_seconds < 0.002) sched_yield();
    else nanosleep(&nap, NULL);
}

/* What is received late would be written into memory the caller no longer has; a send that nobody takes is never
 * read. */
static void give_up(MPI_Request *request, bool receives)
{
    self.gave_up = true;
    if (!receives || *request == MPI_REQUEST_NULL || PMPI_Cancel(request) != MPI_SUCCESS) return;
    PMPI_Wait(request, MPI_STATUS_IGNORE);
}

static int complete(MPI_Request *request, double limit_seconds, bool receives)
{
    const double start = seconds_now();
    int done = 0;

    /* One long wait is enough: whoever did not come in it does not come. */
    if (self.gave_up && limit_seconds > 2) limit_seconds = 2;

    for (;;) {
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return -OMPP_E_MPI;
        if (done) return 0;
        const double waited = seconds_now() - start;
        if (waited > limit_seconds) break;
        pause_after(waited);
    }
    give_up(request, receives);
    return -OMPP_E_TIMEOUT;
}

/* ---- ompp_reduce_t ----------------------------------------------------------------------------------------------- */

static int agree(double timeout_seconds)
{
    MPI_Request request;

    if (self.own.size == 1) return 0;
    if (self.own.comm == MPI_COMM_NULL) return -OMPP_E_MPI;
    self.limit_seconds = timeout_seconds;
    if (PMPI_Ibarrier(self.own.comm, &request) != MPI_SUCCESS) return -OMPP_E_MPI;
    return complete(&request, timeout_seconds, false);
}

static int send_piece(int to, int tag, const void *data, int bytes)
{
    MPI_Request request;

    if (PMPI_Isend(data, bytes, MPI_BYTE, to, tag, self.own.comm, &request) != MPI_SUCCESS) return -OMPP_E_MPI;
    return complete(&request, self.limit_seconds, false);
}

static int receive_piece(int from, int tag, void *data, int bytes)
{
    MPI_Request request;

    if (PMPI_Irecv(data, bytes, MPI_BYTE, from, tag, self.own.comm, &request) != MPI_SUCCESS) return -OMPP_E_MPI;
    return complete(&request, self.limit_seconds, true);
}

static bool is_peer(int rank)
{
    return self.own.comm != MPI_COMM_NULL && self.sized && rank >= 0 && rank < self.own.size;
}

static int piece_bytes(uint64_t left) { return left < PIECE_BYTES ? (int)left : (int)PIECE_BYTES; }

static int reduce_send(int to, const void *data, uint64_t bytes)
{
    const char *p = data;
    int error;

    if (!is_peer(to)) return -OMPP_E_MPI;
    error = send_piece(to, TAG_SIZE, &bytes, sizeof bytes);
    for (uint64_t left = bytes; !error && left > 0; left -= piece_bytes(left)) {
        error = send_piece(to, TAG_DATA, p, piece_bytes(left));
        p += piece_bytes(left);
    }
    return error;
}

static int reduce_receive_size(int from, uint64_t *bytes)
{
    int error;

    if (!is_peer(from)) return -OMPP_E_MPI;
    error = receive_piece(from, TAG_SIZE, bytes, sizeof *bytes);
    if (!error) self.sized[from] = true;
    return error;
}

static int reduce_receive(int from, void *data, uint64_t bytes)
{
    uint64_t sent = bytes;
    char *p = data;
    int error = 0;

    if (!is_peer(from)) return -OMPP_E_MPI;
    if (!self.sized[from]) error = reduce_receive_size(from, &sent);
    self.sized[from] = false;
    if (!error && sent != bytes) return -OMPP_E_FORMAT;
    for (uint64_t left = bytes; !error && left > 0; left -= piece_bytes(left)) {
        error = receive_piece(from, TAG_DATA, p, piece_bytes(left));
        p += piece_bytes(left);
    }
    return error;
}

/* ---- Start and end ----------------------------------------------------------------------------------------------- */

/* A name for this run, the same on all ranks: rank 0 makes it. Collective over the own communicator. */
static void agree_on_name(void)
{
    char name[128] = "", host[64] = "";
    struct timespec t;

    gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(name, sizeof name, "%s/%d/%lld.%09ld", host, (int)getpid(), (long long)t.tv_sec, t.tv_nsec);
    if (PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, self.own.comm) == MPI_SUCCESS && ompp_mpi_runs())
        ompp_runtime_job(name);
}

void ompp_mpi_started(void)
{
    const int saved = errno;
    ompp_float_t program;

    if (!ompp_env_is_trusted()) return;
    ompp_float_begin(&program);
    /* Collective: a rank that has the wrappers and is not measured takes part all the same. */
    if (self.own.size == 0) ompp_mpi_own_make(&self.own);
    if (ompp_mpi_runs()) ompp_mpi_learn_rank();
    if (self.own.comm != MPI_COMM_NULL) agree_on_name();
    if (self.own.comm != MPI_COMM_NULL && self.own.all) ompp_mpi_piggyback_start(self.own.comm);
    ompp_float_end(&program);
    errno = saved;
}

static bool reduce_all(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;

    return !self.gave_up && PMPI_Iallreduce(mine, all, n, type, op, self.own.comm, &request) == MPI_SUCCESS &&
           complete(&request, self.limit_seconds, false) == 0;
}

static bool all_to_all(const int *to, int *from)
{
    MPI_Request request;

    return !self.gave_up && PMPI_Ialltoall(to, 1, MPI_INT, from, 1, MPI_INT, self.own.comm, &request) == MPI_SUCCESS &&
           complete(&request, self.limit_seconds, false) == 0;
}

/* Where the bytes of each rank begin. \return all of them. */
static int places(const int *bytes, int *at)
{
    int sum = 0;

    for (int r = 0; r < self.own.size; r++) at[r] = sum, sum += bytes[r];
    return sum;
}

/* When a rank does not come, MPI may still use the arrays. */
static void *exchange(const void *mine, const int *to, int *from)
{
    int *at = malloc(2 * (size_t)self.own.size * sizeof *at);
    MPI_Request request;

    if (!at || !all_to_all(to, from)) return NULL;
    places(to, at);
    void *theirs = malloc((size_t)places(from, at + self.own.size) + 1);
    if (!theirs ||
        PMPI_Ialltoallv(mine, to, at, MPI_BYTE, theirs, from, at + self.own.size, MPI_BYTE, self.own.comm, &request) !=
            MPI_SUCCESS ||
        complete(&request, self.limit_seconds, false) != 0)
        return NULL;
    free(at);
    return theirs;
}

/* Who waited for whom; where clocks are followed, these tell more. All ranks or none. */
static void compare(void)
{
    if (!self.own.all || self.own.size < 2 || self.own.comm == MPI_COMM_NULL) return;
    if (ompp_mpi_unusual & OMPP_MPI_PIGGYBACK) return;
    ompp_mpi_clock_relate(self.own.comm);
    ompp_mpi_meet_finish(self.own.comm, reduce_all);
    ompp_mpi_pair_finish(self.own.size, reduce_all, exchange);
}

static ompp_reduce_t transport_begin(void)
{
    if (self.own.size == 0)
        self.own = (ompp_mpi_own_t){.comm = MPI_COMM_NULL, .rank = ompp_mpi_world.rank, .size = ompp_mpi_world.size};
    self.sized = calloc((size_t)self.own.size, sizeof *self.sized);
    return (ompp_reduce_t){.rank = self.own.rank,
                           .size = self.own.size,
                           .world = self.own.world,
                           .agree = agree,
                           .send = reduce_send,
                           .receive_size = reduce_receive_size,
                           .receive = reduce_receive,
                           .compare = compare};
}

static void transport_end(void)
{
    free(self.sized);
    self.sized = NULL;
}

/* This rank has nothing to tell: it says so to the others, that they need not wait. */
static void absent(void)
{
    const ompp_reduce_t transport = transport_begin();
    ompp_runtime_absent(&transport);
    transport_end();
}

/*
 * A rank's measured time ends when it enters MPI_Finalize: the call is counted, not timed. Where clocks travel, ranks
 * wait here for the last one, whose end is the end of the run: that is the time of the call.
 */
static void enter_finalize(const void *code, uintptr_t frame)
{
    ompp_mpi_call_t call;
    const bool waits = ompp_mpi_unusual & OMPP_MPI_PIGGYBACK && ompp_mpi_begin(&call, code, frame, "MPI_Finalize");

    if (!waits) ompp_mpi_count(code, frame, "MPI_Finalize");
    ompp_mpi_piggyback_finish(ompp_env.finalize_timeout);
    if (waits) ompp_mpi_end_now(&call);
}

void ompp_mpi_finish(const void *code, uintptr_t frame, const ompp_mpi_names_t wrapped[2])
{
    const int saved = errno;
    ompp_float_t program;

    ompp_float_begin(&program);
    if (ompp_mpi_is_alive() && !ompp_mpi_runs() && self.own.comm != MPI_COMM_NULL) {
        absent();
    } else if (ompp_mpi_runs() && ompp_mpi_is_alive()) {
        if (!ompp_mpi_world.known) ompp_mpi_learn_rank();
        const ompp_reduce_t transport = transport_begin();
        ompp_mpi_coverage(wrapped);
        enter_finalize(code, frame);
        ompp_runtime_finalize(&transport);
        transport_end();
        if (self.own.comm != MPI_COMM_NULL && !self.gave_up) PMPI_Comm_free(&self.own.comm);
    }
    ompp_float_end(&program);
    errno = saved;
}
