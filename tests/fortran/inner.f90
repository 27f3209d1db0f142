! Teams in teams, each with its own number of threads and its own condition; tasks whose condition differs by thread.
program inner
  use omp_lib
  implicit none
  integer :: n, wrong, me, before

  call omp_set_max_active_levels(2)
  n = 0
  wrong = 0
  ! @outer
  !$omp parallel num_threads(2) private(me, before)
  me = omp_get_thread_num()
  ! @inner
  !$omp parallel num_threads(me + 1) firstprivate(me)
  !$omp atomic
  n = n + 1
  if (omp_get_num_threads() /= me + 1) then
    !$omp atomic
    wrong = wrong + 1
  end if
  !$omp end parallel
  ! @serial
  !$omp parallel if(me == 1) num_threads(2)
  !$omp atomic
  n = n + 10
  !$omp end parallel
  ! @task
  !$omp task if(me == 0) shared(n)
  !$omp atomic
  n = n + 100
  !$omp end task
  !$omp taskwait
  !$omp end parallel
  print '(i0, 1x, i0)', n, wrong
end program inner
