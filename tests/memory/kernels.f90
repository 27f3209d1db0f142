subroutine fill(x, n)
  integer, intent(in) :: n
  double precision, intent(out) :: x(n)
  integer :: i
  do i = 1, n
    x(i) = i
  end do
end subroutine fill
module kernel_data
  implicit none
  integer, parameter :: n = 1000
  double precision :: loop_read(n), loop_write(n), section(n), whole(n), copied(n), summed(n), where_array(n), masked(n)
  complex(8) :: complex_array(n)
  real(16) :: quad(n)
  type point
    double precision :: x, y
  end type point
  type(point) :: points(n)
  double precision, allocatable :: allocated_array(:)
  double precision :: common_array(n), left(40, 40), right(40, 40), product(40, 40)
  character(len=1000) :: text
  common /block/ common_array
end module kernel_data
program kernels
  use kernel_data
  use ompp
  implicit none
  integer :: i
  double precision :: sink = 0
  call ompp_papi_set_drange(loop_read, 8*n, 'loop_read')
  call ompp_papi_set_drange(loop_write, 8*n, 'loop_write')
  call ompp_papi_set_drange(section, 8*n, 'section')
  call ompp_papi_set_drange(whole, 8*n, 'whole')
  call ompp_papi_set_drange(copied, 8*n, 'copied')
  call ompp_papi_set_drange(summed, 8*n, 'summed')
  call ompp_papi_set_drange(masked, 8*n, 'masked')
  call ompp_papi_set_drange(complex_array, 16*n, 'complex_array')
  call ompp_papi_set_drange(quad, 16*n, 'quad')
  call ompp_papi_set_drange(points, 16*n, 'points')
  call ompp_papi_set_drange(common_array, 8*n, 'common_array')
  call ompp_papi_set_drange(left, 8*1600, 'left')
  call ompp_papi_set_drange(product, 8*1600, 'product')
  call ompp_papi_set_drange(text, 1000, 'text')
  allocate(allocated_array(n))
  call ompp_papi_set_drange(allocated_array, int(8*n, 8), 'allocated_array')
  do i = 1, n
    sink = sink + loop_read(i)
  end do
  do i = 1, n
    loop_write(i) = i
  end do
  section(1:n:2) = 1
  whole = 0
  copied = whole
  sink = sink + sum(summed)
  where (masked >= 0) masked = 1
  do i = 1, n
    complex_array(i) = complex_array(i) * 2
  end do
  do i = 1, n
    quad(i) = i
  end do
  do i = 1, n
    points(i)%y = points(i)%x
  end do
  call fill(common_array, n)
  do i = 1, n
    allocated_array(i) = i
  end do
  product = matmul(left, right)
  text = 'x'
  call ompp_release_drange(allocated_array)
  deallocate(allocated_array)
  print *, sink, product(1, 1), text(1:1), copied(3), loop_write(5), section(3), common_array(7)
end program kernels
