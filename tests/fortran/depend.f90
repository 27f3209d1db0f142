! Tasks with dependences, priority, final, mergeable, detach; taskwait with depend.
program depend
  use omp_lib
  implicit none
  integer :: n, m, k
  integer(omp_event_handle_kind) :: event

  n = 0
  m = 0
  k = 0
  !$omp parallel
  !$omp master
  ! @first
  !$omp task depend(out: n) shared(n)
  n = n + 1
  !$omp end task
  ! @second
  !$omp task depend(inout: n) shared(n) priority(2) mergeable
  n = n * 10
  !$omp end task
  ! @third
  !$omp task depend(in: n) depend(out: m) shared(n, m) final(.false.)
  m = n + 1
  !$omp end task
  ! @wait
  !$omp taskwait depend(in: m)
  k = m
  ! @detach
  !$omp task detach(event) shared(k)
  k = k + 100
  call omp_fulfill_event(event)
  !$omp end task
  ! @all
  !$omp taskwait
  !$omp end master
  !$omp end parallel
  print '(3(i0, 1x))', n, m, k
end program depend
