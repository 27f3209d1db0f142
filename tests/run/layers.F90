! The same in Fortran; F08: use mpi_f08, else mpif.h.
program layers
#ifdef F08
  use mpi_f08
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: rank, one, total, all, i, error
  one = 1
  all = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 1, 10
     call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
     all = all + total
  end do
  do i = 1, 5
     call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  print '(a,i0,a,i0)', 'rank ', rank, ': ', all
  call MPI_Finalize(error)
end program layers
