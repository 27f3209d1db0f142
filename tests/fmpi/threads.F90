! MPI_THREAD_MULTIPLE: each thread of each rank sends to itself and calls collectively on a communicator of its own. Annotations: see
! conform.F90; here they are per rank, over its threads.
#include "binding.h"
program threads
  use omp_lib
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: n = 4, times = 50
  integer :: me, np, ierr, provided, i, sums(0:n - 1)
  COMM_T :: own(0:n - 1)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr) !# c=1
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr) !# c=1
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr) !# c=1
  if (provided < MPI_THREAD_MULTIPLE) then
    if (me == 0) print '(a)', 'no threads'
    call MPI_Finalize(ierr) !# c=0
    stop
  end if
  do i = 0, n - 1
    call MPI_Comm_dup(MPI_COMM_WORLD, own(i), ierr) !# c=4
  end do
  call omp_set_num_threads(n)
!$omp parallel
  call work(omp_get_thread_num())
!$omp end parallel
  if (me == 0) print '(a,*(1x,i0))', 'ok', sums
  call MPI_Finalize(ierr) !# c=1

contains

  subroutine work(thread)
    integer, intent(in) :: thread
    integer :: k, error, a(3), b(3), total(1)
    REQUEST_T :: q

    total = 0
    do k = 1, times
      a = [thread, me, k]
      call MPI_Irecv(b, 3, MPI_INTEGER, me, thread, own(thread), q, error) !# c=200 i=2400 r=200
      call MPI_Send(a, 3, MPI_INTEGER, me, thread, own(thread), error) !# c=200 o=2400 s=200
      call MPI_Wait(q, MPI_STATUS_IGNORE, error) !# c=200
      total = total + b(1) + b(3)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, own(thread), error) !# c=4 i=16*(P-1) o=16*(P-1) l=4
    sums(thread) = total(1)
  end subroutine
end program
