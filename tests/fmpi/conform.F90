! What programs do through MPI's Fortran bindings: compiled with -DF77 (mpif.h), -DF90 (use mpi) or -DF08 (use mpi_f08). Each rank writes
! what it got, and every error code, to trace.RANK; conform.py compares the traces with and without measurement, and the report with
! the annotations here: "!# c=CALLS i=BYTES_IN o=BYTES_OUT r=RECVS s=SENDS l=COLLECTIVES" in terms of r (rank) and P (ranks); what is
! not said is 1 for c, 0 for others. Every line that calls MPI has one.
#include "binding.h"

module callbacks
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: copies = 0, deletes = 0, handled = 0, queries = 0, frees = 0, cancels = 0
  integer :: handled_code = 0

contains

  ! A user's operation that calls MPI itself: no call of the program's.
  subroutine larger(invec, inoutvec, length, datatype)
#ifdef F08
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
#else
    integer :: length, datatype
    integer :: invec(length), inoutvec(length)
#endif
    integer :: bytes, ierr
    call MPI_Type_size(datatype, bytes, ierr) !# c=0
#ifdef F08
    call c_f_pointer(invec, a, [length])
    call c_f_pointer(inoutvec, b, [length])
    b = max(a, b) + bytes - 4
#else
    inoutvec = max(invec, inoutvec) + bytes - 4
#endif
  end subroutine

  subroutine copy_attribute(comm, keyval, extra_state, value_in, value_out, flag, ierror)
    COMM_T :: comm
    integer :: keyval, ierror, me
    integer(MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    copies = copies + 1
    call MPI_Comm_rank(comm, me, ierror) !# c=0
    value_out = value_in + extra_state + me
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_attribute(comm, keyval, attribute_val, extra_state, ierror)
    COMM_T :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletes = deletes + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handle_error(comm, error_code)
    COMM_T :: comm
    integer :: error_code, ierr
    handled = handled + 1
    call MPI_Error_class(error_code, handled_code, ierr) !# c=0
  end subroutine

  subroutine query_request(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    STATUS_T :: status
    integer :: ierror
    queries = queries + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state), ierror) !# c=0
    call MPI_Status_set_cancelled(status, .false., ierror) !# c=0
    SOURCE_OF(status) = 17
    TAG_OF(status) = 18
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_request(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    frees = frees + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel_request(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    cancels = cancels + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program conform
  use callbacks
#ifdef F08
  use, intrinsic :: iso_c_binding
#endif
  implicit none
  integer :: me, np, ierr, provided
  character(len=20) :: name

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr) !# c=1
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr) !# c=1
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr) !# c=1
  write (name, '(a,i0)') 'trace.', me
  open (unit=10, file=trim(name))
  call note('provided', provided >= MPI_THREAD_SINGLE)
  call inquiries
  call messages
  call sections
  call bottom
  call persistent
  call rooted(0)
  call everybody
  call in_place
  call reductions
  call attributes
  call errors
  call generalized
  call graphs
  call neighbours
  call groups
  call types
  call strings
  call files
  call windows
  call controlled
#ifdef F77
  call removed
#endif
  close (10)
  if (me == 0) print '(a)', 'ok'
  call MPI_Finalize(ierr) !# c=1

contains

  subroutine note(what, flag)
    character(len=*), intent(in) :: what
    logical, intent(in) :: flag
    write (10, '(a,1x,l1,1x,i0)') what, flag, ierr
  end subroutine

  subroutine value(what, numbers)
    character(len=*), intent(in) :: what
    integer, intent(in) :: numbers(:)
    write (10, '(a,i4,*(1x,i0))') what, ierr, numbers
  end subroutine

  subroutine inquiries
    integer :: length, version, subversion, class
    character(len=MPI_MAX_PROCESSOR_NAME) :: processor
    character(len=MPI_MAX_ERROR_STRING) :: text
    logical :: flag
    double precision :: t

    t = MPI_Wtime() !# c=1
    call note('wtime', t > 0)
    t = MPI_Wtick() !# c=1
    call note('wtick', t > 0)
    processor = repeat('x', len(processor))
    call MPI_Get_processor_name(processor, length, ierr) !# c=1
    call note('processor', len_trim(processor) == length)
    call MPI_Get_version(version, subversion, ierr) !# c=1
    call value('version', [version, subversion])
    call MPI_Initialized(flag, ierr) !# c=1
    call note('initialized', flag)
    call MPI_Error_class(MPI_ERR_RANK, class, ierr) !# c=1
    call MPI_Error_string(MPI_ERR_RANK, text, length, ierr) !# c=1
    call note('error '//text(1:length), class == MPI_ERR_RANK)
  end subroutine

  subroutine messages
    integer :: a(10), b(10), i, right, left, n
    REQUEST_T :: q(2)
    STATUS_T :: s
    STATUSES(ss, 2)
    MESSAGE_T :: m
    logical :: flag

    a = [(100 * me + i, i = 1, 10)]
    right = mod(me + 1, np)
    left = mod(me + np - 1, np)
    b = -1
    call MPI_Irecv(b, 10, MPI_INTEGER, left, 1, MPI_COMM_WORLD, q(1), ierr) !# i=40 r=1
    call MPI_Isend(a, 10, MPI_INTEGER, right, 1, MPI_COMM_WORLD, q(2), ierr) !# o=40 s=1
    call MPI_Waitall(2, q, ss, ierr) !# c=1
    call value('irecv', b)
    call MPI_Irecv(b, 10, MPI_INTEGER, left, 2, MPI_COMM_WORLD, q(1), ierr) !# i=40 r=1
    call MPI_Isend(a, 9, MPI_INTEGER, right, 2, MPI_COMM_WORLD, q(2), ierr) !# o=36 s=1
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr) !# c=1
    call value('ignored', b)
    call MPI_Sendrecv(a, 10, MPI_INTEGER, right, 3, b, 10, MPI_INTEGER, left, 3, MPI_COMM_WORLD, s, ierr) !# i=40 o=40 r=1 s=1
    call value('sendrecv', [b, SOURCE_OF(s), TAG_OF(s)])
    call MPI_Sendrecv_replace(b, 5, MPI_INTEGER, right, 3, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) !# i=20 o=20 r=1 s=1
    call value('replace', b)
    call MPI_Send(a, 10, MPI_INTEGER, MPI_PROC_NULL, 4, MPI_COMM_WORLD, ierr) !# s=1
    call MPI_Recv(b, 10, MPI_INTEGER, MPI_PROC_NULL, 4, MPI_COMM_WORLD, s, ierr) !# r=1
    call note('proc null', SOURCE_OF(s) == MPI_PROC_NULL)
    if (me == 0) call MPI_Isend(a, 7, MPI_INTEGER, 0, 5, MPI_COMM_SELF, q(1), ierr) !# c=r==0 o=28*(r==0) s=r==0
    if (me == 0) then
      call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, s, ierr) !# c=r==0
      call MPI_Get_count(s, MPI_INTEGER, n, ierr) !# c=r==0
      call MPI_Mprobe(0, 5, MPI_COMM_SELF, m, s, ierr) !# c=r==0
      call MPI_Mrecv(b, 7, MPI_INTEGER, m, MPI_STATUS_IGNORE, ierr) !# c=r==0 i=28*(r==0) r=r==0
      call MPI_Wait(q(1), MPI_STATUS_IGNORE, ierr) !# c=r==0
      call value('mrecv', [b, n, SOURCE_OF(s)])
    end if
    call MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, m, MPI_STATUS_IGNORE, ierr) !# c=1
    call MPI_Mrecv(b, 7, MPI_INTEGER, m, s, ierr) !# r=1
    call MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr) !# c=1
    call note('iprobe', flag)
  end subroutine

  ! Strided sections: copied by the compiler, or passed as descriptors.
  subroutine sections
    integer :: a(4, 6), b(4, 6), i

    a = reshape([(1000 * me + i, i = 1, 24)], [4, 6])
    b = -1
    call MPI_Sendrecv(a(2, :), 6, MPI_INTEGER, mod(me + 1, np), 1, b(3, :), 6, MPI_INTEGER, mod(me + np - 1, np), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) !# i=24 o=24 r=1 s=1
    call value('section', reshape(b, [24]))
    call MPI_Bcast(a(1:4:3, 2:6:2), 6, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) !# i=24*(r>0) o=24*(P-1)*(r==0) l=1
    call value('section', reshape(a, [24]))
    call MPI_Allreduce(a(4:1:-1, 1), b(:, 2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr) !# i=16*(P-1) o=16*(P-1) l=1
    call value('section', reshape(b, [24]))
  end subroutine

  subroutine bottom
    integer, target :: a(3), b(4)
    integer(MPI_ADDRESS_KIND) :: at(2)
    TYPE_T :: both

    a = me
    b = 2 * me
    call MPI_Get_address(a, at(1), ierr) !# c=1
    call MPI_Get_address(b, at(2), ierr) !# c=1
    call MPI_Type_create_hindexed(2, [3, 4], at, MPI_INTEGER, both, ierr) !# c=1
    call MPI_Type_commit(both, ierr) !# c=1
    call MPI_Bcast(MPI_BOTTOM, 1, both, np - 1, MPI_COMM_WORLD, ierr) !# i=28*(r<P-1) o=28*(P-1)*(r==P-1) l=1
    call MPI_Type_free(both, ierr) !# c=1
    call value('bottom', [a, b])
  end subroutine

  subroutine persistent
    integer :: a(5), b(5), i
    REQUEST_T :: q(2)
    STATUSES(ss, 2)

    call MPI_Send_init(a, 5, MPI_INTEGER, mod(me + 1, np), 1, MPI_COMM_WORLD, q(1), ierr) !# c=1
    call MPI_Recv_init(b, 5, MPI_INTEGER, mod(me + np - 1, np), 1, MPI_COMM_WORLD, q(2), ierr) !# c=1
    do i = 1, 3
      a = i + 10 * me
      call MPI_Startall(2, q, ierr) !# c=3 i=60 o=60 r=3 s=3
      call MPI_Waitall(2, q, ss, ierr) !# c=3
      call value('persistent', b)
    end do
    call MPI_Start(q(2), ierr) !# i=20 r=1
    call MPI_Start(q(1), ierr) !# o=20 s=1
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr) !# c=1
    call MPI_Request_free(q(1), ierr) !# c=1
    call MPI_Request_free(q(2), ierr) !# c=1
  end subroutine

  ! What is not significant at a rank is rubbish there: an array never allocated, a number that is no type.
  subroutine rooted(root)
    integer, intent(in) :: root
    integer :: a(4), i, n
    integer, allocatable :: all(:), counts(:), at(:)
    TYPE_T :: other

    n = -77
    other = MPI_DATATYPE_NULL
    if (me == root) then
      allocate (all(4 * np), counts(np), at(np))
      counts = [(mod(i, 3), i = 0, np - 1)]
      at = [(4 * i, i = 0, np - 1)]
      all = [(i, i = 1, 4 * np)]
      n = 4
      other = MPI_INTEGER
    end if
    a = me
    call MPI_Bcast(a, 4, MPI_INTEGER, root, MPI_COMM_WORLD, ierr) !# i=16*(r>0) o=16*(P-1)*(r==0) l=1
    call MPI_Reduce(a, all, 4, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr) !# i=16*(P-1)*(r==0) o=16*(r>0) l=1
    if (me == root) call value('reduce', all)
    call MPI_Gather(a, 4, MPI_INTEGER, all, n, other, root, MPI_COMM_WORLD, ierr) !# i=16*P*(r==0) o=16 l=1
    if (me == root) call value('gather', all)
    call MPI_Scatter(all, n, other, a, 4, MPI_INTEGER, root, MPI_COMM_WORLD, ierr) !# i=16 o=16*P*(r==0) l=1
    call value('scatter', a)
    call MPI_Gatherv(a, mod(me, 3), MPI_INTEGER, all, counts, at, other, root, MPI_COMM_WORLD, ierr) !# i=(r==0)*4*sum(k%3 for k in range(P)) o=4*(r%3) l=1
    if (me == root) call value('gatherv', all)
    call MPI_Scatterv(all, counts, at, other, a, mod(me, 3), MPI_INTEGER, root, MPI_COMM_WORLD, ierr) !# i=4*(r%3) o=(r==0)*4*sum(k%3 for k in range(P)) l=1
    call value('scatterv', a)
    if (me == root) then
      call MPI_Gather(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, all, 4, MPI_INTEGER, root, MPI_COMM_WORLD, ierr) !# c=r==0 i=16*P*(r==0) o=16*(r==0) l=r==0
      call value('gather in place', all)
      call MPI_Scatter(all, 4, MPI_INTEGER, MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD, ierr) !# c=r==0 i=16*(r==0) o=16*P*(r==0) l=r==0
      call MPI_Reduce(MPI_IN_PLACE, all, 4, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr) !# c=r==0 i=16*(P-1)*(r==0) l=r==0
      call value('reduce in place', all)
    else
      call MPI_Gather(a, 4, MPI_INTEGER, all, n, other, root, MPI_COMM_WORLD, ierr) !# c=r>0 o=16*(r>0) l=r>0
      call MPI_Scatter(all, n, other, a, 4, MPI_INTEGER, root, MPI_COMM_WORLD, ierr) !# c=r>0 i=16*(r>0) l=r>0
      call MPI_Reduce(a, all, 4, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr) !# c=r>0 o=16*(r>0) l=r>0
    end if
  end subroutine

  subroutine everybody
    integer :: a(64), b(64), counts(16), at(16), i
    TYPE_T :: kinds(16)
    REQUEST_T :: q

    a = [(me + i, i = 1, 64)]
    b = -1
    counts = 1
    at = [(i - 1, i = 1, 16)]
    kinds = MPI_INTEGER
    call MPI_Barrier(MPI_COMM_WORLD, ierr) !# l=1
    call MPI_Allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr) !# i=8*P o=8*P l=1
    call value('allgather', b)
    call MPI_Allgatherv(a, 1, MPI_INTEGER, b, counts, at, MPI_INTEGER, MPI_COMM_WORLD, ierr) !# i=4*P o=4*P l=1
    call value('allgatherv', b)
    call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr) !# i=4*P o=4*P l=1
    call value('alltoall', b)
    call MPI_Alltoallv(a, counts, at, MPI_INTEGER, b, counts, at, MPI_INTEGER, MPI_COMM_WORLD, ierr) !# i=4*P o=4*P l=1
    call value('alltoallv', b)
    at = 4 * at
    call MPI_Alltoallw(a, counts, at, kinds, b, counts, at, kinds, MPI_COMM_WORLD, ierr) !# i=4*P o=4*P l=1
    call value('alltoallw', b)
    call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr) !# i=4*(P-1) o=4*(P-1) l=1
    call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr) !# i=8*(P-1) o=8*(P-1) l=1
    call MPI_Scan(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr) !# i=4*(r>0) o=4*(r<P-1) l=1
    call value('scan', b)
    call MPI_Iallreduce(a, b, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, q, ierr) !# i=12*(P-1) o=12*(P-1) l=1
    call MPI_Wait(q, MPI_STATUS_IGNORE, ierr) !# c=1
    call value('iallreduce', b)
    call MPI_Ibarrier(MPI_COMM_WORLD, q, ierr) !# l=1
    call MPI_Wait(q, MPI_STATUS_IGNORE, ierr) !# c=1
  end subroutine

  subroutine in_place
    integer :: b(64), zero(16), counts(16), at(16), i
    TYPE_T :: kinds(16), none(16)

    b = [(me * i, i = 1, 64)]
    zero = 0
    counts = 1
    at = [(4 * (i - 1), i = 1, 16)]
    kinds = MPI_INTEGER
    none = MPI_DATATYPE_NULL
    call MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr) !# i=12*(P-1) o=12*(P-1) l=1
    call value('allreduce', b)
    call MPI_Allgather(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, b, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr) !# i=8*P o=8*P l=1
    call value('allgather', b)
    call MPI_Alltoall(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, b, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr) !# i=8*P o=8*P l=1
    call value('alltoall', b)
    call MPI_Alltoallw(MPI_IN_PLACE, zero, zero, none, b, counts, at, kinds, MPI_COMM_WORLD, ierr) !# i=4*P o=4*P l=1
    call value('alltoallw', b)
  end subroutine

  subroutine reductions
    integer :: a(3), b(3)
    OP_T :: op
    logical :: commutes

    call MPI_Op_create(larger, .true., op, ierr) !# c=1
    call MPI_Op_commutative(op, commutes, ierr) !# c=1
    a = [me, -me, 2 * me]
    call MPI_Allreduce(a, b, 3, MPI_INTEGER, op, MPI_COMM_WORLD, ierr) !# i=12*(P-1) o=12*(P-1) l=1
    call value('operation', b)
    call MPI_Reduce_local(a, b, 3, MPI_INTEGER, op, ierr) !# c=1
    call value('operation', b)
    call MPI_Op_free(op, ierr) !# c=1
    call note('commutes', commutes)
  end subroutine

  subroutine attributes
    integer :: keyval, plain
    integer(MPI_ADDRESS_KIND) :: extra, got
    COMM_T :: twin
    logical :: flag

    extra = 1000
    call MPI_Comm_create_keyval(copy_attribute, delete_attribute, keyval, extra, ierr) !# c=1
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, plain, extra, ierr) !# c=1
    extra = 5
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, extra, ierr) !# c=1
    call MPI_Comm_set_attr(MPI_COMM_WORLD, plain, extra, ierr) !# c=1
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr) !# c=1
    call MPI_Comm_get_attr(twin, keyval, got, flag, ierr) !# c=1
    call value('copied', [int(got), copies])
    call MPI_Comm_get_attr(twin, plain, got, flag, ierr) !# c=1
    call value('duplicated', [int(got)])
    call MPI_Comm_free(twin, ierr) !# c=1
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierr) !# c=1
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, plain, ierr) !# c=1
    call MPI_Comm_free_keyval(keyval, ierr) !# c=1
    call value('deleted', [deletes])
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, got, flag, ierr) !# c=1
    call note('tag ub', flag .and. got >= 32767)
  end subroutine

  subroutine errors
    ERRHANDLER_T :: handler, before
    integer :: a(2), class, code
    REQUEST_T :: q

    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, before, ierr) !# c=1
    call MPI_Comm_create_errhandler(handle_error, handler, ierr) !# c=1
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr) !# c=1
    call MPI_Send(a, 2, MPI_INTEGER, np + 5, 0, MPI_COMM_WORLD, code) !# c=1
    call MPI_Error_class(code, class, ierr) !# c=1
    call value('handled', [handled, merge(1, 0, handled_code == class), merge(1, 0, class == MPI_ERR_RANK)])
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr) !# c=1
    call MPI_Isend(a, -2, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, q, code) !# c=1
    call MPI_Error_class(code, class, ierr) !# c=1
    call note('count', class == MPI_ERR_COUNT)
    call MPI_Bcast(a, 2, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, code) !# c=1
    call MPI_Error_class(code, class, ierr) !# c=1
    call note('type', class == MPI_ERR_TYPE)
#ifdef F08
    ! Without ierror: the error code is lost, nothing else is.
    call MPI_Send(a, 2, MPI_INTEGER, np + 5, 0, MPI_COMM_WORLD) !# c=1
    call MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_SELF) !# l=1
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, before) !# c=1
    call MPI_Barrier(MPI_COMM_WORLD) !# l=1
#else
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, before, ierr) !# c=1
#endif
    call MPI_Errhandler_free(handler, ierr) !# c=1
  end subroutine

  subroutine generalized
    REQUEST_T :: q
    STATUS_T :: s
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: n

    extra = 6
    call MPI_Grequest_start(query_request, free_request, cancel_request, extra, q, ierr) !# c=1
    call MPI_Grequest_complete(q, ierr) !# c=1
    call MPI_Wait(q, s, ierr) !# c=1
    call MPI_Get_elements(s, MPI_INTEGER, n, ierr) !# c=1
    call value('generalized', [queries, frees, cancels, n, SOURCE_OF(s), TAG_OF(s)])
  end subroutine

  subroutine graphs
    COMM_T :: ring
    integer :: from(1), to(1), weights_in(1), weights_out(1), n_in, n_out, x(1), y(1)
    integer(MPI_ADDRESS_KIND) :: at(1)
    TYPE_T :: kinds(1)
    logical :: weighted

    from = mod(me + np - 1, np)
    to = mod(me + 1, np)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierr) !# c=1
    call MPI_Dist_graph_neighbors_count(ring, n_in, n_out, weighted, ierr) !# c=1
    call note('weighted', weighted)
    call value('degrees', [n_in, n_out])
    call MPI_Dist_graph_neighbors(ring, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, ierr) !# c=1
    call value('unweighted', [from, to])
    x = me
    call MPI_Neighbor_allgather(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, ring, ierr) !# i=4 o=4 l=1
    call value('neighbor', y)
    ! One type: Open MPI 4.1's Fortran takes as many as there are ranks, not neighbours.
    kinds = MPI_INTEGER
    at = 0
    call MPI_Neighbor_alltoallw(x, [1], at, kinds, y, [1], at, kinds, ring, ierr) !# i=4 o=4 l=1
    call value('alltoallw', y)
    call MPI_Comm_free(ring, ierr) !# c=1
    weights_in = 3
    weights_out = 4
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, weights_in, 1, to, weights_out, MPI_INFO_NULL, .false., ring, ierr) !# c=1
    call MPI_Dist_graph_neighbors(ring, 1, from, weights_in, 1, to, weights_out, ierr) !# c=1
    call value('weights', [weights_in, weights_out])
    call MPI_Comm_free(ring, ierr) !# c=1
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, from, MPI_WEIGHTS_EMPTY, 0, to, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., ring, ierr) !# c=1
    call MPI_Dist_graph_neighbors_count(ring, n_in, n_out, weighted, ierr) !# c=1
    call note('weighted', weighted)
    call MPI_Comm_free(ring, ierr) !# c=1
  end subroutine

  subroutine neighbours
    COMM_T :: line
    integer :: x(2), y(2), coords(1), low, high

    call MPI_Cart_create(MPI_COMM_WORLD, 1, [np], [.false.], .false., line, ierr) !# c=1
    call MPI_Cart_coords(line, me, 1, coords, ierr) !# c=1
    call MPI_Cart_shift(line, 0, 1, low, high, ierr) !# c=1
    call value('shift', [coords, low, high])
    x = me
    y = -1
    call MPI_Neighbor_allgather(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, line, ierr) !# i=4*((r>0)+(r<P-1)) o=4*((r>0)+(r<P-1)) l=1
    call value('allgather', y)
    call MPI_Comm_free(line, ierr) !# c=1
  end subroutine

  ! Even and odd ranks, and what goes between them.
  subroutine groups
    COMM_T :: half, between
    integer :: root, x(1), part

    part = mod(me, 2)
    call MPI_Comm_split(MPI_COMM_WORLD, part, me, half, ierr) !# c=1
    if (np > 1) then
      call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - part, 9, between, ierr) !# c=P>1
      root = MPI_PROC_NULL
      if (me == 0) root = MPI_ROOT
      if (part == 1) root = 0
      x = me + 50
      call MPI_Bcast(x, 1, MPI_INTEGER, root, between, ierr) !# c=P>1 i=4*(r%2) o=4*(P//2)*(r==0) l=P>1
      call value('between', x)
      call MPI_Comm_free(between, ierr) !# c=P>1
    end if
    call MPI_Comm_free(half, ierr) !# c=1
  end subroutine

  subroutine types
    TYPE_T :: column, real10
    integer(MPI_ADDRESS_KIND) :: low, extent
    integer :: bytes, a(4, 4), i, at
    character :: buffer(100)
    integer(MPI_ADDRESS_KIND) :: place

    call MPI_Type_vector(4, 1, 4, MPI_INTEGER, column, ierr) !# c=1
    call MPI_Type_commit(column, ierr) !# c=1
    call MPI_Type_size(column, bytes, ierr) !# c=1
    call MPI_Type_get_extent(column, low, extent, ierr) !# c=1
    call value('vector', [bytes, int(low), int(extent)])
    a = reshape([(i + 100 * me, i = 1, 16)], [4, 4])
    call MPI_Bcast(a(2, 1), 1, column, 0, MPI_COMM_WORLD, ierr) !# i=16*(r>0) o=16*(P-1)*(r==0) l=1
    call value('column', reshape(a, [16]))
    call MPI_Type_free(column, ierr) !# c=1
    call MPI_Type_create_f90_real(10, MPI_UNDEFINED, real10, ierr) !# c=1
    call MPI_Type_size(real10, bytes, ierr) !# c=1
    call value('f90 real', [bytes])
    at = 0
    call MPI_Pack(a, 3, MPI_INTEGER, buffer, 100, at, MPI_COMM_WORLD, ierr) !# c=1
    call value('pack', [at])
    place = 0
    call MPI_Pack_external('external32', a, 3, MPI_INTEGER, buffer, 100_MPI_ADDRESS_KIND, place, ierr) !# c=1
    call value('pack external', [int(place), ichar(buffer(4))])
  end subroutine

  subroutine strings
    character(len=MPI_MAX_OBJECT_NAME) :: object
    character(len=30) :: text
    INFO_T :: info
    COMM_T :: twin
    integer :: length
    logical :: flag

    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr) !# c=1
    call MPI_Comm_set_name(twin, 'a name  ', ierr) !# c=1
    object = repeat('#', len(object))
    call MPI_Comm_get_name(twin, object, length, ierr) !# c=1
    call note('<'//object//'>', length == 6)
    call MPI_Comm_free(twin, ierr) !# c=1
    call MPI_Info_create(info, ierr) !# c=1
    call MPI_Info_set(info, ' key ', '  the value ', ierr) !# c=1
    text = repeat('#', 30)
    call MPI_Info_get(info, 'key', 30, text, flag, ierr) !# c=1
    call note('<'//text//'>', flag)
    call MPI_Info_get_valuelen(info, 'key', length, flag, ierr) !# c=1
    call value('length', [length])
    call MPI_Info_free(info, ierr) !# c=1
  end subroutine

  subroutine files
    FILE_T :: file
    integer :: a(3), b(3)
    integer(MPI_OFFSET_KIND) :: at
    STATUS_T :: s

    a = me + 7
    b = -1
    at = 12 * me
    call MPI_File_open(MPI_COMM_WORLD, 'conform.data', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, ierr) !# c=1
    call MPI_File_write_at_all(file, at, a, 3, MPI_INTEGER, s, ierr) !# c=1
    call MPI_File_sync(file, ierr) !# c=1
    call MPI_Barrier(MPI_COMM_WORLD, ierr) !# l=1
    call MPI_File_sync(file, ierr) !# c=1
    call MPI_File_read_at(file, at, b, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierr) !# c=1
    call value('file', b)
    call MPI_File_close(file, ierr) !# c=1
  end subroutine

  subroutine windows
    WIN_T :: window
    integer, target :: cell(2)
    integer :: x(1)
    integer(MPI_ADDRESS_KIND) :: bytes

    if (np < 2) return ! Open MPI 4.1 has no windows on a single process without a network
    cell = -me
    x = me
    bytes = 8
    call MPI_Win_create(cell, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierr) !# c=P>1
    call MPI_Win_fence(0, window, ierr) !# c=P>1
    bytes = 1
    call MPI_Put(x, 1, MPI_INTEGER, mod(me + 1, np), bytes, 1, MPI_INTEGER, window, ierr) !# c=P>1 o=4*(P>1)
    call MPI_Win_fence(0, window, ierr) !# c=P>1
    call value('window', cell)
    call MPI_Win_free(window, ierr) !# c=P>1
  end subroutine

  subroutine controlled
    integer :: a(2), b(2)

    a = me
    call MPI_Pcontrol(0) !# c=0
    call MPI_Allreduce(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr) !# c=0
    call MPI_Pcontrol(1) !# c=0
    call MPI_Allreduce(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr) !# i=8*(P-1) o=8*(P-1) l=1
    call value('controlled', b)
  end subroutine

#ifdef F77
  ! Of MPI 1, gone from C's header and still in Fortran's library.
  subroutine removed
    integer :: bytes, pair

    call MPI_Type_extent(MPI_DOUBLE_PRECISION, bytes, ierr) !# c=1
    call MPI_Type_struct(2, [1, 1], [0, 8], [MPI_INTEGER, MPI_DOUBLE_PRECISION], pair, ierr) !# c=1
    call MPI_Type_free(pair, ierr) !# c=1
    call value('removed', [bytes])
  end subroutine
#endif
end program
