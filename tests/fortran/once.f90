! single, its nowait and copyprivate; master.
program once
  implicit none
  integer :: k, n, m
  integer, save :: own = 0
  !$omp threadprivate(own)

  n = 0
  m = 0
  !$omp parallel private(k) shared(n, m)
  do k = 1, 3
    ! @single
    !$omp single
    n = n + 1
    ! @end single
    !$omp end single
  end do
  ! @nowait
  !$omp single
  n = n + 1
  !$omp end single nowait
  ! @copy
  !$omp single
  own = 5
  !$omp end single copyprivate(own)
  ! @master
  !$omp master
  m = m + own
  ! @end master
  !$omp end master
  !$omp end parallel
  print '(i0, 1x, i0)', n, m
end program once
