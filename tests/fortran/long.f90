! Lines with clauses that become longer than 132 columns in the instrumented text.
program long
  implicit none
  integer :: first_of_the_long_names, second_of_the_long_names, third_of_the_long_names, total, i

  total = 0
  first_of_the_long_names = 1
  second_of_the_long_names = 2
  third_of_the_long_names = 3
  !$omp parallel
  !$omp master
  do i = 1, 4
    ! @task
    !$omp task firstprivate(i, first_of_the_long_names, second_of_the_long_names, third_of_the_long_names) shared(total)
    !$omp atomic
    total = total + i * first_of_the_long_names + second_of_the_long_names - third_of_the_long_names
    !$omp end task
  end do
  !$omp end master
  !$omp end parallel
  print '(i0)', total
end program long
