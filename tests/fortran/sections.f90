! sections, their nowait, parallel sections.
program parts
  implicit none
  integer :: k, n(7)

  n = 0
  !$omp parallel private(k)
  do k = 1, 2
    ! @parts
    !$omp sections
    n(1) = n(1) + 1
    !$omp section
    n(2) = n(2) + 1
    !$omp section
    n(3) = n(3) + 1
    ! @end parts
    !$omp end sections
  end do
  ! @nowait
  !$omp sections
  !$omp section
  n(4) = n(4) + 1
  !$omp end sections nowait
  !$omp end parallel
  ! @combined
  !$omp parallel sections
  !$omp section
  n(5) = 1
  !$omp section
  n(6) = 1
  !$omp section
  n(7) = 1
  ! @end combined
  !$omp end parallel sections
  ! @first
  !$omp parallel sections
  ! the first one has no directive
  n(5) = 1
  !$omp section
  n(6) = 1
  ! @end first
  !$omp end parallel sections
  print '(i0)', sum(n)
end program parts
