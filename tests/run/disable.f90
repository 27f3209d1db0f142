! A workshare construct, in a parallel region of its own.
program disable
  implicit none
  integer :: a(1000)
  a = 1
  !$omp parallel
  !$omp workshare
  a = a + 1
  !$omp end workshare
  !$omp end parallel
  print '(i0)', sum(a)
end program disable
