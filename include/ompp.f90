! ompp's interface for Fortran programs: the same as ompp.h for C. "kinst-ompp gfortran ..." finds the module by itself; without it,
! compile this file once with your compiler (there is no code in it) and link with "ompp-config --libs".
!
! All procedures may be called on any thread at any time; none fails. Without measurement they do nothing.
module ompp
  implicit none
  public

  ! A user region begins, and ends, on this thread. It appears as USER REGION ('name'); blanks at the end of the name do not count.
  ! Regions nest and may be entered recursively. Equal names are one region; its place is the first call that began it.
  interface ompp_region_begin
    subroutine ompp_f_region_begin(name)
      character(len=*), intent(in) :: name
    end subroutine ompp_f_region_begin
  end interface ompp_region_begin

  interface ompp_region_end
    subroutine ompp_f_region_end(name)
      character(len=*), intent(in) :: name
    end subroutine ompp_f_region_end
  end interface ompp_region_end

  ! The bytes of a variable belong to a data structure of this name from now on: counters that can tell structures apart count for
  ! it (docs/data.md). ompp_release_drange: they no longer do; call it before the memory is given back.
  interface ompp_papi_set_drange
    subroutine ompp_f_papi_set_drange(data, nbytes, name)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: data
      type(*), intent(in) :: data(*)
      integer(kind=4), intent(in) :: nbytes
      character(len=*), intent(in) :: name
    end subroutine ompp_f_papi_set_drange

    subroutine ompp_papi_set_drange8(data, nbytes, name)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: data
      type(*), intent(in) :: data(*)
      integer(kind=8), intent(in) :: nbytes
      character(len=*), intent(in) :: name
    end subroutine ompp_papi_set_drange8
  end interface ompp_papi_set_drange

  interface ompp_release_drange
    subroutine ompp_f_release_drange(data)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: data
      type(*), intent(in) :: data(*)
    end subroutine ompp_f_release_drange
  end interface ompp_release_drange

  ! The program has done a unit of work of this kind (causal profiling, OMPP_CAUSAL); a unit begins, and ends, on any thread.
  interface ompp_progress
    subroutine ompp_f_progress(name)
      character(len=*), intent(in) :: name
    end subroutine ompp_f_progress
  end interface ompp_progress

  interface ompp_progress_begin
    subroutine ompp_f_progress_begin(name)
      character(len=*), intent(in) :: name
    end subroutine ompp_f_progress_begin
  end interface ompp_progress_begin

  interface ompp_progress_end
    subroutine ompp_f_progress_end(name)
      character(len=*), intent(in) :: name
    end subroutine ompp_f_progress_end
  end interface ompp_progress_end

  interface
    ! Starts measurement (optional: the first event does it).
    subroutine pomp_init()
    end subroutine pomp_init

    ! Measurement on, or off, for what is entered from now on, on all threads of this process.
    subroutine pomp_on()
    end subroutine pomp_on

    subroutine pomp_off()
    end subroutine pomp_off

    ! ompP's user regions by number: USER REGION ('n').
    subroutine pomp_begin(n)
      integer(kind=4), intent(in) :: n
    end subroutine pomp_begin

    subroutine pomp_end(n)
      integer(kind=4), intent(in) :: n
    end subroutine pomp_end

    ! Writes a report of this process now; it is marked incremental. Measurement goes on.
    subroutine ompp_dump()
    end subroutine ompp_dump
  end interface
end module ompp
