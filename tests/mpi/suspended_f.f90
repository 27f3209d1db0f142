! As suspended.c, by MPI's Fortran bindings: ways that a message can be received while clocks are suspended, and the clock vectors of
! the next ones after that.
module by_f08
   use mpi_f08
   implicit none
contains
   ! Without ierror, which need not be there.
   subroutine pass_on_f08(mine, next, got, last, tag)
      integer, intent(in) :: mine, next, last, tag
      integer, intent(out) :: got
      type(MPI_Request) :: requests(2)

      call MPI_Irecv(got, 1, MPI_INTEGER, last, tag, MPI_COMM_WORLD, requests(1))
      call MPI_Isend(mine, 1, MPI_INTEGER, next, tag, MPI_COMM_WORLD, requests(2))
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
   end subroutine
end module

program suspended_f
   use mpi
   use by_f08, only: pass_on_f08
   implicit none
   interface
      subroutine fake_suspension_f(number) bind(c, name='fake_suspension_f')
         use iso_c_binding
         integer(c_int), value :: number
      end subroutine
      subroutine fake_mark_f(number) bind(c, name='fake_mark_f')
         use iso_c_binding
         integer(c_int), value :: number
      end subroutine
      ! The mark that was adopted since it was asked last; -1: there are no clocks, or it was not one that is known.
      function fake_joined_f() bind(c, name='fake_joined_f')
         use iso_c_binding
         integer(c_int) :: fake_joined_f
      end function
   end interface
   integer, parameter :: rounds = 100, tag = 5
   integer :: rank, ranks, next, last, ierror, round, i, way, failures, told, all

   call MPI_Init(ierror)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
   next = mod(rank + 1, ranks)
   last = mod(rank + ranks - 1, ranks)
   failures = 0
   do round = 1, 8
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call fake_suspension_f(round)
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      do i = 1, rounds
         call pass_on(mod(i, 6), i)
      end do
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call fake_suspension_f(0)
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      told = fake_joined_f()
      do way = 0, 5
         call pass_on(way, rounds + way)
         told = fake_joined_f()
         if (told /= -1 .and. told /= number_of(last, rounds + way)) then
            print *, 'rank', rank, 'way', way, 'adopted', told, 'instead of', number_of(last, rounds + way)
            failures = failures + 1
         end if
      end do
   end do
   call MPI_Reduce(failures, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
   if (rank == 0 .and. all == 0) print '(a)', 'ok'
   call MPI_Finalize(ierror)

contains

   integer function number_of(from, i)
      integer, intent(in) :: from, i
      number_of = 1000000 * (from + 1) + i
   end function

   subroutine pass_on(way, i)
      integer, intent(in) :: way, i
      integer :: mine, got, requests(2), sent, statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE)
      logical :: flag

      mine = number_of(rank, i)
      got = 0
      call fake_mark_f(mine)
      if (way == 5) then
         call pass_on_f08(mine, next, got, last, tag)
      else if (way == 3) then
         call MPI_Sendrecv(mine, 1, MPI_INTEGER, next, tag, got, 1, MPI_INTEGER, last, tag, MPI_COMM_WORLD, status, ierror)
         if (status(MPI_SOURCE) /= last) failures = failures + 1
      else if (way == 0) then
         call MPI_Isend(mine, 1, MPI_INTEGER, next, tag, MPI_COMM_WORLD, sent, ierror)
         call MPI_Recv(got, 1, MPI_INTEGER, last, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
         call MPI_Wait(sent, MPI_STATUS_IGNORE, ierror)
      else
         call MPI_Irecv(got, 1, MPI_INTEGER, last, tag, MPI_COMM_WORLD, requests(2), ierror)
         call MPI_Isend(mine, 1, MPI_INTEGER, next, tag, MPI_COMM_WORLD, requests(1), ierror)
         if (way == 1) call MPI_Waitall(2, requests, statuses, ierror)
         if (way == 2) call MPI_Wait(requests(2), status, ierror)
         flag = way /= 4
         do while (.not. flag)
            call MPI_Test(requests(2), flag, MPI_STATUS_IGNORE, ierror)
         end do
         if (way /= 1) call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
         if (requests(2) /= MPI_REQUEST_NULL) failures = failures + 1
      end if
      if (got /= number_of(last, i)) failures = failures + 1
   end subroutine
end program
