! Fortran variables for variables.py.
module shapes
  implicit none
  type cell
    integer :: used
    real(8) :: mass(2)
  end type cell
  real(8) :: total = 0          ! /* @shapes::total */
  real(8) :: grid(-1:2, 3) = 0  ! /* @shapes::grid */
  type(cell) :: cells(5)        ! /* @shapes::cells */
end module shapes

program driver
  use shapes
  implicit none
  integer :: n, list(4)
  common /work/ n, list         ! /* @work */
  integer, save :: kept(10) = 0 ! /* @kept */
  n = 1
  list = n
  grid(0, 2) = list(2)
  cells(3)%used = 4
  kept(2) = cells(3)%used
  total = total + grid(0, 2) + kept(2)
  print *, total
end program driver
