C     Allocations in statements over several lines, as in statements.c.
      PROGRAM STATEMENTS
      REAL*8, ALLOCATABLE :: X(:), Y(:)
C     > arguments
      ALLOCATE(X(
     &  10
     1  ))
C     <
      CALL FILL(X)
      PRINT '(A)', 'arguments 0 10'
C     > keyword
      ALLO
     XCATE
C     a comment

     *(Y(20))
C     <
      CALL FILL(Y)
      PRINT '(A)', 'keyword 0 20'
      CONTAINS
      SUBROUTINE FILL(X)
      REAL*8, VOLATILE :: X(:)
      INTEGER K
      DO K = 1, SIZE(X)
        X(K) = K
      END DO
      END SUBROUTINE
      END
