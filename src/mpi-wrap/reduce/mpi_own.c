/**
 * \file
 * Our own communicator, made when MPI starts: of all ranks of MPI_COMM_WORLD, or of those that are measured. Who that
 * is has to be known before: the others take part in nothing of ours, and calls that are collective over MPI_COMM_WORLD
 * would wait for them for ever, or be taken for calls of the program.
 *
 * Ranks of a node meet in one of its directories (ompp_rank_discovery.h); they announce themselves before MPI_Init,
 * which brings all ranks together, so that afterwards nobody waits long. If that were not all of MPI_COMM_WORLD, the
 * first of each node meets those of the other nodes in the directory for reports.
 */
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_env.h"
#include "model/ompp_profile.h"
#include "preload/ompp_launch.h"
#include "process/ompp_lifecycle.h"
#include "process/ompp_rank_discovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* of groups of MPI_COMM_WORLD; the program's have others, or are made later */
enum { TAG_NODE = 7241, TAG_RUN = 7242 };

/* Longer than MPI_Init lets ranks of a node be apart, should it not bring all together; what is seen late by other
 * nodes. */
static const double here_s = 0.5, everywhere_s = 5, limit_s = 20;

static ompp_rank_discovery_t here, everywhere;

void ompp_mpi_starting(void)
{
    const char *dirs[4];
    const int saved = errno;

    if (!ompp_env_is_trusted()) return;
    ompp_runtime_node_dirs(dirs);
    if (ompp_rank_discovery_open(&here, dirs, ompp_launch_name())) ompp_rank_discovery_announce(&here);
    errno = saved;
}

/* MPI_Init has not come back: MPI ends a process in which it fails. */
__attribute__((destructor)) static void leave_at_exit(void) { ompp_rank_discovery_leave(&here); }

/* ---- Who is measured --------------------------------------------------------------------------------------------- */

typedef struct {
    int *rank; /* [n] in MPI_COMM_WORLD, ascending; owned */
    int n;
} ranks_t;

static void meet_on_node(ranks_t *ranks, int me, int size)
{
    const int known = ompp_launch_ranks_here();
    const ompp_rank_discovery_limits_t limits = {known > 0 && known < size ? known : size, here_s, limit_s};

    ranks->n = ompp_rank_discovery_hold(&here, &me, 1, &limits, &ranks->rank);
}

/*
 * A failure must come back to us and not end the program: the world's own error handler is put aside for the call. No
 * other thread can be in a call of MPI then: MPI_Init has not returned, and MPI_Initialized says so
 * (ompp_mpi_starts_elsewhere).
 */
static MPI_Comm make_of(const ranks_t *ranks, int size, int tag)
{
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler users;
    int error;

    if (PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &users) != MPI_SUCCESS) return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (size == 1 || ranks->n == size) {
        error = PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else {
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        error = PMPI_Group_incl(world, ranks->n, ranks->rank, &group);
        if (error == MPI_SUCCESS) error = PMPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm);
        if (group != MPI_GROUP_NULL) PMPI_Group_free(&group);
        PMPI_Group_free(&world);
    }
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, users);
    PMPI_Errhandler_free(&users);
    if (error != MPI_SUCCESS || comm == MPI_COMM_NULL) return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/* The first of the node meets those of other nodes, and tells the rest what came of it: all of the node think the
 * same. */
static void meet_elsewhere(ranks_t *ranks, int size, double patience_s)
{
    const ompp_rank_discovery_limits_t limits = {size, patience_s, limit_s};
    MPI_Comm node = ranks->n > 1 ? make_of(ranks, size, TAG_NODE) : MPI_COMM_NULL;
    ranks_t all = {0};
    char dir[4200];
    int rank = 0;

    if (ranks->n > 1 && node == MPI_COMM_NULL) return;
    if (node != MPI_COMM_NULL) PMPI_Comm_rank(node, &rank);
    if (rank == 0) {
        ompp_runtime_report_dir(dir, sizeof dir);
        ompp_rank_discovery_open(&everywhere, (const char *const[]){dir, NULL}, ompp_launch_name_everywhere());
        all.n = ompp_rank_discovery_hold(&everywhere, ranks->rank, ranks->n, &limits, &all.rank);
    }
    if (node != MPI_COMM_NULL) {
        PMPI_Bcast(&all.n, 1, MPI_INT, 0, node);
        if (rank > 0 && all.n > 0) all.rank = malloc((size_t)all.n * sizeof(int));
        if (all.rank) PMPI_Bcast(all.rank, all.n, MPI_INT, 0, node);
        PMPI_Comm_free(&node);
    }
    if (all.n == 0) return;
    free(ranks->rank);
    *ranks = all;
}

/* What the report says of it. \return whether the ranks of other nodes could be asked. */
static void tell(const ranks_t *ranks, int size, bool asked)
{
    char subject[140];

    snprintf(subject, sizeof subject, "ranks of MPI_COMM_WORLD that are not measured, or not found%s: %d of %d",
             asked ? "" : ", or on other nodes", size - ranks->n, size);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, subject,
                        asked ? NULL : "nothing tells which nodes belong to the job: one report per node");
    ompp_sync_alone("not all ranks of MPI_COMM_WORLD are measured");
}

/* ---- The communicator -------------------------------------------------------------------------------------------- */

static void find_ranks(ranks_t *ranks, int me, int size)
{
    const int known = ompp_launch_ranks_here();
    const bool elsewhere = known == 0 || known < size, can_ask = *ompp_launch_name_everywhere() != '\0';

    meet_on_node(ranks, me, size);
    /* Containers of one node may have directories of their own. */
    const bool nonblocking = !elsewhere && ranks->n < known;
    if (ranks->n > 0 && ranks->n < size && (elsewhere || nonblocking) && can_ask)
        meet_elsewhere(ranks, size, nonblocking ? here_s : everywhere_s);
    if (ranks->n < size) tell(ranks, size, !(elsewhere || nonblocking) || can_ask);
}

void ompp_mpi_own_make(ompp_mpi_own_t *own)
{
    ranks_t ranks = {0};
    int me = 0, size = 1;

    if (PMPI_Comm_rank(MPI_COMM_WORLD, &me) != MPI_SUCCESS || PMPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS)
        return;
    if (size > 1) find_ranks(&ranks, me, size);
    *own = (ompp_mpi_own_t){.comm = MPI_COMM_NULL, .size = ranks.n > 1 ? ranks.n : 1, .world = ranks.rank};
    while (own->rank < ranks.n && ranks.rank[own->rank] != me) own->rank++;
    own->all = own->size == size;
    if (own->all || own->size > 1) own->comm = make_of(&ranks, size, TAG_RUN);
    if (own->comm != MPI_COMM_NULL) PMPI_Comm_set_name(own->comm, "ompp");
    ompp_rank_discovery_leave(&here);
    ompp_rank_discovery_leave(&everywhere);
}
