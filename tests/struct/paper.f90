! Copies of arrays that the compiler makes: of an argument that is not contiguous, and of an expression whose result overlaps what it
! is computed from. Usage: paper CASE SECONDS
module field
  implicit none
contains
  subroutine row_to_library(grid, n, j, sum) ! a row of a matrix is not contiguous
    integer, intent(in) :: n, j
    real(8), intent(inout) :: grid(n, n)
    real(8), intent(inout) :: sum
    call library(grid(j, 1:n), n, sum) ! @argument
  end subroutine

  subroutine shifted(x, n) ! right side and left side overlap: a temporary is needed
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    x(2:n) = x(1:n-1) * 0.5d0 + x(2:n) * 0.5d0 ! @overlap
  end subroutine

  subroutine summed(x, n, sum) ! a loop of the source, beside them
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8), intent(inout) :: sum
    integer :: i
    do i = 1, n ! @loop
      sum = sum + x(i) * 0.5d0
    end do
  end subroutine

  subroutine relaxed(x, h, n) ! a loop without code on its line: array expressions in it are not that loop
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n), h(n)
    integer :: turns
    turns = 0
    do ! @endless
      h = x * 0.999d0 + h * 0.001d0
      where (h < 0.5d0) h = 0.5d0
      x = x + h * 1d-9
      turns = turns + 1
      if (sum(h) < 0d0 .or. turns == 20) exit
    end do
  end subroutine
end module

program paper
  use field
  implicit none
  integer, parameter :: n = 700
  real(8), allocatable :: grid(:, :), x(:), h(:)
  real(8) :: sum, seconds
  character(20) :: which, text
  integer(8) :: begin, at, rate
  integer :: j
  call get_command_argument(1, which)
  call get_command_argument(2, text)
  read (text, *) seconds
  allocate(grid(n, n), x(n * n), h(n * n))
  grid = 1d0
  x = 1d0
  h = 1d0
  sum = 0d0
  call system_clock(begin, rate)
  at = begin
  do while (at - begin < seconds * rate)
    do j = 1, n
      if (which == 'argument') call row_to_library(grid, n, j, sum)
    end do
    if (which == 'overlap') call shifted(x, n * n)
    if (which == 'endless') call relaxed(x, h, n * n)
    if (which == 'loop') call summed(x, n * n, sum)
    call system_clock(at)
  end do
  print *, sum > -1d0 .and. x(n) > -1d0
end program
