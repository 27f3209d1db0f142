/**
 * \file
 * What one start of a persistent request counts: a table from handles to values.
 *
 * Entries are never removed: a handle that is used again replaces its entry, and a freed one cannot be started, so that
 * the table never grows beyond the largest number of persistent requests alive at once.
 */
#include "base/ompp_table.h"
#include "mpi-wrap/mpi_bytes_priv.h"
#include "mpi-wrap/mpi_fortran_priv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    ompp_mpi_values_t values;
    ompp_a_message_t *peer; /* NULL = it does not send */
} start_t;

static struct {
    pthread_mutex_t lock;
    ompp_table_t starts; /* by handle: start_t, owned */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Caller holds the lock. \return NULL = there is none. */
static start_t *start_of(MPI_Request request)
{
    return (start_t *)(uintptr_t)ompp_table_get(&kept.starts, (uintptr_t)request);
}

void ompp_mpi_request_keep(MPI_Request request, const ompp_mpi_values_t values)
{
    pthread_mutex_lock(&kept.lock);
    start_t *to = start_of(request);
    if (!to && (to = malloc(sizeof *to)) && !ompp_table_set(&kept.starts, (uintptr_t)request, (uintptr_t)to)) {
        free(to);
        to = NULL;
    }
    if (to) {
        memcpy(to->values, values, sizeof to->values);
        to->peer = NULL;
    }
    pthread_mutex_unlock(&kept.lock);
}

void ompp_mpi_request_keep_peer(MPI_Request request, ompp_a_message_t *peer)
{
    pthread_mutex_lock(&kept.lock);
    start_t *to = start_of(request);
    if (to) to->peer = peer;
    pthread_mutex_unlock(&kept.lock);
}

/* Caller holds the lock. */
static void add(MPI_Request request, ompp_mpi_values_t values)
{
    const start_t *from = start_of(request);

    for (int m = 0; from && m < OMPP_METRIC_MPI_NUM; m++) values[m] += from->values[m];
    if (from && from->peer) ompp_message_count(from->peer, from->values[OMPP_METRIC_BYTES_OUT]);
}

void ompp_mpi_request_add(int number, const MPI_Request requests[], ompp_mpi_values_t values)
{
    pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < number; i++) add(requests[i], values);
    pthread_mutex_unlock(&kept.lock);
}

void ompp_mpi_request_add_f(int number, const MPI_Fint requests[], ompp_mpi_values_t values)
{
    pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < number; i++) add(PMPI_Request_f2c(requests[i]), values);
    pthread_mutex_unlock(&kept.lock);
}
