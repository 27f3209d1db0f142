! The MPI part of the matrix, in Fortran: F77 mpif.h, F90 use mpi, F08 use mpi_f08.
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
    integer :: rank, size, k, n, ierror
#ifdef F08
    type(MPI_Status) :: status
#else
    integer :: status(MPI_STATUS_SIZE)
#endif

    total = 0
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    do k = 0, 2
        n = 100 + rank
        mine = kernel(n)
        call MPI_Allreduce(mine, sum, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
        call MPI_Sendrecv(mine, 1, MPI_INTEGER8, mod(rank + 1, size), k, &
                          next, 1, MPI_INTEGER8, mod(rank + size - 1, size), k, MPI_COMM_WORLD, status, ierror)
        total = total + sum + next
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(i0, 1x, i0)', size, total
    call MPI_Finalize(ierror)
end program main
