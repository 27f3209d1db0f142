! Loops and array expressions; tags as in nests.c, "@array" for a statement whose loops the compiler makes.
module work
  implicit none
  interface
    integer(4) function opaque(x) bind(c)
      integer(4), value :: x
    end function
  end interface
contains
  subroutine smooth(u, v, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: u(n, n), v(n, n)
    integer :: i, j
    do j = 2, n - 1 ! @loop
      do i = 2, n - 1 ! @loop
        v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
      end do
    end do
    u(2:n-1, 2:n-1) = v(2:n-1, 2:n-1) * 0.5d0 + u(2:n-1, 2:n-1) ! @array
  end subroutine

  integer function collatz(start)
    integer, intent(in) :: start
    integer :: x
    x = start
    collatz = 0
    do while (x /= 1) ! @loop
      if (mod(x, 2) == 0) then
        x = x / 2
      else
        x = 3 * x + 1
      end if
      collatz = collatz + 1
    end do
  end function

  subroutine weigh(x, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(:)
    integer :: i
    do i = 1, n ! @loop
      if (opaque(i) == 0) cycle
      if (x(i) > 1d6) exit
      x(i) = x(i) * 1.5d0
    end do
  end subroutine
end module

program nests
  use work
  implicit none
  real(8), allocatable :: u(:, :), v(:, :), x(:)
  integer :: n, i
  n = 16 + command_argument_count()
  allocate(u(n, n), v(n, n), x(n * n))
  do i = 1, n ! @loop
    u(:, i) = opaque(i) ! @array
    x(i) = i
  end do
  v = u * 2d0 ! @array
  call smooth(u, v, n)
  call weigh(x(1:n*n:2), n / 2)
  print *, collatz(n), sum(u), x(3) ! @array
end program
