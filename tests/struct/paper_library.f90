! Built by itself, with an array of explicit shape: its callers have to pass contiguous memory. It does next to nothing.
subroutine library(x, n, sum)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  real(8), intent(inout) :: sum
  sum = sum + x(n)
  x(1) = sum
end subroutine
