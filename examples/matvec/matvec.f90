! Matrix times vector, c = A b, after figure 2 of "Enabling Data Structure Oriented Performance Analysis with Hardware Performance
! Counter Support": each of the threads reads n / threads * n elements of a.
#ifndef N
#define N 1200
#endif
program matvec
  implicit none
  integer, parameter :: size_n = N
  double precision :: a(size_n, size_n), b(size_n), c(size_n)
  common /arrays/ a, b, c
  integer :: i, j

  do j = 1, size_n
    b(j) = 1d0 / j
    do i = 1, size_n
      a(i, j) = mod(i + j - 2, 7)
    end do
  end do
!$POMP INST DATA(a, size_n*size_n*8, "a")

!$OMP PARALLEL PRIVATE(i, j)
!$OMP DO
  do i = 1, size_n
    c(i) = 0d0
    do j = 1, size_n
      c(i) = c(i) + a(i, j) * b(j)
    end do
  end do
!$OMP END DO
!$OMP END PARALLEL
  write (*, '(f0.6)') sum(c)
end program matvec
