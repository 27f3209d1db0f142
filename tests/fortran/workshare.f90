! workshare, its nowait, parallel workshare.
program shares
  implicit none
  integer :: k
  real :: a(100), b(100), c(100)

  b = 1.0
  ! @parallel
  !$omp parallel private(k)
  do k = 1, 2
    ! @share
    !$omp workshare
    a = b + 1.0
    where (a > 0.0) c = a
    ! @end share
    !$omp end workshare
  end do
  ! @nowait
  !$omp workshare
  b = c
  !$omp end workshare nowait
  !$omp end parallel
  ! @combined
  !$omp parallel workshare
  a = a + b
  ! @end combined
  !$omp end parallel workshare
  print '(i0)', nint(sum(a))
end program shares
