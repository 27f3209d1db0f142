! The MPI part of the matrix, in Fortran: F77 mpif.h, F90 use mpi, F08 use mpi_f08, else without MPI.
#if defined(F77) || defined(F90) || defined(F08)
#define USE_MPI
#endif
program main
#ifdef F90
    use mpi
#endif
#ifdef F08
    use mpi_f08
#endif
    implicit none
#ifdef F77
    include 'mpif.h'
#endif
    integer(8), external :: kernel
    integer(8) :: total, mine, sum, next
    integer :: rank, size, k, n
#ifdef USE_MPI
    integer :: ierror
#endif
#ifdef F08
    type(MPI_Status) :: status
#elif defined(USE_MPI)
    integer :: status(MPI_STATUS_SIZE)
#endif

    total = 0
    rank = 0
    size = 1
#ifdef USE_MPI
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
#endif
    do k = 0, 2
        n = 100 + rank
        mine = kernel(n)
        sum = mine
        next = mine
#ifdef USE_MPI
        call MPI_Allreduce(mine, sum, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
        call MPI_Sendrecv(mine, 1, MPI_INTEGER8, mod(rank + 1, size), k, &
                          next, 1, MPI_INTEGER8, mod(rank + size - 1, size), k, MPI_COMM_WORLD, status, ierror)
#endif
        total = total + sum + next
    end do
#ifdef USE_MPI
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
#endif
    if (rank == 0) print '(i0, 1x, i0)', size, total
#ifdef USE_MPI
    call MPI_Finalize(ierror)
#endif
end program main
