! Allocations in statements over several lines, as in statements.c.
module kinds
  type field
    real(8), allocatable :: a(:, :), b(:, :)
  end type
  type tile
    integer :: lo, hi
    type(field) :: field
  end type
end module
program statements
  use kinds
  implicit none
  type(tile), allocatable :: tiles(:)
  real(8), allocatable, volatile :: x(:), y(:), z(:)
  real(8), pointer :: p(:)
  integer :: ierr

  allocate(tiles(2))
  tiles%lo = 3
  tiles%hi = 8
  ! > members
  allocate(tiles(1)%field%a(tiles(1)%lo-2: &
           tiles(1)%hi+2, &
           tiles(1)%lo-2:tiles(1)%hi+2))
  ! <
  call fill(tiles(1)%field%a(:, 1))
  print '(a)', 'members 0 10'
  ! > several
  allocate(x(10), & ! a comment
           ! another

           y(20), &
    &      stat = ierr)
  ! <
  call fill(x)
  call fill(y)
  print '(a)', 'several 0 30'
  ! > keyword
  alloc&
    &ate(z(10&
    &0))
  ! <
  call fill(z)
  print '(a)', 'keyword 0 100'
  ! > condition
  if (ierr == 0) &
    allocate(p(30))
  ! <
  call fill(p)
  print '(a)', 'condition 0 30'
contains
  subroutine fill(x)
    real(8), volatile, intent(out) :: x(:)
    integer :: k
    do k = 1, size(x)
      x(k) = k
    end do
  end subroutine
end program
