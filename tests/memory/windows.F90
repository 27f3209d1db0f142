! Memory that MPI gives as C_PTR: the array pointers that are made of it name it.
module fields
   use iso_c_binding
#ifdef OLD
   use mpi
#else
   use mpi_f08
#endif
   implicit none
   real(8), pointer :: pressure(:)
contains
   subroutine solve(n)
      integer, intent(in) :: n
      integer(MPI_ADDRESS_KIND) :: bytes
      type(c_ptr) :: where
      real(8), pointer :: density(:), grid(:,:)
      integer :: i, ierr
      bytes = 8 * n
      call MPI_Alloc_mem(bytes, MPI_INFO_NULL, where, ierr)
      call c_f_pointer(where, density, [n])
      call MPI_Alloc_mem(bytes, MPI_INFO_NULL, where, ierr)
      call c_f_pointer(where, grid, [10, n / 10])
      call MPI_Alloc_mem(bytes, MPI_INFO_NULL, where, ierr)
      call c_f_pointer(where, pressure, [n])
      do i = 1, n
         density(i) = i
      end do
      do i = 1, n / 2
         pressure(i) = i
      end do
      do i = 1, n / 10
         grid(3, i) = i
      end do
      print '(3f8.1)', density(n), pressure(3), grid(3, 3)
      call MPI_Free_mem(density, ierr)
      call MPI_Free_mem(pressure, ierr)
   end subroutine
   subroutine windows(n, ranks, me)
      integer, intent(in) :: n, ranks, me
      integer(MPI_ADDRESS_KIND) :: bytes
      type(c_ptr) :: at
      integer :: i, ierr, unit
#ifdef OLD
      integer :: win, win2
#else
      type(MPI_Win) :: win, win2
#endif
      real(8), pointer :: mine(:), shared(:), others(:)
      bytes = 8 * n
      call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, at, win, ierr)
      call c_f_pointer(at, mine, [n])
      call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, at, win2, ierr)
      call c_f_pointer(at, shared, [n])
      call MPI_Win_shared_query(win2, mod(me + 1, ranks), bytes, unit, at, ierr)
      call c_f_pointer(at, others, [n])
      do i = 1, n
         mine(i) = i
      end do
      do i = 1, n / 2
         shared(i) = i
      end do
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      do i = 1, n / 4
         others(i) = i
      end do
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      print '(3f8.1)', mine(n), shared(3), others(3)
      call MPI_Win_free(win, ierr)
      call MPI_Win_free(win2, ierr)
   end subroutine
end module
program main
   use fields
   integer :: ierr, ranks, me
   call MPI_Init(ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call solve(1000)
   call windows(2000, ranks, me)
   call MPI_Finalize(ierr)
end program
