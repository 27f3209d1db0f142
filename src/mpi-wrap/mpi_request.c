/**
 * \file
 * What one start of a persistent request counts: a hash table from handle to values.
 *
 * Entries are never removed: a handle that is used again replaces its entry, and a freed one cannot be started, so that
 * the table never grows beyond the largest number of persistent requests alive at once.
 */
#include "mpi-wrap/mpi_fortran_priv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    MPI_Request request;
    bool used;
    ompp_mpi_values_t values;
} entry_t;

static struct {
    pthread_mutex_t lock;
    entry_t *entries; /* [size], linear probing, at most half full */
    size_t size, count;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t hash_of(MPI_Request request)
{
    return (size_t)((uint64_t)(uintptr_t)request * 0x9e3779b97f4a7c15ull >> 32);
}

/* The entry of a request, or the free one where it would be. */
static entry_t *slot_of(entry_t *entries, size_t size, MPI_Request request)
{
    size_t i = hash_of(request) & (size - 1);

    while (entries[i].used && entries[i].request != request) i = (i + 1) & (size - 1);
    return &entries[i];
}

static bool grow(void)
{
    const size_t size = table.size ? 2 * table.size : 64;
    entry_t *entries = calloc(size, sizeof *entries);

    if (!entries) return false;
    for (size_t i = 0; i < table.size; i++)
        if (table.entries[i].used) *slot_of(entries, size, table.entries[i].request) = table.entries[i];
    free(table.entries);
    table.entries = entries;
    table.size = size;
    return true;
}

void ompp_mpi_request_keep(MPI_Request request, const ompp_mpi_values_t values)
{
    entry_t *e;

    pthread_mutex_lock(&table.lock);
    if (2 * (table.count + 1) <= table.size || grow()) {
        e = slot_of(table.entries, table.size, request);
        if (!e->used) table.count++;
        e->used = true;
        e->request = request;
        memcpy(e->values, values, sizeof e->values);
    }
    pthread_mutex_unlock(&table.lock);
}

/* Caller holds the lock. */
static void add(MPI_Request request, ompp_mpi_values_t values)
{
    const entry_t *e = table.size ? slot_of(table.entries, table.size, request) : NULL;

    for (int m = 0; e && e->used && m < OMPP_METRIC_MPI_NUM; m++) values[m] += e->values[m];
}

void ompp_mpi_request_add(int number, const MPI_Request requests[], ompp_mpi_values_t values)
{
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < number; i++) add(requests[i], values);
    pthread_mutex_unlock(&table.lock);
}

void ompp_mpi_request_add_f(int number, const MPI_Fint requests[], ompp_mpi_values_t values)
{
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < number; i++) add(PMPI_Request_f2c(requests[i]), values);
    pthread_mutex_unlock(&table.lock);
}
