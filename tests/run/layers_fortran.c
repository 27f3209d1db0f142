/*
 * A layer of MPI's Fortran bindings, in C: mpi_x_ calls pmpi_x_. FORM, BUFFERS: how the installed bindings end, those with buffers. NEXT:
 * MPI has no profiling names for them, and the loader is asked for what is behind.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define JOINED(a, b) a##b
#define NAME(a, b) JOINED(a, b)
#define TEXT(a) #a
#define WORD(a) TEXT(a)

typedef void allreduce_t(void *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void barrier_t(MPI_Fint *, MPI_Fint *);
typedef void finalize_t(MPI_Fint *);

#ifdef NEXT
#define REAL(type, name, form) ((type *)find(WORD(NAME(name, form))))
static void *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found) abort();
    return found;
}
#else
#define REAL(type, name, form) NAME(NAME(p, name), form)
extern allreduce_t NAME(pmpi_allreduce, BUFFERS);
extern barrier_t NAME(pmpi_barrier, FORM);
extern finalize_t NAME(pmpi_finalize, FORM);
#endif

static int counted[2];

void NAME(mpi_allreduce, BUFFERS)(void *from, int *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *error)
{
    counted[0]++;
    REAL(allreduce_t, mpi_allreduce, BUFFERS)(from, to, count, type, op, comm, error);
#ifndef NEXT
    *to += 1000;
#endif
}

void NAME(mpi_barrier, FORM)(MPI_Fint *comm, MPI_Fint *error)
{
    counted[1]++;
    REAL(barrier_t, mpi_barrier, FORM)(comm, error);
}

void NAME(mpi_finalize, FORM)(MPI_Fint *error)
{
    printf("own: %d %d\n", counted[0], counted[1]);
    fflush(stdout);
    REAL(finalize_t, mpi_finalize, FORM)(error);
}
