#!/bin/sh
# The oldest LLVM OpenMP library we speak to: the same counts, by OMP_TOOL_LIBRARIES and by preload.
clang=${TEST_CLANG:-clang-19}
command -v "$clang" >/dev/null 2>&1 || { echo "SKIP: no $clang"; exit 77; }
[ -n "$OMPP_TEST_LIBOMP14" ] || { echo "SKIP: OMPP_TEST_LIBOMP14 is not set (scripts/check unpacks libomp 14)"; exit 77; }
omp=$(find "$OMPP_TEST_LIBOMP14" -name libomp.so.5 2>/dev/null | grep llvm-14 | head -1)
[ -n "$omp" ] || { echo "SKIP: no libomp 14 in $OMPP_TEST_LIBOMP14"; exit 77; }
new=$(ls /usr/lib/llvm-*/lib/libomp.so 2>/dev/null | tail -1)
[ -n "$new" ] || { echo "SKIP: no libomp to link with"; exit 77; }
lib=$abs_top_builddir/.libs/libompp.so
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ompp-libomp14.XXXXXX") || exit 1
trap 'cd /; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
"$clang" -g -fopenmp "$abs_top_srcdir/tests/omp/critical.c" -o program -L"${new%/*}" || { echo "SKIP: $clang cannot link OpenMP"; exit 77; }
export LD_LIBRARY_PATH="${omp%/*}" OMP_NUM_THREADS=2
ldd program | grep -q "$omp" || { echo "not ok - the program would not run with $omp"; exit 1; }
failed=0
OMP_TOOL_LIBRARIES=$lib ./program >out.tool || failed=1
LD_PRELOAD=$lib ./program >out.preload || failed=1
for n in 0 1; do
    grep -q "CRITICAL: " program.2-$n.ompp.txt || { echo "not ok - report $n has no critical section"; failed=1; }
done
cmp out.tool out.preload || failed=1
exit $failed
