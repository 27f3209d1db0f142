! Arrays that are allocated, members of derived types, common blocks and local arrays.
module state
  type field
    double precision, allocatable :: density(:), energy(:,:)
  end type
  type chunk_type
    type(field), allocatable :: tiles(:)
  end type
  type(chunk_type) :: chunk
  double precision, allocatable :: pressure(:)
  double precision :: fixed(300)
end module

subroutine fill(a, n)
  integer :: n, i
  double precision :: a(n)
  do i = 1, n
    a(i) = i
  end do
end subroutine

subroutine work(total)
  double precision :: total, local(50), automatic(int(total) * 0 + 60)
  double precision, allocatable :: temporary(:)
  allocate (temporary(70))
  call fill(temporary, 70)
  call fill(local, 50)
  call fill(automatic, 60)
  total = total + 0 * automatic(2) + local(7) + temporary(3)
  deallocate (temporary)
end subroutine

program unasked
  use state
  double precision :: total = 0, shared
  common /block/ shared(90)
  allocate (pressure(400), chunk%tiles(2))
  allocate (chunk%tiles(1)%density(200), chunk%tiles(1)%energy(10, 10))
  call fill(pressure, 400)
  call fill(fixed, 300)
  call fill(shared, 90)
  call fill(chunk%tiles(1)%density, 200)
  call fill(chunk%tiles(1)%energy, 100)
  call work(total)
  print '(f8.1)', total
end program
