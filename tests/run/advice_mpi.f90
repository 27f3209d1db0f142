! Ranks come late in turn, as in advice_mpi.c.
program in_turn
  use mpi
  implicit none
  integer :: rank, ranks, error, i
  double precision :: mine, all, begin

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  mine = 1
  do i = 0, 59
     begin = MPI_Wtime()
     if (mod(i, ranks) == rank) then
        do while (MPI_Wtime() - begin < 0.01d0)
        end do
     end if
     call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program in_turn
