! Text constants and names that look like what the wrapper rewrites.
module kinds
  implicit none
  type holder
    integer, dimension(2) :: omp_set_lock = 0
  end type holder
end module kinds
program texts
  use kinds
  use omp_lib
  implicit none
  integer :: i, k, n
  real :: dot, a(10)
  integer(omp_lock_kind) :: l
  type(holder) :: h

  call omp_init_lock(l); print '(a)', 'omp_set_lock(l) "failed"' ! it's omp_set_lock(l)
  call omp_set_lock(l)
  print '(a)', "it's omp_unset_lock(l), &
    &omp_test_lock(l) & more"
  call omp_unset_lock(l)
  h%omp_set_lock(1) = 1
  h % omp_set_lock(2) = 2
  a = 1
  n = 0
  ! @parallel
  !$omp parallel
  !$omp single
  do k = 1, 3
    ! @loop
    !$omp taskloop private(dot)
    do i = 1, 10
      dot = max(a(i), 2.0)
      a(i) = dot
    end do
    n = n + 1
  end do
  !$omp end single
  !$omp end parallel
  print '(3(i0, 1x))', n, sum(h%omp_set_lock), int(sum(a))
end program texts
