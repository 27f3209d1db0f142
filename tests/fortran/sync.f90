! critical, atomic, ordered, barrier, flush; a subroutine with orphaned constructs in a module.
module orphans
  implicit none
  integer :: shared_count = 0
contains
  subroutine count_up()
    ! @orphan
    !$omp critical (orphan)
    shared_count = shared_count + 1
    ! @end orphan
    !$omp end critical (orphan)
    ! @orphanbarrier
    !$omp barrier
  end subroutine count_up
end module orphans

program sync
  use orphans, only: count_up, shared_count
  implicit none
  integer :: i, n, named, m, v, order

  n = 0
  named = 0
  m = 0
  order = 0
  !$omp parallel private(i, v)
  do i = 1, 4
    ! @critical
    !$omp critical
    n = n + 1
    ! @end critical
    !$omp end critical
  end do
  ! @named
  !$omp critical (name)
  named = named + 1
  !$omp end critical (name)
  ! @update
  !$omp atomic
  m = m + 1
  ! @read
  !$omp atomic read
  v = m
  ! @flush
  !$omp flush
  ! @flushlist
  !$omp flush (m)
  ! @barrier
  !$omp barrier
  call count_up
  ! @loop
  !$omp do ordered schedule(static, 1)
  do i = 1, 8
    ! @ordered
    !$omp ordered
    order = order * 10 + i
    ! @end ordered
    !$omp end ordered
  end do
  !$omp end do
  !$omp end parallel
  print '(4(i0, 1x))', n + named, m, shared_count, order
end program sync
