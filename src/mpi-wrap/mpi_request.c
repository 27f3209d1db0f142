/**
 * \file
 * What one start of a persistent request counts: a table from handles to values.
 *
 * Entries are never removed: a handle that is used again replaces its entry, and a freed one cannot be started, so that
 * the table never grows beyond the largest number of persistent requests alive at once.
 */
#include "base/ompp_table.h"
#include "mpi-wrap/mpi_fortran_priv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    ompp_table_t values; /* by handle: their address, owned */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ompp_mpi_request_keep(MPI_Request request, const ompp_mpi_values_t values)
{
    pthread_mutex_lock(&kept.lock);
    uint64_t *to = (uint64_t *)(uintptr_t)ompp_table_get(&kept.values, (uintptr_t)request);
    if (!to && (to = malloc(sizeof(ompp_mpi_values_t))) &&
        !ompp_table_set(&kept.values, (uintptr_t)request, (uintptr_t)to)) {
        free(to);
        to = NULL;
    }
    if (to) memcpy(to, values, sizeof(ompp_mpi_values_t));
    pthread_mutex_unlock(&kept.lock);
}

/* Caller holds the lock. */
static void add(MPI_Request request, ompp_mpi_values_t values)
{
    const uint64_t *from = (const uint64_t *)(uintptr_t)ompp_table_get(&kept.values, (uintptr_t)request);

    for (int m = 0; from && m < OMPP_METRIC_MPI_NUM; m++) values[m] += from[m];
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
