! Types made with large counts, where MPI has them, in calls of every class through each binding. All are of six integers.
program types
#if defined(F08)
  use mpi_f08
#elif defined(F90)
  use mpi
#endif
  implicit none
#if defined(F77)
  include 'mpif.h'
#endif
#if defined(F08)
#define A_DATATYPE type(MPI_Datatype)
#define A_REQUEST type(MPI_Request)
#else
#define A_DATATYPE integer
#define A_REQUEST integer
#endif
  integer, parameter :: most = 32, room = 512
  integer :: handles(most), number, rank, ranks, next, last, i, k, error, a(room), b(room)
  integer, allocatable :: counts(:), places(:)
  A_DATATYPE :: one
  A_DATATYPE, allocatable :: all(:)
  A_REQUEST :: request
#if defined(LARGE)
  integer(MPI_COUNT_KIND) :: six = 6
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  allocate(counts(ranks), places(ranks), all(ranks))
  counts = 1
  call make_types(handles, number)
  do i = 1, number
#if defined(F08)
    one%MPI_VAL = handles(i)
#else
    one = handles(i)
#endif
    call calls
    call MPI_Type_free(one, error)
  end do
#if defined(LARGE)
  call MPI_Type_contiguous(six, MPI_INTEGER, one, error)
  call MPI_Type_commit(one, error)
  call calls
  call MPI_Sendrecv(a, six / 6, one, next, 2, b, six / 6, one, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Bcast(a, six / 6, one, 0, MPI_COMM_WORLD, error)
  call MPI_Type_free(one, error)
#endif
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(error)

contains

  subroutine calls
    do k = 1, room
      a(k) = k + 1000 * rank
    end do
    b = 0
    places = 0
    all = one
    call MPI_Sendrecv(a, 1, one, next, 1, b, 1, one, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    if (count(b /= 0) /= 6) print '(a,i0)', 'received ', count(b /= 0)
    call MPI_Isend(a, 1, one, next, 3, MPI_COMM_WORLD, request, error)
    call MPI_Recv(b, 1, one, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Bcast(a, 1, one, 0, MPI_COMM_WORLD, error)
    call MPI_Gather(a, 1, one, b, 1, one, 0, MPI_COMM_WORLD, error)
    call MPI_Alltoall(a, 1, one, b, 1, one, MPI_COMM_WORLD, error)
    call MPI_Allgatherv(a, 1, one, b, counts, places, one, MPI_COMM_WORLD, error)
    call MPI_Alltoallw(a, counts, places, all, b, counts, places, all, MPI_COMM_WORLD, error)
  end subroutine calls

end program types
