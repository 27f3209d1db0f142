! Clauses and names that OPARI2 would spoil: text constants, several lines, comments between the lines.
program clauses
  use omp_lib
  implicit none
  character(len=12) :: mode
  integer :: i, n(6), s

  mode = 'A b'
  n = 0
  s = 0
  ! @if
  !$omp parallel if(mode == 'A b') num_threads(3) ! don't
  !$omp atomic
  n(1) = n(1) + 1
  !$omp end parallel
  ! @number
  !$omp parallel num_threads(merge(3, 1, mode == "A b" .and. mode /= 'it''s ! "&"'))
  !$omp atomic
  n(2) = n(2) + 1
  !$omp end parallel
  ! @final
  !$omp task shared(n) final(mode == 'A b') if(mode /= 'a B')
  if (omp_in_final()) n(3) = 1
  !$omp end task
  !$omp taskwait
  ! @lines
  !$omp parallel if(s == 0 .and. &
  !$omp   n(1) == 3) num_threads(3)
  !$omp atomic
  n(4) = n(4) + 1
  !$omp end parallel
  ! @name
  !$omp parallel &
  !$omp do reduction(+:s) &

  ! between
  !$omp& private(i)
  do i = 1, 8
    s = s + i
  end do
  !$omp end parallel &
  !$omp do
  !$omp paralleldo
  do i = 1, 2
    n(6) = i
  end do
  !$omp endparalleldo
  ! @long
  !$omp parallel num_threads(merge(2, 1, mode == 'A b' .and. mode /= 'no' .and. mode /= 'neither no' .and. mode /= 'nor' .and. &
  !$omp   mode /= 'No'  .and. mode /= 'NO' .and. mode /= 'A  b'))
  !$omp atomic
  n(5) = n(5) + 1
  !$omp end parallel
  print '(6(i0, 1x))', n(:5), s
end program clauses
