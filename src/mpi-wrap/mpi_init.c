/**
 * \file
 * The calls that begin and end MPI, by hand; what they do besides: mpi_lifecycle.c.
 */
#include "mpi-wrap/mpi_wrap_priv.h"

OMPP_MPI_API int MPI_Init(int *argc, char ***argv)
{
    ompp_mpi_call_t call;
    const bool measured = ompp_mpi_begin(&call, OMPP_MPI_HERE, "MPI_Init");
    ompp_mpi_begin_init();
    const int result = PMPI_Init(argc, argv);

    if (measured) ompp_mpi_end(&call, ompp_event_now());
    ompp_mpi_end_init(result == MPI_SUCCESS);
    return result;
}

OMPP_MPI_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    ompp_mpi_call_t call;
    const bool measured = ompp_mpi_begin(&call, OMPP_MPI_HERE, "MPI_Init_thread");
    ompp_mpi_begin_init();
    const int result = PMPI_Init_thread(argc, argv, required, provided);

    if (measured) ompp_mpi_end(&call, ompp_event_now());
    ompp_mpi_end_init(result == MPI_SUCCESS);
    return result;
}

OMPP_MPI_API int MPI_Initialized(int *flag)
{
    ompp_mpi_call_t call;
    const bool measured = ompp_mpi_begin_inquiry(&call, OMPP_MPI_HERE, "MPI_Initialized");
    const int result = PMPI_Initialized(flag);

    if (result == MPI_SUCCESS && ompp_mpi_starts_elsewhere()) *flag = 0;
    if (measured) ompp_mpi_end_now(&call);
    return result;
}

OMPP_MPI_API int MPI_Finalize(void)
{
    ompp_mpi_before_finalize(OMPP_MPI_HERE, ompp_mpi_wrapped);
    const int result = PMPI_Finalize();
    ompp_mpi_after_finalize();
    return result;
}

OMPP_MPI_API int MPI_Abort(MPI_Comm comm, int errorcode)
{
    ompp_mpi_before_abort(OMPP_MPI_HERE);
    return PMPI_Abort(comm, errorcode);
}

/* Further arguments have no meaning in any MPI. */
OMPP_MPI_API int MPI_Pcontrol(const int level, ...)
{
    ompp_mpi_control(level, OMPP_MPI_HERE);
    return PMPI_Pcontrol(level);
}
