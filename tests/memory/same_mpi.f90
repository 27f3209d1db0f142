! Fortran with MPI whose results must be the same with hooks: derived types, sections, one-sided windows, collective calls.
program same_mpi
  use mpi
  implicit none
  integer, parameter :: n = 16
  real(8) :: a(n, n), b(n, n), window(n), mine(2), sums(2)
  integer :: rank, nranks, ierr, row, right, left, win, i, request(2)
  integer(mpi_address_kind) :: zero = 0, bytes

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, nranks, ierr)
  right = mod(rank + 1, nranks)
  left = mod(rank + nranks - 1, nranks)
  a = reshape([(real(i + 1000 * rank, 8), i = 1, n * n)], [n, n])
  b = 0
  call mpi_type_vector(n, 1, n, mpi_double_precision, row, ierr) ! a row: not contiguous
  call mpi_type_commit(row, ierr)
  call mpi_irecv(b(3, 1), 1, row, left, 1, mpi_comm_world, request(1), ierr)
  call mpi_isend(a(5, 1), 1, row, right, 1, mpi_comm_world, request(2), ierr)
  call mpi_waitall(2, request, mpi_statuses_ignore, ierr)
  call mpi_type_free(row, ierr)

  window = rank
  bytes = 8 * n
  call mpi_win_create(window, bytes, 8, mpi_info_null, mpi_comm_world, win, ierr)
  call mpi_win_fence(0, win, ierr)
  call mpi_put(a(1, 2), n / 2, mpi_double_precision, right, zero, n / 2, mpi_double_precision, win, ierr)
  call mpi_win_fence(0, win, ierr)
  call mpi_accumulate(a(1, 3), n / 2, mpi_double_precision, left, zero + n / 2, n / 2, mpi_double_precision, mpi_sum, win, ierr)
  call mpi_win_fence(0, win, ierr)
  call mpi_win_free(win, ierr)

  mine = [sum(b), dot_product(window, [(real(i, 8), i = 1, n)])]
  call mpi_reduce(mine, sums, 2, mpi_double_precision, mpi_sum, 0, mpi_comm_world, ierr)
  if (rank == 0) print '(2f20.6)', sums
  call mpi_finalize(ierr)
end program
