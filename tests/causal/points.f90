! Progress points of Fortran: by the module, and by the names of external procedures.
program points
  use ompp
  implicit none

  integer :: i

  do i = 1, 30
    call ompp_progress_begin('unit')
    call ompp_region_begin('a')
    call pause_briefly()
    call ompp_region_end('a')
    call ompp_progress_end('unit')
    call ompp_progress('step ')
    call ompp_progress_other()
  end do
contains
  subroutine pause_briefly()
    integer(kind=8) :: first, now, rate
    call system_clock(first, rate)
    now = first
    do while (now - first < rate / 1000)
      call system_clock(now)
    end do
  end subroutine pause_briefly
end program points

! Without the module: the name as an external procedure.
subroutine ompp_progress_other()
  implicit none
  external :: ompp_f_progress

  call ompp_f_progress('other')
end subroutine ompp_progress_other
