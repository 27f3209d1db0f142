! As falsely.c: allocatable arrays, members of derived types, common blocks, pointers, automatic arrays.
module fields
  implicit none
  type tile
    double precision, allocatable :: density(:), energy(:,:)
    double precision :: bounds(4) = 0
  end type
  type chunk_type
    type(tile), allocatable :: tiles(:)
    double precision, pointer :: left(:) => null()
  end type
  type(chunk_type) :: chunk
  double precision, allocatable :: pressure(:), work_a(:), work_b(:)
  double precision, allocatable, target :: shared_target(:)
  double precision :: fixed(300) = 0
contains
  subroutine touch(a, n, names)
    integer, intent(in) :: n
    double precision, intent(inout), volatile :: a(n)
    character(len=*), intent(in) :: names
    integer :: i, round, rounds
    character(len=8) :: text
    call get_environment_variable('TEST_ROUNDS', text)
    read (text, *) rounds
    do round = 1, rounds
      do i = 1, n
        a(i) = a(i) + 1
      end do
    end do
    print '(i0,1x,a)', 16 * rounds * n, names
  end subroutine

  subroutine temporary(n)
    integer, intent(in) :: n
    double precision :: automatic(n), local(50)
    double precision, allocatable :: inside(:)
    allocate (inside(170))
    inside = 0
    local = 0
    automatic = 0
    call touch(inside, 170, 'temporary::inside [heap')
    call touch(local, 50, 'temporary::local [stack]')
    deallocate (inside)
    allocate (work_b(170))
    work_b = 0
    call touch(work_b, 170, 'fields::work_b [heap')
  end subroutine
end module

program falsely
  use fields
  implicit none
  double precision :: first(90), second(60)
  integer :: i
  common /block/ first, second
  allocate (pressure(400), work_a(250), shared_target(310), chunk%tiles(2))
  pressure = 0
  work_a = 0
  shared_target = 0
  first = 0
  second = 0
  do i = 1, 2
    allocate (chunk%tiles(i)%density(200), chunk%tiles(i)%energy(10, 12))
    chunk%tiles(i)%density = 0
    chunk%tiles(i)%energy = 0
  end do
  chunk%left => shared_target
  call touch(pressure, 400, 'fields::pressure [heap')
  call touch(work_a, 250, 'fields::work_a [heap')
  call touch(shared_target, 310, 'fields::shared_target [heap|fields::chunk%left [heap')
  call touch(fixed, 300, 'fields::fixed')
  call touch(first, 90, '/block/')
  call touch(second, 60, '/block/')
  do i = 1, 2
    call touch(chunk%tiles(i)%density, 200, 'fields::chunk%tiles%density [heap')
    call touch(chunk%tiles(i)%energy, 120, 'fields::chunk%tiles%energy [heap')
    call touch(chunk%tiles(i)%bounds, 4, 'fields::chunk%tiles [heap')
  end do
  call temporary(70)
end program
