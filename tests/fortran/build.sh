#!/bin/sh
# kinst-ompp with gfortran: forms and suffixes, modules, include files, preprocessing, options, messages, debug information,
# sources that OPARI2 breaks. Whatever it does inside, the build looks as it would without it.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
command -v gfortran >/dev/null || skip "gfortran is not installed (Debian package: gfortran)"
unset OMPP_QUIET

new() { rm -rf "$scratch/work"; mkdir "$scratch/work"; cd "$scratch/work" || exit 1; }
fc() { "$kinst" gfortran -fopenmp "$@"; }
has() { nm "$1" | grep -qi 'pomp2_\|ompp_f_'; }
run() { OMP_NUM_THREADS=2 OMPP_REPORTFILE="$scratch/report" OMPP_QUIET=1 "$@"; }
reported() { grep -q "$1" "$scratch/report"; }
free()
{
    printf '%s\n' 'program p' '  implicit none' '  integer :: n' '  n = 0' '  !$omp parallel reduction(+:n)' '  n = 1' \
        '  !$omp end parallel' "  print '(i0)', n" 'end program p'
}
fixed() { free | sed 's/^ *\(![$]\)/\1/; s/^ *\([a-z]\)/      \1/'; }

for suffix in f90 F90 f95 F95 f03 F03 f08 F08; do
    new; free >a.$suffix
    claim ".$suffix" fc -c a.$suffix
    claim ".$suffix is instrumented" has a.o
done
for suffix in f F for FOR ftn FTN fpp FPP; do
    new; fixed >a.$suffix
    claim ".$suffix" fc -c a.$suffix
    claim ".$suffix is instrumented" has a.o
done
new; free >a.f; fixed >b.f90; free >c.x
claim "-ffree-form" fc -ffree-form -c a.f
claim "-ffixed-form" fc -ffixed-form -c b.f90
claim "-x f95" fc -x f95 -c c.x -o c.o
for o in a b c; do claim "$o.o is instrumented" has $o.o; done

fails() { printf '%s\n' 'program p' '  real(8), allocatable :: a(:)' '  !$omp parallel' '  !$omp end parallel' \
    '  allocate(a(4000000000000000_8))' '  a(1) = 1' '  print *, a(1)' 'end program p'; }
said() { "$@" 2>&1 | grep "Error allocating"; }
new; mkdir src; fails >src/a.f90; fails | sed 's/^ *\(![$]\)/\1/; s/^ *\([a-z]\)/      \1/' >src/b.f
for source in src/a.f90 src/b.f; do
    gfortran -g -fopenmp $source -o plain && fc -g $source -o made
    claim "$source: a failed ALLOCATE names the user's file" same "$(OMPP_QUIET=1 said ./made)" "$(said ./plain)"
    claim "$source is instrumented" has made
done

new; fixed | sed 's/^      n = 1/      n = 1                                                             + 1 - 1/' >a.f
claim "a line that ends at column 72 otherwise" fc -ffixed-line-length-132 a.f
claim "gives the same" same "$(run ./a.out)" 2
fixed | sed 's/^!$omp parallel.*/&                                            this is no clause/' >b.f
claim "what stands behind column 72 of a directive" fc b.f
claim "is a comment" same "$(run ./a.out)" 2
claim "instrumented" reported 'b.f (5-7)'

# Every name of a compiler.
new; mkdir bin; free >a.f90
for name in gfortran mpifort mpif90 mpif77; do
    command -v $name >/dev/null || continue
    claim "kinst-ompp $name" "$kinst" $name -fopenmp -c a.f90 -o $name.o
    claim "instruments" has $name.o
    ln -s "$kinst" bin/kinst-ompp-$name
done

# Modules.
new; mkdir src mod
cat >src/m.f90 <<'X'
module m
  implicit none
  integer :: n = 0
contains
  subroutine work(a)
    integer, intent(inout) :: a(:)
    integer :: i
    !$omp parallel do
    do i = 1, size(a)
      a(i) = i
    end do
    !$omp critical
    n = n + 1
    !$omp end critical
  end subroutine work
end module m
X
cat >src/p.f90 <<'X'
program p
  use m, only: work, n
  integer :: a(10)
  !$omp parallel
  !$omp single
  call work(a)
  !$omp end single
  !$omp end parallel
  print '(i0, 1x, i0)', sum(a), n
end program p
X
claim "module with -J" fc -g -Jmod -c src/m.f90 -o m.o
claim "use of it" fc -g -Imod -c src/p.f90 -o p.o
claim "link" fc m.o p.o -o prog
claim "run" same "$(run ./prog)" "55 1"
claim "lines of the module" reported 'm.f90 (8-11)'
claim "files" same "$(ls -d * mod/* | tr '\n' ' ')" "m.o mod mod/m.mod p.o prog src "
claim "the module serves a build without the wrapper" gfortran -fopenmp -Imod -c src/p.f90 -o plain.o
new; mkdir src; printf 'module m\ninteger :: k = 3\nend module\n' >src/m.f90
printf 'program p\nuse m\n!$omp parallel\n!$omp end parallel\nprint "(i0)", k\nend\n' >src/p.f90
claim "several sources at once" fc src/m.f90 src/p.f90 -o prog
claim "run" same "$(run ./prog)" 3
claim "the module lies here" files_are "m.mod prog src"

# Include files: beside the source, of -I, by the preprocessor; with implicit none inside; directives in them are named.
new; mkdir src inc
cat >src/p.F90 <<'X'
#include "head.h"
      subroutine s(n)
      include 'none.inc'
      integer n
#include "loop.h"
      end subroutine s
      program p
      include 'far.inc'
      n = 0
      !$omp parallel
      !$omp master
      call s(n)
      !$omp end master
      !$omp end parallel
      n = n + ONE
      print '(i0)', n
      end program p
X
echo '#define ONE 1' >src/head.h
echo '      implicit none' >src/none.inc
echo '      integer n' >inc/far.inc
printf '      !$omp parallel num_threads(1)\n      n = n + 1\n      !$omp end parallel\n' >src/loop.h
claim "include files" fc -g -Iinc src/p.F90 -o prog
claim "run" same "$(run ./prog)" 2
claim "the rest is instrumented" reported 'p.F90 (10-14)'
claim "directives in an include file are named" reported 'src/loop.h (OpenMP directives in an include file'

# Debug information and messages name the user's file and line.
claim "debug information names the source" sh -c 'readelf --debug-dump=info prog | grep -q "DW_AT_name.*: src/p.F90"'
claim "and no private file" sh -c '! readelf --debug-dump=info,rawline prog | grep -q kinst-ompp'
if command -v gdb >/dev/null; then
    gdb -batch -ex 'break p.F90:9' -ex run -ex 'info line' prog >gdb.log 2>&1
    claim "gdb stops at the line" grep -q 'p.F90:9' gdb.log
fi
new; free >a.f90; sed -i 's/n = 0/nn = 0/' a.f90
fc -c a.f90 2>ours; status=$?; gfortran -fopenmp -c a.f90 2>theirs
claim "an error has the compiler's status" same "$status" 1
claim "and its message" cmp ours theirs
free >a.f90; sed -i 's/integer :: n/integer :: n, unused/' a.f90
gfortran -fopenmp -Wall -c a.f90 2>theirs; fc -Wall -c a.f90 2>ours
claim "warnings are the compiler's" cmp ours theirs
claim "and the object is instrumented" has a.o
free >a.f90
claim "-Wall -Wextra -Werror -std=f2008" fc -Wall -Wextra -Werror -std=f2008 -c a.f90
claim "instruments" has a.o

# Options that change what numbers and names are.
for options in "-fdefault-integer-8" "-fno-underscoring" "-O3 -flto" "-pipe" "-fcheck=all" "-fimplicit-none" "-cpp" "-fPIC -shared"; do
    new; free >a.f90
    claim "$options" fc $options -c a.f90
    claim "$options instruments" has a.o
    [ "$options" = "-fPIC -shared" ] && continue
    claim "$options links" fc $options a.o -o a
    claim "$options runs" same "$(run ./a)" 2
    claim "$options is measured" reported 'a.f90 (5-7)'
done
new; free >a.f90
claim "-static" fc -static a.f90 -o a

# Where OPARI2 puts no declarations, or not at the right place.
new
cat >a.F90 <<'X'
module m
  implicit none
  interface
    module subroutine work(n)
      integer, intent(inout) :: n
    end subroutine work
  end interface
end module m
submodule (m) s
contains
  module procedure work
    !$omp parallel reduction(+:n)
    n = 1
    !$omp end parallel
  end procedure work
end submodule s
  function twice(n) result(m)
#ifdef OTHER
  use nothing
#else
  implicit none
#endif
  integer, intent(in) :: n
  integer :: m
  m = 0
  !$omp parallel reduction(+:m)
  m = 2
  !$omp end parallel
  end function twice
  use m
  integer :: n, twice
  n = 0
  call work(n)
  !$omp parallel default(private) shared(n)
  !$omp critical
  n = n + 1
  !$omp end critical
  !$omp end parallel
  print '(i0, 1x, i0)', n, twice(n)
end
X
claim "module procedures, #if, a program without PROGRAM" fc -g a.F90
claim "run" same "$(run ./a.out)" "4 4"
for place in 12-14 26-28 34-38; do claim "measured: $place" reported "a.F90 ($place)"; done

# Constructs that are passed by are named with their place; the rest of the file is measured.
new
cat >a.f90 <<'X'
program p
  implicit none
  integer :: i, a(10)
  !$omp parallel do ordered(1)
  do i = 1, 10
    !$omp ordered depend(sink: i - 1)
    a(i) = i
    !$omp ordered depend(source)
  end do
  !$omp end parallel do
  !$omp parallel
  !$omp masked
  a(1) = a(1) + 1
  !$omp end masked
  !$omp end parallel
  print '(i0)', sum(a)
end program p
X
claim "doacross" fc -g a.f90
claim "run" same "$(run ./a.out)" 56
claim "the loop is named" reported 'OpenMP parallel do ordered(n) (a.f90:4)'
claim "the rest is measured" reported 'a.f90 (11-15)'
claim "nothing else is missing" sh -c "! grep 'compiled without instrumentation' $scratch/report"

# Macros in clauses, and clauses that OPARI2 does not know.
new
cat >a.F90 <<'X'
#define THREADS 2
#define MANY(n) (n > 0)
program p
  implicit none
  integer :: i, a(10)
  !$omp parallel num_threads(THREADS) if (MANY(1))
  !$omp end parallel
  !$omp parallel do order(concurrent)
  do i = 1, 10
    a(i) = i
  end do
  print '(i0)', sum(a)
end program p
X
claim "macros in clauses" fc -g a.F90
claim "run" same "$(run ./a.out)" 55
claim "measured" reported 'a.F90 (6-7)'
claim "order is named" reported 'OpenMP parallel do order (a.F90:8)'

# Text constants of clauses in fixed form, where lines may become too long.
new
cat >a.f <<'X'
      PROGRAM P
      CHARACTER*3 C
      C = 'A z'
      N = 0
!$OMP PARALLEL IF(C.EQ.'A z'.AND.C.NE.'a Z'.AND.C.NE.'Az'.AND.C.NE.'x'
!$OMP&.AND.C.NE.'omp_set_lock(l)') NUM_THREADS(3) REDUCTION(+:N)
      N = 1
!$OMP END PARALLEL
      PRINT '(I0)', N
      END
X
claim "text constants in fixed form" fc -g a.f
claim "run" same "$(run ./a.out)" 3
claim "measured" reported 'a.f (5-8)'

# A source that OPARI2 must not do: user regions are measured all the same, and the report names the file.
new
cat >a.f90 <<'X'
program p
  implicit none
  integer :: i, n
  n = 0
  !$omp inst begin(whole)
  !$omp parallel do reduction(+:n)
  do i = 1, 10
    !$omp cancel do if(i > 10)
    n = n + i
  end do
  !$omp end parallel do
  !$omp inst end(whole)
  print '(i0)', n
end program p
X
claim "cancel" fc -g a.f90
claim "run" same "$(run ./a.out)" 55
claim "the user's region is measured" reported "a.f90 (5-12) ('whole')"
claim "Coverage names the file" reported 'compiled without instrumentation: .*a.f90 (it has cancel'

# Code that is never run is listed.
new; free >a.f90; printf 'subroutine never\n!$omp parallel\n!$omp end parallel\nend subroutine\n' >>a.f90
claim "a subroutine that nobody calls" fc -g a.f90
claim "run" same "$(run ./a.out)" 2
claim "its region is named" reported 'a.f90 (11-12)'

# Objects that OPARI2 made without the wrapper: all its names are there. Of inner it makes a race (the threads of a team share the
# variable that its conditions are put into), which the wrapper mends: what it counts is not known here.
library=$abs_top_builddir/.libs
for name in inner tasks sync; do
    new; cp "$abs_top_srcdir/tests/fortran/$name.f90" .
    opari2 --omp-task-untied=keep $name.f90 >/dev/null 2>&1
    claim "$name through OPARI2 alone" gfortran -w -fopenmp $name.mod.F90 -o a -Wl,--no-as-needed "$library/libompp.so" -Wl,-rpath,"$library"
    result=$(run ./a | tr -d ' ')
    [ "$name" = inner ] || claim "run" same "$result" \
        "$(${PYTHON3:-python3} -c 'import os, sys; T = 2; print(str(eval(sys.argv[1])).replace(" ", ""))' "$(sed -n 's/^result //p' "$abs_top_srcdir/tests/fortran/$name.facts")")"
    claim "measured" reported "R000.*$name.f90 ("
done

# C and Fortran in one program.
new; cp "$abs_top_srcdir/tests/fortran/mixed.f90" "$abs_top_srcdir/tests/fortran/mixed_c.c" .
claim "C and Fortran at once" fc -g mixed.f90 mixed_c.c -o a
claim "run" same "$(run ./a)" 4
for region in 'PARALLEL.*' 'mixed.f90 (9-11)' 'mixed_c.c (11-16)' 'mixed_c.c (24-25)'; do claim "measured: $region" reported "$region"; done

end_test
