c User regions in fixed form, by every sentinel; switches; constructs that are not to be instrumented.
      program user
      implicit none
      integer i, n
!$POMP INST INIT
      n = 0
! @first
!$pomp inst begin(first)
      do 10 i = 1, 3
! @second
c$pomp inst begin(second)
        n = n + 1
*$POMP INST END(second)
   10 continue
! @end first
C$POMP INST ALTEND(first)
      if (n .lt. 0) stop
! @third
!pomp$ inst begin(third)
! @fourth
!$omp inst begin( fourth )
      n = n + 1
c$omp inst end(fourth)
!pomp$ inst end(third)
!$pomp inst off
! @unseen
!$pomp inst begin(unseen)
      n = n + 1
!$pomp inst end(unseen)
!$pomp inst on
! @parallel
!$omp parallel
!$pomp noinstrument
!$omp barrier
!$pomp instrument
! @barrier
!$omp barrier
!$omp end parallel
      call deeper(n, 3)
      n = n +
!$pomp inst begin(nowhere)
     &    1
      print '(i0)', n
!$pomp inst finalize
      end
! Regions entered again while they are open.
      recursive subroutine deeper(n, level)
      integer n, level
! @deeper
!$pomp inst begin(deeper)
      n = n + 1
      if (level .gt. 1) call deeper(n, level - 1)
!$pomp inst end(deeper)
      end
