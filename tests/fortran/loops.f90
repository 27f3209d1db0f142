! Worksharing loops: schedules, collapse, nowait, reduction, with and without end directives; parallel do.
program loops
  implicit none
  integer :: i, j, k, total
  integer :: a(100)

  total = 0
  ! @parallel
  !$omp parallel private(i, j, k) reduction(+:total)
  do k = 1, 3
    ! @static
    !$omp do schedule(static)
    do i = 1, 100
      total = total + 1
    end do
    ! @end static
    !$omp end do
  end do
  ! @dynamic
  !$omp do schedule(dynamic, 5)
  do i = 1, 100
    total = total + 1
  end do
  ! @nowait
  !$omp do schedule(guided)
  do i = 1, 100
    total = total + 1
  end do
  !$omp end do nowait
  ! @collapse
  !$omp do collapse(2) schedule(runtime)
  do i = 1, 10
    do j = 1, 10
      total = total + 1
    end do
  end do
  !$omp end do
  ! @labelled
  !$omp do
  do 10 i = 1, 100
    total = total + 1
10 continue
  ! @end parallel
  !$omp end parallel
  ! @pardo
  !$omp parallel do
  do i = 1, 100
    a(i) = i
  end do
  ! @pardo2
  !$omp parallel do schedule(dynamic) &
  !$omp& private(j) &
  !$omp default(shared)
  do i = 1, 100
    j = a(i)
    a(i) = j + 1
  end do
  ! @end pardo2
  !$omp end parallel do
  print '(i0, 1x, i0)', total, sum(a)
end program loops
