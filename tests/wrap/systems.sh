#!/bin/sh
# Build systems with the wrapper as the compiler: CMake and autoconf find out the same, build, and give instrumented programs.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
command -v gcc >/dev/null || skip "gcc is not installed"
command -v cmake >/dev/null || command -v autoconf >/dev/null || skip "neither cmake nor autoconf is installed"

mkdir -p src/lib
cat >src/main.c <<'X'
#include <stdio.h>
int work(void);
int main(void)
{
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    n += work();
    return printf("%d\n", n) < 0;
}
X
cat >src/lib/work.c <<'X'
int work(void)
{
#pragma omp barrier
    return 1;
}
X
cat >src/CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.10)
project(both C)
find_package(OpenMP REQUIRED)
include(CheckFunctionExists)
include(CheckCSourceCompiles)
check_function_exists(strlcpy_none HAVE_NONE)
check_function_exists(puts HAVE_PUTS)
check_c_source_compiles("int main(void) { return undeclared; }" HAVE_BAD)
if(HAVE_NONE OR HAVE_BAD OR NOT HAVE_PUTS)
  message(FATAL_ERROR "tests of the compiler go wrong")
endif()
add_library(work SHARED lib/work.c)
target_link_libraries(work PRIVATE OpenMP::OpenMP_C)
add_executable(prog main.c)
target_link_libraries(prog PRIVATE work OpenMP::OpenMP_C)
X
measured() { OMPP_REPORTFILE=r.txt ./$1 >out && grep -qx 2 out && grep -q "PARALLEL: 1 region" r.txt && grep -q "BARRIER: 1 region" r.txt; }

if command -v cmake >/dev/null; then
    mkdir one && cd one || exit 1
    ln -s "$kinst" "$scratch/kinst-ompp-gcc"
    claim "cmake with a compiler of one word" cmake -DCMAKE_C_COMPILER="$scratch/kinst-ompp-gcc" ../src
    claim "builds" cmake --build .
    claim "and measures" measured prog
    mkdir ../two && cd ../two || exit 1
    claim "cmake with the wrapper in front" cmake -DCMAKE_C_COMPILER=gcc -DCMAKE_C_COMPILER_LAUNCHER="$kinst" \
        -DCMAKE_C_LINKER_LAUNCHER="$kinst" -DCMAKE_C_USE_RESPONSE_FILE_FOR_OBJECTS=1 ../src
    claim "builds" cmake --build .
    cd ..
fi

if command -v autoconf >/dev/null; then
    cat >src/configure.ac <<'X'
AC_INIT([both], [1])
AC_PROG_CC
AC_OPENMP
AC_C_INLINE
AC_C_BIGENDIAN
AC_CHECK_FUNCS([puts strlcpy_none])
AC_CHECK_HEADERS([stdio.h none.h])
AC_CHECK_SIZEOF([long])
AC_SEARCH_LIBS([sin], [m])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
X
    printf 'prog: main.o work.o\n\t@CC@ @CFLAGS@ @OPENMP_CFLAGS@ main.o work.o -o $@ @LIBS@\n%%.o: @srcdir@/%%.c\n\t@CC@ @CFLAGS@ @OPENMP_CFLAGS@ -c $< -o $@\n%%.o: @srcdir@/lib/%%.c\n\t@CC@ @CFLAGS@ @OPENMP_CFLAGS@ -c $< -o $@\n' >src/Makefile.in
    claim "autoconf" sh -c 'cd src && autoconf'
    mkdir plain auto
    (cd plain && ../src/configure CC=gcc >out 2>err)
    cd auto || exit 1
    claim "configure" ../src/configure CC="$kinst gcc"
    ../src/configure CC="$kinst gcc" >out 2>err
    grep '^checking' out | sed "s|$kinst gcc|gcc|" >a
    grep '^checking' ../plain/out >b
    claim "finds out the same" diff a b
    claim "and says no more" cmp err ../plain/err
    claim "make" make
    claim "and measures" measured prog
    cd ..
fi
end_test
