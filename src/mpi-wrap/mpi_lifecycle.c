/**
 * \file
 * What the wrappers of the calls that begin and end MPI do besides, in C and Fortran: measurement starts in MPI_Init*,
 * the report is made in MPI_Finalize.
 */
#include "mpi-wrap/mpi_wrap_priv.h"

#include "process/ompp_lifecycle.h"

#include <pthread.h>

/* The thread that is in MPI_Init, and whether one is. */
static pthread_t starter;
static bool starts;
static unsigned depth; /* of the starter: the Fortran bindings of some MPI call those of C, which are wrapped, too */

void ompp_mpi_begin_init(void)
{
    if (depth++) return;
    starter = pthread_self();
    __atomic_store_n(&starts, true, __ATOMIC_RELEASE);
    ompp_mpi_layer_follow();
    ompp_mpi_starting();
}

void ompp_mpi_end_init(bool ok)
{
    if (--depth) return;
    if (ok) ompp_mpi_started();
    __atomic_store_n(&starts, false, __ATOMIC_RELEASE);
}

bool ompp_mpi_starts_elsewhere(void)
{
    return __builtin_expect(__atomic_load_n(&starts, __ATOMIC_ACQUIRE), 0) && !pthread_equal(starter, pthread_self());
}

void ompp_mpi_before_finalize(const void *code, uintptr_t frame, const ompp_mpi_names_t wrapped[2])
{
    if (!ompp_mpi_outermost(code, frame)) return;
    ompp_mpi_finish(code, frame, wrapped);
}

void ompp_mpi_after_finalize(void) { ompp_runtime_leave(); }

/* Other ranks may be anywhere: nothing collective, only the local profile. */
void ompp_mpi_before_abort(const void *code, uintptr_t frame)
{
    if (!ompp_mpi_outermost(code, frame)) return;
    ompp_mpi_count(code, frame, "MPI_Abort");
    ompp_runtime_dump(true, "MPI_Abort");
}

/* 0: off, 1: on, 2: write a local report now; other levels have no meaning here. */
void ompp_mpi_control(int level, const void *code, uintptr_t frame)
{
    if (!ompp_mpi_outermost(code, frame)) return;
    if (level == 0) ompp_event_switch(false, "MPI_Pcontrol");
    if (level == 1) ompp_event_switch(true, "MPI_Pcontrol");
    if (level == 2) ompp_runtime_dump(false, "MPI_Pcontrol");
}
