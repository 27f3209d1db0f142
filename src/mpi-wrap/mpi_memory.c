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

static void got(const void *base, MPI_Aint size, const void *code, void *const *word)
{
    const int saved = errno;

    if (base && size > 0) {
        replace_size(base, (uint64_t)size);
        ompp_data_got(base, (size_t)size, code, word);
    }
    errno = saved;
}

void ompp_mpi_memory_got(const void *word, MPI_Aint size, const void *code)
{
    got(*(void *const *)word, size, code, word);
}

void ompp_mpi_memory_gone(const void *base)
{
    const int saved = errno;
    const uint64_t size = base ? replace_size(base, 0) : 0;

    if (size) ompp_data_gone(base, size);
    errno = saved;
}

static int flavor_of(MPI_Win win)
{
    int *flavor = NULL, has_flavor = 0;

    if (win == MPI_WIN_NULL || PMPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &has_flavor) != MPI_SUCCESS ||
        !has_flavor)
        return MPI_WIN_FLAVOR_CREATE;
    return *flavor;
}

/* NULL: none, or without a byte: the next rank's part may then begin there. */
static void *own_part(MPI_Win win)
{
    MPI_Aint *size = NULL;
    void *base = NULL;
    int has_base = 0, has_size = 0;

    if (PMPI_Win_get_attr(win, MPI_WIN_BASE, &base, &has_base) != MPI_SUCCESS || !has_base) return NULL;
    if (PMPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &has_size) == MPI_SUCCESS && has_size && !*size) return NULL;
    return base;
}

/* How many ranks' parts of a window are in this process. */
static int parts_of(MPI_Win win)
{
    MPI_Group group = MPI_GROUP_NULL;
    int n = 0;

    if (flavor_of(win) != MPI_WIN_FLAVOR_SHARED || PMPI_Win_get_group(win, &group) != MPI_SUCCESS) return 0;
    if (PMPI_Group_size(group, &n) != MPI_SUCCESS) n = 0;
    PMPI_Group_free(&group);
    return n;
}

static void *part_of(MPI_Win win, int rank, MPI_Aint *size)
{
    void *base = NULL;
    int unit;

    return PMPI_Win_shared_query(win, rank, size, &unit, &base) == MPI_SUCCESS ? base : NULL;
}

void ompp_mpi_memory_got_window(MPI_Win win, const void *code)
{
    const void *const own = own_part(win);
    MPI_Aint size = 0;

    for (int r = parts_of(win); r-- > 0;) {
        const void *const base = part_of(win, r, &size);
        if (size && base != own) got(base, size, code, NULL);
    }
}

/* Another rank's part has the name of the variable that gets its address from here on. */
void ompp_mpi_memory_asked(MPI_Win win, const void *word, const void *code)
{
    const void *const own = own_part(win), *const asked = *(void *const *)word;
    MPI_Aint size = 0;

    for (int r = parts_of(win); r-- > 0;) {
        const void *const base = part_of(win, r, &size);
        if (size && base == asked && base != own) got(base, size, code, word);
    }
}

/* A window that MPI_Win_create made leaves its memory to the program. */
void ompp_mpi_memory_gone_window(MPI_Win win)
{
    const int flavor = flavor_of(win);
    MPI_Aint size = 0;

    if (flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED) ompp_mpi_memory_gone(own_part(win));
    for (int r = parts_of(win); r-- > 0;) ompp_mpi_memory_gone(part_of(win, r, &size));
}
