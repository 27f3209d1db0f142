! Functions compiled with -finstrument-functions, in Fortran: module procedures, internal and external ones. See functions.py.
module shapes
  implicit none
contains
  ! /* @area */
  real(8) function area(r)
    real(8), intent(in) :: r
    area = r * r
  end function area ! /* @end area */
end module shapes

! /* @outer */
subroutine outer(total)
  use shapes
  implicit none
  real(8), intent(inout) :: total
  call inner(2d0)
contains
  ! /* @inner */
  subroutine inner(r)
    real(8), intent(in) :: r
    total = total + area(r)
  end subroutine inner ! /* @end inner */
end subroutine outer

program driver
  use shapes
  implicit none
  real(8) :: total
  integer :: i
  total = area(1d0)
  do i = 1, 3
    call outer(total)
  end do
  print '(i0)', nint(total)
end program driver
