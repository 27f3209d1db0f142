#!/bin/sh
# A parallel region at the end of its function keeps its place in the source when clang optimises.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v "${TEST_CLANG:-clang}" >/dev/null || skip "clang is not installed"
test -f "$abs_top_builddir/.libs/libompp-report.so" || skip "no report library in the build tree"
cat >t.c <<'X2'
double a[100];
static __attribute__((noinline)) void region(void)
{
#pragma omp parallel for
    for (int i = 0; i < 100; i++) a[i] += 1;
}
int main(void)
{
    for (int k = 0; k < 3; k++)
        region();
    return a[3] != 3;
}
X2
export OMPP_REPORTFILE=report.txt OMP_NUM_THREADS=2
claim "build" $kinst "${TEST_CLANG:-clang}" -O2 -g -fopenmp t.c -o t
claim "run" ./t
claim "the region is in its own function" grep -q '^ \* R00001 t.c (4-5)$' report.txt
end_test
