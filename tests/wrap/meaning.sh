#!/bin/sh
# The instrumented program computes what the user's does, whatever way C and C++ are written, and is still instrumented.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
export OMP_NUM_THREADS=4
gxx=$(command -v g++ || true)

# as_before TEXT COMPILER FILE: prints the same, and the whole file is instrumented.
as_before()
{
    rm -f plain prog report.txt
    claim "$1: the compiler builds" $2 -w -fopenmp $3 -o plain
    claim "$1: builds" $kinst $2 -w -fopenmp $3 -o prog
    claim "$1: same result" same "$(OMPP_REPORTFILE=report.txt ./prog)" "$(./plain)"
    claim "$1: instrumented" instrumented prog
    claim "$1: all of it" not grep -q 'compiled without instrumentation' report.txt
}

# Conditions that are no int.
cat >if.c <<'X'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    double half = 0.5;
    long big = 1L << 32;
    int n = 0;
#pragma omp parallel if(half)
#pragma omp single
    n = omp_get_num_threads();
    printf("%d\n", n);
#pragma omp parallel if(parallel: big)
#pragma omp single
    n = omp_get_num_threads();
    printf("%d\n", n);
#pragma omp parallel for if(parallel : half) num_threads(3)
    for (int i = 0; i < 3; i++) n = omp_get_num_threads();
    printf("%d\n", n);
#pragma omp parallel for if(big) num_threads(3) lastprivate(n)
    for (int i = 0; i < 3; i++) n = omp_get_num_threads();
    printf("%d\n", n);
#pragma omp parallel sections if(n > 5 ? 0 : half)
    {
        n = omp_get_num_threads();
    }
    printf("%d\n", n);
    return 0;
}
X
as_before "conditions" gcc if.c
cat >if.cc <<'X'
#include <cstdio>
#include <memory>
int main()
{
    std::shared_ptr<int> set(new int(2)), empty;
    int n = 0;
#pragma omp parallel if(set) num_threads(2) reduction(+ : n)
    n++;
#pragma omp parallel if(empty) num_threads(2) reduction(+ : n)
    n++;
    return std::printf("%d\n", n) < 0;
}
X
test -z "$gxx" || as_before "objects as conditions" g++ if.cc

# Constructs without braces in each other.
cat >bare.c <<'X'
#include <stdio.h>
int main(void)
{
    int n = 0, h[4] = {0};
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
#pragma omp atomic
        h[i & 3]++;
#pragma omp parallel
#pragma omp atomic
    n++;
#pragma omp parallel
#pragma omp single
#pragma omp task
#pragma omp atomic
    n++;
#pragma omp parallel sections
    {
#pragma omp section
#pragma omp atomic
        n++;
#pragma omp section
#pragma omp critical
        n++;
    }
    return printf("%d %d\n", n, h[1]) < 0;
}
X
as_before "atomic without braces" gcc bare.c

# Programs that are not there.
for path in /nonexistent ./bare.c; do
    claim "--opari=$path says so" same "$($kinst --opari=$path gcc -fopenmp bare.c 2>&1)" \
        "kinst-ompp: --opari=$path: there is no such program"
    $kinst --opari=$path gcc -fopenmp bare.c 2>/dev/null; claim "--opari=$path: status 2" same $? 2
done
end_test
