! Programs with one fault each, and controls without, as in advice.c: advice NAME.
module faults
  use omp_lib
  use iso_c_binding
  implicit none
  type, bind(c) :: timespec
     integer(c_long) :: seconds, nanoseconds
  end type timespec
  interface
     integer(c_int) function nanosleep(time, rest) bind(c)
       import
       type(timespec), intent(in) :: time
       type(c_ptr), value :: rest
     end function nanosleep
  end interface
  integer, parameter :: n = 65536
  double precision :: data(n) = 0
  integer(8) :: total = 0
  integer(omp_lock_kind) :: lock

contains

  ! Sleeps.
  subroutine work(ms)
    double precision, intent(in) :: ms
    integer(c_int) :: error

    error = nanosleep(timespec(0, int(ms * 1d6, c_long)), c_null_ptr)
  end subroutine work

  integer(8) function leaf(m)
    integer(8), intent(in) :: m
    integer(8) :: i

    leaf = 0
    do i = 0, 19
       leaf = leaf + ieor(m, i)
    end do
  end function leaf

  recursive subroutine tree(depth, m, found)
    integer, intent(in) :: depth
    integer(8), intent(in) :: m
    integer(8), intent(out) :: found
    integer(8) :: a, b

    if (depth == 0) then
       found = leaf(m)
       return
    end if
    !$omp task shared(a)
    call tree(depth - 1, 2 * m, a)
    !$omp end task
    !$omp task shared(b)
    call tree(depth - 1, 2 * m + 1, b)
    !$omp end task
    !$omp taskwait
    found = a + b
  end subroutine tree

  ! ---- Faults ------------------------------------------------------------------------------------------------------

  subroutine tasks_fine()
    !$omp parallel
    !$omp single
    call tree(17, 1_8, total)
    !$omp end single
    !$omp end parallel
  end subroutine tasks_fine

  subroutine tasks_large()
    integer :: i

    !$omp parallel
    !$omp single
    do i = 1, 3
       !$omp task
       call work(100d0)
       !$omp end task
    end do
    !$omp end single
    !$omp end parallel
  end subroutine tasks_large

  subroutine chunks_small()
    integer :: i, k

    ! one region, long enough for a thread that starts late by milliseconds
    !$omp parallel do schedule(dynamic, 2) private(k)
    do i = 1, 100 * n
       k = mod(i, n) + 1
       data(k) = data(k) * 0.5d0 + i
    end do
    !$omp end parallel do
  end subroutine chunks_small

  subroutine imbalance()
    integer :: i, r

    do r = 1, 5
       !$omp parallel do schedule(static)
       do i = 1, 4
          call work(merge(30d0, 5d0, i <= 2))
       end do
       !$omp end parallel do
    end do
  end subroutine imbalance

  subroutine imbalance_region()
    !$omp parallel
    call work(merge(200d0, 50d0, omp_get_thread_num() == 0))
    !$omp end parallel
  end subroutine imbalance_region

  subroutine critical()
    integer :: i

    !$omp parallel private(i)
    do i = 1, 100
       !$omp critical(all)
       call work(2d0)
       !$omp end critical(all)
    end do
    !$omp end parallel
  end subroutine critical

  subroutine critical_brief()
    integer :: i

    !$omp parallel private(i)
    do i = 1, 2000000
       !$omp critical(all)
       total = total + i
       !$omp end critical(all)
    end do
    !$omp end parallel
  end subroutine critical_brief

  subroutine lock_long()
    integer :: i

    call omp_init_lock(lock)
    !$omp parallel private(i)
    do i = 1, 100
       call omp_set_lock(lock)
       call work(2d0)
       call omp_unset_lock(lock)
    end do
    !$omp end parallel
  end subroutine lock_long

  subroutine lock_brief()
    integer :: i

    call omp_init_lock(lock)
    !$omp parallel private(i)
    do i = 1, 2000000
       call omp_set_lock(lock)
       total = total + i
       call omp_unset_lock(lock)
    end do
    !$omp end parallel
  end subroutine lock_brief

  subroutine atomic()
    integer :: i

    !$omp parallel private(i)
    do i = 1, 20000000
       !$omp atomic
       total = total + 1
    end do
    !$omp end parallel
  end subroutine atomic

  subroutine barrier()
    integer :: i

    !$omp parallel private(i)
    do i = 1, 10
       call work(merge(30d0, 5d0, omp_get_thread_num() == mod(i, 2)))
       !$omp barrier
    end do
    !$omp end parallel
  end subroutine barrier

  subroutine single()
    integer :: i

    !$omp parallel private(i)
    do i = 1, 5
       !$omp single
       call work(40d0)
       !$omp end single
    end do
    !$omp end parallel
  end subroutine single

  subroutine ordered()
    integer :: i

    !$omp parallel do ordered schedule(static, 1)
    do i = 1, 40
       !$omp ordered
       call work(5d0)
       !$omp end ordered
    end do
    !$omp end parallel do
  end subroutine ordered

  subroutine serial()
    call work(200d0)
    !$omp parallel
    call work(20d0)
    !$omp end parallel
  end subroutine serial

  subroutine sections()
    !$omp parallel sections
    call work(200d0)
    !$omp section
    call work(20d0)
    !$omp end parallel sections
  end subroutine sections

  subroutine sections_few()
    !$omp parallel sections
    call work(100d0)
    !$omp end parallel sections
  end subroutine sections_few

  subroutine sections_uneven()
    !$omp parallel sections
    call work(60d0)
    !$omp section
    call work(60d0)
    !$omp section
    call work(60d0)
    !$omp end parallel sections
  end subroutine sections_uneven

  subroutine tiny_regions()
    integer :: i, r

    do r = 1, 20000
       !$omp parallel do
       do i = 1, 100
          data(i) = data(i) + i * r
       end do
       !$omp end parallel do
    end do
  end subroutine tiny_regions

  ! ---- Controls ----------------------------------------------------------------------------------------------------

  subroutine loop()
    integer :: i

    !$omp parallel do schedule(dynamic)
    do i = 1, 200
       call work(5d0)
    end do
    !$omp end parallel do
  end subroutine loop

  subroutine loop_static()
    integer :: i, r

    do r = 1, 3
       !$omp parallel do schedule(static)
       do i = 1, 100
          call work(4d0)
       end do
       !$omp end parallel do
    end do
  end subroutine loop_static

  subroutine tasks()
    integer :: i

    !$omp parallel
    !$omp single
    do i = 1, 200
       !$omp task
       call work(5d0)
       !$omp end task
    end do
    !$omp end single
    !$omp end parallel
  end subroutine tasks

  subroutine sections_even()
    !$omp parallel sections
    call work(500d0)
    !$omp section
    call work(500d0)
    !$omp end parallel sections
  end subroutine sections_even

  subroutine critical_seldom()
    integer :: i

    !$omp parallel private(i)
    do i = 1, 20
       call work(25d0)
       !$omp critical(all)
       total = total + 1
       !$omp end critical(all)
    end do
    !$omp end parallel
  end subroutine critical_seldom

  subroutine lock_seldom()
    integer :: i

    call omp_init_lock(lock)
    !$omp parallel private(i)
    do i = 1, 20
       call work(25d0)
       call omp_set_lock(lock)
       total = total + 1
       call omp_unset_lock(lock)
    end do
    !$omp end parallel
  end subroutine lock_seldom

  subroutine atomic_seldom()
    integer :: i

    !$omp parallel private(i)
    do i = 1, 200
       call work(2.5d0)
       !$omp atomic
       total = total + 1
    end do
    !$omp end parallel
  end subroutine atomic_seldom

  subroutine single_nowait()
    integer :: i

    !$omp parallel
    !$omp single
    total = total + 1
    !$omp end single nowait
    !$omp do schedule(dynamic)
    do i = 1, 200
       call work(5d0)
    end do
    !$omp end do
    !$omp end parallel
  end subroutine single_nowait

  ! gfortran has it done by one thread.
  subroutine workshare()
    double precision, allocatable :: many(:)
    integer :: r

    allocate(many(4 * n))
    many = 1
    !$omp parallel private(r)
    do r = 1, 80
       !$omp workshare
       many = exp(-sqrt(abs(many) + r)) + sqrt(abs(many))
       !$omp end workshare
    end do
    !$omp end parallel
    total = int(many(n), 8)
  end subroutine workshare

  subroutine one_loop()
    integer :: i, r

    do r = 1, 100000
       !$omp parallel do num_threads(1)
       do i = 1, 100
          data(i) = data(i) + i * r
       end do
       !$omp end parallel do
    end do
  end subroutine one_loop
end module faults

program advice
  use faults
  implicit none
  character(len=40) :: name

  call get_command_argument(1, name)
  select case (name)
  case ('tasks_fine'); call tasks_fine()
  case ('tasks_large'); call tasks_large()
  case ('chunks_small'); call chunks_small()
  case ('imbalance'); call imbalance()
  case ('imbalance_region'); call imbalance_region()
  case ('critical'); call critical()
  case ('critical_brief'); call critical_brief()
  case ('lock'); call lock_long()
  case ('lock_brief'); call lock_brief()
  case ('atomic'); call atomic()
  case ('barrier'); call barrier()
  case ('single'); call single()
  case ('ordered'); call ordered()
  case ('serial'); call serial()
  case ('sections'); call sections()
  case ('sections_few'); call sections_few()
  case ('sections_uneven'); call sections_uneven()
  case ('tiny_regions'); call tiny_regions()
  case ('loop'); call loop()
  case ('loop_static'); call loop_static()
  case ('tasks'); call tasks()
  case ('sections_even'); call sections_even()
  case ('critical_seldom'); call critical_seldom()
  case ('lock_seldom'); call lock_seldom()
  case ('atomic_seldom'); call atomic_seldom()
  case ('single_nowait'); call single_nowait()
  case ('workshare'); call workshare()
  case ('one_loop'); call one_loop()
  case default; stop 1
  end select
end program advice
