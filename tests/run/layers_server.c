/* A layer that keeps the last rank for itself: it never comes back from MPI_Init. The program's world is the rest. */
#include <mpi.h>
#include <stdlib.h>

static MPI_Comm workers;

static MPI_Comm of(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? workers : comm; }

int MPI_Init(int *argc, char ***argv)
{
    const int result = PMPI_Init(argc, argv);
    int rank, size;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, rank, &workers);
    if (rank < size - 1) return result;
    PMPI_Finalize();
    exit(0);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank) { return PMPI_Comm_rank(of(comm), rank); }

int MPI_Barrier(MPI_Comm comm) { return PMPI_Barrier(of(comm)); }

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return PMPI_Allreduce(from, to, count, type, op, of(comm));
}
