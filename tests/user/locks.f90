! Locks in Fortran: of a module, of the main program, elements of arrays. See locks.py.
module store
  use omp_lib
  implicit none
  integer(omp_lock_kind) :: guard        ! /* @store::guard */
  integer(omp_lock_kind) :: rows(0:2, 2) ! /* @store::rows(1,2) */
end module store

program driver
  use store
  implicit none
  integer(omp_lock_kind), save :: own    ! /* @driver::own */
  integer :: i
  call omp_init_lock(guard)
  call omp_init_lock(own)
  call omp_init_lock(rows(1, 2))
!$omp parallel
  call omp_set_lock(guard)
  call omp_unset_lock(guard)
!$omp end parallel
  do i = 1, 4
    call omp_set_lock(rows(1, 2))
    call omp_unset_lock(rows(1, 2))
  end do
  call omp_set_lock(own)
  call omp_unset_lock(own)
  print '(i0)', 0
end program driver
