/*
 * A PMPI layer, as programs bring it: it changes results, and does a barrier by other calls. NEXT: how it finds the functions behind it, if
 * not by PMPI_x: the name that it asks the loader for is NEXT("MPI_x"). Also C++. FORTRAN: bindings of Fortran.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NEXT
#define REAL(name) ((__typeof__(&P##name))find(#name))
static void *find(const char *name)
{
    char text[80];

    snprintf(text, sizeof text, NEXT "%s", name);
    void *found = dlsym(HANDLE, text);
    if (!found) abort();
    return found;
}
#else
#define REAL(name) P##name
#endif

#ifdef __cplusplus
extern "C" {
#endif

static int counted[5]; /* MPI_Init, MPI_Allreduce, MPI_Barrier, MPI_Pcontrol, MPI_Comm_size */

int MPI_Init(int *argc, char ***argv)
{
    counted[0]++;
    return REAL(MPI_Init)(argc, argv);
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    counted[4]++;
    return REAL(MPI_Comm_size)(comm, size);
}

/* Calls another function of the layer, if that is the first of its name. */
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    const int result = REAL(MPI_Allreduce)(from, to, count, type, op, comm);

    int size = 0;

    counted[1]++;
    MPI_Comm_size(comm, &size);
    *(int *)to += 1000 * size;
    return result;
}

int MPI_Barrier(MPI_Comm comm)
{
    MPI_Request request;

    counted[2]++;
    REAL(MPI_Ibarrier)(comm, &request);
    return REAL(MPI_Wait)(&request, MPI_STATUS_IGNORE);
}

int MPI_Pcontrol(const int level, ...)
{
    counted[3]++;
    return REAL(MPI_Pcontrol)(level);
}

int MPI_Finalize(void)
{
    printf("own: %d %d %d %d %d\n", counted[0], counted[1], counted[2], counted[3], counted[4]);
    fflush(stdout);
    return REAL(MPI_Finalize)();
}

#ifdef __cplusplus
}
#endif
