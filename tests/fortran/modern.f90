! Constructs that OPARI2 does not know: measured by calls around them, split, or passed by.
program modern
  implicit none
  integer :: i, j, n, m, v, old

  n = 0
  m = 0
  old = 0
  ! @parallel
  !$omp parallel private(i, v) shared(n, m, old)
  ! @capture
  !$omp atomic capture
  v = n
  n = n + 1
  !$omp end atomic
  ! @block
  !$omp atomic update
  n = n + 1
  ! @end block
  !$omp end atomic
  ! @masked
  !$omp masked
  m = m + 1
  ! @group
  !$omp taskgroup
  do i = 1, 3
    ! @task
    !$omp task shared(m)
    !$omp atomic
    m = m + 1
    !$omp end task
  end do
  ! @end group
  !$omp end taskgroup
  ! @taskloop
  !$omp taskloop num_tasks(2) shared(m)
  do i = 1, 10
    !$omp atomic
    m = m + 1
  end do
  ! @named
  !$omp taskloop shared(m)
  outer: do i = 1, 2
    do j = 1, 2
      !$omp atomic
      m = m + 1
    end do
  end do outer
  ! @end named
  !$omp end taskloop
  ! @end masked
  !$omp end masked
  ! @barrier
  !$omp barrier
  ! @scope
  !$omp scope reduction(+:old)
  old = old + 1
  ! @end scope
  !$omp end scope
  ! @dosimd
  !$omp do simd
  do i = 1, 10
    v = i
  end do
  !$omp taskyield
  !$omp end parallel
  ! @team
  !$omp parallel master num_threads(2) default(shared)
  n = n + 1000
  ! @inner
  !$omp critical
  n = n + 1000
  !$omp end critical
  ! @end team
  !$omp end parallel master
  ! @unmeasured
  !$omp parallel do simd reduction(+:m)
  do 10 i = 1, 10
    m = m + 100
10 continue
  ! @loop
  !$omp parallel
  ! @bound
  !$omp loop bind(parallel)
  do i = 1, 4
    v = i
  end do
  !$omp end loop
  !$omp end parallel
  ! @target
  !$omp target map(tofrom: m)
  !$omp parallel num_threads(1)
  m = m + 10000
  !$omp end parallel
  ! @end target
  !$omp end target
  ! @data
  !$omp target data map(tofrom: m)
  ! @update
  !$omp target update to(m)
  !$omp end target data
  ! @league
  !$omp teams num_teams(1)
  m = m + 20000
  !$omp end teams
  print '(3(i0, 1x))', n, m, old
end program modern
