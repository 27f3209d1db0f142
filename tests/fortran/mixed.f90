! Fortran and C in one program, each with its own team and called in the other's.
program mixed
  implicit none
  integer :: n
  external :: c_part, c_orphan

  n = 0
  call c_part(n)
  !$omp parallel
  call c_orphan(n)
  !$omp end parallel
  print '(i0)', n
end program mixed
