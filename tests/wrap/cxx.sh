#!/bin/sh
# kinst-ompp with C++ and with clang through OPARI2.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
cat >a.cpp <<'X'
#include <cstdio>
#include <vector>
#include <omp.h>
template <typename T> static T sum(const std::vector<T> &v)
{
    T total = 0;
#pragma omp parallel for reduction(+ : total)
    for (std::size_t i = 0; i < v.size(); i++) total += v[i];
    return total;
}
int main()
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    std::printf("%d %s\n", sum(std::vector<int>(10, 2)), R"(#pragma omp inst begin(x))");
    omp_unset_lock(&lock);
    return 0;
}
X
for compiler in g++ "--with=opari clang++-19" mpicxx; do
    command -v ${compiler##* } >/dev/null || continue
    rm -f a a.o
    claim "$compiler compiles" $kinst $compiler -g -O2 -Wall -fopenmp -c a.cpp
    claim "$compiler: instrumented" sh -c 'nm a.o | grep -q ompp_pomp2_fork && nm a.o | grep -q POMP2_Set_lock'
    claim "$compiler links" $kinst $compiler -fopenmp a.o -o a
    claim "$compiler runs" same "$(OMPP_OUTDIR=$scratch ./a)" "20 #pragma omp inst begin(x)"
done
end_test
