! The interface for programs, from the module and without it; preprocessing.
#define TWICE 2
#if TWICE == 2
module things
  use :: ompp, only: ompp_region_begin, ompp_region_end
  implicit none
contains
  subroutine work(n)
    integer, intent(inout) :: n
    ! @named
    call ompp_region_begin('a name  ')
    n = n + TWICE
    call ompp_region_end('a name')
  end subroutine work
end module things
#else
this is no Fortran
#endif

program api
  use things, only: work
  use ompp
  implicit none
  integer :: n, i

  n = 0
  call pomp_init
  do i = 1, 3
    call work(n)
  end do
  call pomp_off
  call work(n)
  call pomp_on
  ! @number
  call pomp_begin(17)
  n = n + 1
  call pomp_end(17)
  ! @parallel
  !$omp parallel
  !$omp critical
  n = n + __LINE__
  !$omp end critical
  !$omp end parallel
  print '(i0)', n
end program api
