! MPI from Fortran in a module that a C program loads at run time, with a scope of its own.
subroutine plugin()
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: me, np, ierr, x(3), all(64)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  x = me + 1
  call MPI_Allreduce(MPI_IN_PLACE, x, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  all = me
  call MPI_Allgather(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, all, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  if (me == 0) print '(*(1x,i0))', x, all(1:2 * np)
  call MPI_Finalize(ierr)
end subroutine
