! Combined constructs: passed by and named in Coverage, or measured as a whole; each must leave the program as it is.
program passed
  implicit none
  integer :: i, n

  n = 0
  ! @first
  !$omp parallel
  !$omp barrier
  !$omp end parallel
  !$omp parallel do simd reduction(+:n)
  do i = 1, 10
    n = n + 1
  end do
  !$omp parallel loop reduction(+:n)
  do i = 1, 10
    n = n + 1
  end do
  !$omp end parallel loop
  !$omp parallel masked
  n = n + 10
  !$omp end parallel masked
  !$omp parallel master taskloop reduction(+:n)
  do i = 1, 10
    n = n + 1
  end do
  !$omp parallel masked taskloop simd reduction(+:n)
  do i = 1, 10
    n = n + 1
  end do
  !$omp parallel
  !$omp master taskloop reduction(+:n)
  do i = 1, 10
    n = n + 1
  end do
  !$omp end master taskloop
  !$omp masked taskloop reduction(+:n)
  do i = 1, 10
    n = n + 1
  end do
  !$omp barrier
  ! @simd
  !$omp single
  !$omp taskloop simd reduction(+:n)
  do i = 1, 10
    n = n + 1
  end do
  !$omp end single
  !$omp end parallel
  ! @league
  !$omp teams distribute parallel do reduction(+:n) num_teams(1)
  do i = 1, 10
    n = n + 1
  end do
  ! @league2
  !$omp teams reduction(+:n) num_teams(1)
  !$omp distribute simd
  do i = 1, 10
    n = n + 1
  end do
  !$omp end teams
  ! @target
  !$omp target teams distribute parallel do simd reduction(+:n) map(tofrom: n)
  do i = 1, 10
    n = n + 1
  end do
  ! @last
  !$omp parallel
  !$omp barrier
  !$omp end parallel
  print '(i0)', n
end program passed
