! As advice_mpi.c: advice_mpi NAME.
module faults
  use mpi
  use iso_c_binding
  implicit none
  type, bind(c) :: timespec
     integer(c_long) :: seconds, nanoseconds
  end type timespec
  interface
     integer(c_int) function nanosleep(time, left) bind(c)
       import
       type(timespec), intent(in) :: time
       type(c_ptr), value :: left
     end function nanosleep
  end interface
  integer, parameter :: many = 1048576
  integer :: rank, ranks, error
  double precision :: here(many) = 1, there(many) = 0

contains

  subroutine rest(ms)
    double precision, intent(in) :: ms
    integer(c_int) :: slept

    slept = nanosleep(timespec(0, int(ms * 1d6, c_long)), c_null_ptr)
  end subroutine rest

  subroutine sum_up(comm)
    integer, intent(in) :: comm
    double precision :: all

    call MPI_Allreduce(here(1), all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, error)
  end subroutine sum_up

  subroutine in_turn()
    integer :: i

    do i = 0, 59
       if (mod(i, ranks) == rank) call rest(10d0)
       call sum_up(MPI_COMM_WORLD)
    end do
  end subroutine in_turn

  subroutine late()
    integer :: i

    do i = 1, 60
       call rest(merge(10d0, 1d0, rank == 1))
       call sum_up(MPI_COMM_WORLD)
    end do
  end subroutine late

  subroutine small()
    integer :: i

    do i = 1, 200000
       call sum_up(MPI_COMM_WORLD)
    end do
  end subroutine small

  subroutine late_sender()
    integer :: i

    do i = 1, 40
       if (rank == 0) then
          call rest(10d0)
          call MPI_Send(here, 1, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, error)
       end if
       if (rank == 1) call MPI_Recv(there, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
  end subroutine late_sender

  subroutine late_sender_any()
    integer :: i, status(MPI_STATUS_SIZE)

    do i = 1, 40
       if (rank == 0) then
          call rest(10d0)
          call MPI_Send(here, 1, MPI_DOUBLE_PRECISION, 1, i, MPI_COMM_WORLD, error)
       end if
       if (rank == 1) call MPI_Recv(there, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
    end do
  end subroutine late_sender_any

  subroutine late_sender_wait()
    integer :: i, requests(2)

    do i = 1, 40
       if (rank == 0) then
          call rest(10d0)
          call MPI_Isend(here, 1, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, requests(1), error)
          call MPI_Isend(here, 1, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, requests(2), error)
       end if
       if (rank == 1) then
          call MPI_Irecv(there, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, requests(1), error)
          call MPI_Irecv(there(2), 1, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, requests(2), error)
       end if
       if (rank < 2) call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    end do
  end subroutine late_sender_wait

  subroutine late_receiver()
    integer :: i

    do i = 1, 20
       if (rank == 0) call MPI_Send(here, many, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, error)
       if (rank == 1) then
          call rest(20d0)
          call MPI_Recv(there, many, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
       end if
    end do
  end subroutine late_receiver

  subroutine transfer()
    integer :: i

    do i = 1, 60
       if (rank == 0) call MPI_Send(here, many, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, error)
       if (rank == 1) call MPI_Recv(there, many, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
       call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
  end subroutine transfer

  ! ---- Controls ----------------------------------------------------------------------------------------------------

  subroutine even()
    integer :: i

    do i = 1, 10
       call rest(100d0)
       call sum_up(MPI_COMM_WORLD)
    end do
  end subroutine even

  subroutine early()
    integer :: i

    do i = 1, 10
       if (rank == 0) call MPI_Send(here, 1, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, error)
       call rest(100d0)
       if (rank == 1) call MPI_Recv(there, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
  end subroutine early

  subroutine exchange()
    integer :: i, requests(2)

    do i = 1, merge(10, 0, ieor(rank, 1) < ranks)
       call MPI_Irecv(there, 100, MPI_DOUBLE_PRECISION, ieor(rank, 1), 1, MPI_COMM_WORLD, requests(1), error)
       call MPI_Isend(here, 100, MPI_DOUBLE_PRECISION, ieor(rank, 1), 1, MPI_COMM_WORLD, requests(2), error)
       call rest(100d0)
       call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    end do
  end subroutine exchange
end module faults

program advice_mpi
  use faults
  implicit none
  character(len=40) :: name

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, name)
  select case (name)
  case ('in_turn'); call in_turn()
  case ('late'); call late()
  case ('small'); call small()
  case ('late_sender'); call late_sender()
  case ('late_sender_any'); call late_sender_any()
  case ('late_sender_wait'); call late_sender_wait()
  case ('late_receiver'); call late_receiver()
  case ('transfer'); call transfer()
  case ('even'); call even()
  case ('early'); call early()
  case ('exchange'); call exchange()
  case default; stop 1
  end select
  call MPI_Finalize(error)
end program advice_mpi
