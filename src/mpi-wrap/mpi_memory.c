/*
 * Memory that the program gets from MPI: MPI_Alloc_mem, and what windows are made with. Who tells data structures apart
 * hears of it as of other blocks, with the place in the program that asks for it.
 */
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_table.h"
#include "data/ompp_data.h"

#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ompp_table_t sizes; /* bytes, by address: who gives it back does not say */

static uint64_t replace_size(const void *base, uint64_t size)
{
    const uint64_t key = (uintptr_t)base;

    pthread_mutex_lock(&lock);
    const uint64_t former = ompp_table_get(&sizes, key);
    if (former || size) ompp_table_set(&sizes, key, size);
    pthread_mutex_unlock(&lock);
    return former;
}

void ompp_mpi_memory_got(const void *word, MPI_Aint size, const void *code)
{
    const int saved = errno;
    const void *base = *(void *const *)word;

    if (base && size > 0) {
        replace_size(base, (uint64_t)size);
        ompp_data_got(word, (size_t)size, code);
    }
    errno = saved;
}

void ompp_mpi_memory_gone(const void *base)
{
    const int saved = errno;
    const uint64_t size = base ? replace_size(base, 0) : 0;

    if (size) ompp_data_gone(base, size);
    errno = saved;
}

/* A window that MPI_Win_create made leaves its memory to the program. */
void ompp_mpi_memory_gone_window(MPI_Win win)
{
    void *base = NULL;
    int *flavor = NULL, has_flavor = 0, has_base = 0;

    if (win == MPI_WIN_NULL || PMPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &has_flavor) != MPI_SUCCESS ||
        !has_flavor || (*flavor != MPI_WIN_FLAVOR_ALLOCATE && *flavor != MPI_WIN_FLAVOR_SHARED))
        return;
    if (PMPI_Win_get_attr(win, MPI_WIN_BASE, &base, &has_base) == MPI_SUCCESS && has_base) ompp_mpi_memory_gone(base);
}
