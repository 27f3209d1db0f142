! Tasks: nested in each other, undeferred, untied, with default clauses; taskwait.
program tasks
  implicit none
  integer :: i, n, local

  n = 0
  ! @parallel
  !$omp parallel default(none) shared(n) private(i, local)
  ! @single
  !$omp single
  do i = 1, 10
    ! @tied
    !$omp task default(none) shared(n)
    !$omp atomic
    n = n + 1
    ! @end tied
    !$omp end task
  end do
  ! @wait
  !$omp taskwait
  do i = 1, 4
    ! @outer
    !$omp task firstprivate(i) private(local)
    local = i
    ! @inner
    !$omp task firstprivate(local)
    !$omp atomic
    n = n + local
    !$omp end task
    ! @inner2
    !$omp task shared(n)
    !$omp atomic
    n = n + 100
    !$omp end task
    ! @innerwait
    !$omp taskwait
    !$omp end task
  end do
  ! @untied
  !$omp task untied
  !$omp atomic
  n = n + 1000
  !$omp end task
  ! @deferred
  !$omp task if(n < 0 .or. n >= 0)
  !$omp atomic
  n = n + 1000
  !$omp end task
  ! @undeferred
  !$omp task if(n < 0)
  !$omp atomic
  n = n + 0
  !$omp end task
  !$omp end single
  !$omp end parallel
  print '(i0)', n
end program tasks
