! Fortran whose results must be the same with hooks: allocatable arrays that move, derived types with allocatable parts and finalizers,
! pointers, texts, sections, complex and quadruple numbers, recursion, common blocks and threadprivate data, OpenMP loops, tasks,
! reductions and atomics, input and output through memory, errors of allocation. Prints its results.
module shapes
  implicit none
  type :: body
    real(8), allocatable :: mass(:)
    character(:), allocatable :: name
    type(body), pointer :: next => null()
  contains
    final :: bury
  end type
  integer :: buried = 0
  integer :: hits = 0
  !$omp threadprivate(hits)
contains
  subroutine bury(b)
    type(body), intent(inout) :: b
    if (allocated(b%mass)) buried = buried + size(b%mass)
  end subroutine

  recursive function fibonacci(n) result(f)
    integer, intent(in) :: n
    integer :: f, a, b
    if (n < 2) then
      f = n
      return
    end if
    !$omp task shared(a) if(n > 12)
    a = fibonacci(n - 1)
    !$omp end task
    b = fibonacci(n - 2)
    !$omp taskwait
    f = a + b
  end function

  subroutine scale(x, by)
    real(8), contiguous, intent(inout) :: x(:)
    real(8), value :: by
    x = x * by
  end subroutine
end module

program same_fortran
  use shapes
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: quad = selected_real_kind(30)
  common /work/ grid, count
  real(8) :: grid(8, 8)
  integer :: count
  real(8), allocatable, target :: a(:), b(:), wide(:, :)
  real(8), pointer :: view(:, :), part(:)
  complex(8) :: z(50)
  real(quad) :: q
  character(40) :: line
  character(5), allocatable :: words(:)
  integer, allocatable :: huge_one(:)
  type(c_ptr) :: address
  integer :: i, f, total, status, n

  allocate(a(10))
  a = [(real(i, 8), i = 1, 10)]
  do i = 1, 5
    a = [a, a(1:i) * 2]
  end do
  b = a(size(a):1:-1)
  call move_alloc(b, a)
  print '(a,i0,f12.3,l2)', 'moved ', size(a), sum(a), allocated(b)

  allocate(wide(20, 30))
  wide = reshape([(sqrt(real(i, 8)), i = 1, 600)], [20, 30])
  call scale(wide(::2, 3), 3d0)
  view(1:30, 1:20) => wide
  part => view(::3, 5)
  address = c_loc(wide)
  wide = transpose(reshape(wide, [30, 20]))
  where (wide > 10) wide = -wide
  print '(a,3es24.16,l2)', 'sections ', sum(wide), sum(part), sum(matmul(wide, transpose(wide))), c_associated(address)

  z = [(cmplx(i, -i, 8), i = 1, 50)]
  z = z * conjg(z(50:1:-1)) + (0d0, 1d0)
  q = sum(real(z, quad)) / 3
  print '(a,2es24.16,es40.30)', 'numbers ', sum(z), q

  call bodies()
  print '(a,i0)', 'buried ', buried
  words = ['one  ', 'three']
  words = [words, 'seven']
  write (line, '(3a,i5)') words, size(words)
  read (line(16:20), *) n
  print '(3a,i0)', 'texts ', trim(line), ' ', n
  allocate(huge_one(10), stat=status)
  allocate(huge_one(10), stat=status)
  print '(a,l2)', 'refused', status /= 0

  grid = 0
  count = 0
  total = 0
  !$omp parallel num_threads(4) reduction(+ : total) copyin(hits)
  !$omp do schedule(dynamic, 3)
  do i = 1, 64
    grid(1 + mod(i, 8), 1 + (i - 1) / 8) = i
    hits = hits + i
    !$omp atomic
    count = count + 1
  end do
  total = total + hits
  !$omp single
  f = fibonacci(18)
  !$omp end single
  !$omp end parallel
  print '(a,i0,x,i0,x,i0,f10.1)', 'threads ', total, count, f, sum(grid)
contains
  subroutine bodies()
    type(body), target :: first
    type(body), pointer :: next
    type(body), allocatable :: copies(:)
    first%mass = [1d0, 2d0, 3d0]
    first%name = 'sun'
    allocate(first%next)
    first%next%mass = first%mass * 10
    first%next%name = first%name // ' and ' // first%name
    allocate(copies(3))
    copies(2) = first%next
    copies(3)%mass = [copies(2)%mass, first%mass]
    next => first%next
    print '(3a,i0,f8.1)', 'bodies ', copies(2)%name, ' ', size(copies(3)%mass), sum(copies(3)%mass)
    deallocate(next)
  end subroutine
end program
