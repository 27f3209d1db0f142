! Locks: set, test, nested ones; of omp_lib and of omp_lib.h.
program locks
  use omp_lib, only: omp_lock_kind, omp_nest_lock_kind, omp_init_lock, omp_set_lock, omp_unset_lock, omp_destroy_lock, &
                     omp_init_nest_lock, omp_set_nest_lock, omp_unset_nest_lock, omp_destroy_nest_lock, omp_test_lock, &
                     omp_test_nest_lock
  implicit none
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  integer :: i, n, m, depth

  n = 0
  m = 0
  depth = 0
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  !$omp parallel private(i)
  do i = 1, 3
    call omp_set_lock(lock)
    n = n + 1
    call omp_unset_lock(lock)
  end do
  call omp_set_nest_lock(nest)
  call omp_set_nest_lock(nest)
  m = m + 1
  call omp_unset_nest_lock(nest)
  call omp_unset_nest_lock(nest)
  !$omp end parallel
  if (omp_test_lock(lock)) then
    n = n + 1000
    if (.not. omp_test_lock(lock)) n = n + 1000
    call omp_unset_lock(lock)
  end if
  depth = omp_test_nest_lock(nest)
  depth = depth + omp_test_nest_lock(nest)
  call omp_unset_nest_lock(nest)
  call omp_unset_nest_lock(nest)
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest)
  call old
  print '(3(i0, 1x))', n, m, depth
end program locks

subroutine old
  include 'omp_lib.h'
  integer (kind=omp_lock_kind) lock
  call omp_init_lock(lock)
  call omp_set_lock(lock)
  call omp_unset_lock(lock)
  call omp_destroy_lock(lock)
end subroutine old
