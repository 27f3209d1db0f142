! Arrays that are named from outside by the line of their allocate statement. Prints "mark loads stores".
program blocks
  implicit none
  real(8), allocatable, volatile :: a(:), b(:)
  integer :: i

  do i = 1, 3
    allocate(a(100)) ! @allocate
    allocate(b(100)) ! not named
    call fill(a)
    call fill(b)
    deallocate(a)
    deallocate(b)
  end do
  print '(a)', 'allocate 0 300'
contains
  subroutine fill(x)
    real(8), volatile, intent(out) :: x(:)
    integer :: k
    do k = 1, size(x)
      x(k) = k
    end do
  end subroutine
end program
