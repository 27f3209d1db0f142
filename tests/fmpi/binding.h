! Types of the binding that is tested: -DF77 (mpif.h), -DF90 (use mpi), -DF08 (use mpi_f08).
#ifdef F08
#define USE_MPI use mpi_f08
#define COMM_T type(MPI_Comm)
#define TYPE_T type(MPI_Datatype)
#define REQUEST_T type(MPI_Request)
#define OP_T type(MPI_Op)
#define INFO_T type(MPI_Info)
#define WIN_T type(MPI_Win)
#define FILE_T type(MPI_File)
#define MESSAGE_T type(MPI_Message)
#define ERRHANDLER_T type(MPI_Errhandler)
#define STATUS_T type(MPI_Status)
#define STATUSES(s,n) type(MPI_Status) :: s(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#else
#define COMM_T integer
#define TYPE_T integer
#define REQUEST_T integer
#define OP_T integer
#define INFO_T integer
#define WIN_T integer
#define FILE_T integer
#define MESSAGE_T integer
#define ERRHANDLER_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(s,n) integer :: s(MPI_STATUS_SIZE,n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#ifdef F90
#define USE_MPI use mpi
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#endif
#ifndef INCLUDE_MPI
#define INCLUDE_MPI
#endif
