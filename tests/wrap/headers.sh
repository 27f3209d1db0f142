#!/bin/sh
# OpenMP directives that OPARI2 does not see, in headers and _Pragma: Coverage names the files, each once, and no others.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
test -f "$abs_top_builddir/.libs/libompp-report.so" || skip "no report library in the build tree"
mkdir src inc quote sys
loop() { printf 'static inline int %s(int n) {\n    int i, s = 0;\n%s\n    for (i = 0; i < n; i++) s++;\n    return s;\n}\n' "$1" "$2"; }
loop beside '#  pragma omp parallel for reduction(+ : s)' >src/beside.h
loop below '#pragma omp \
 parallel for reduction(+ : s)' >inc/below.h
echo '#include "below.h" /* found beside this one */' >inc/above.h
loop operator '_Pragma("omp parallel for reduction(+ : s)")' >quote/operator.h
{ echo '#define DO(x) _Pragma(#x)'; loop macro 'DO(omp parallel for reduction(+ : s))'; } >inc/macro.h
loop simd '#pragma omp simd reduction(+ : s)' >inc/simd.h
loop sys '#pragma omp parallel for reduction(+ : s)' >sys/sys.h
cat >inc/comment.h <<'E'
#ifndef COMMENT_H
#define COMMENT_H
/*
#pragma omp parallel
*/
// files of dir/* \
#pragma omp parallel
#include "comment.h"
#if 0
#if 1
#pragma omp parallel
#endif
_Pragma("omp parallel")
#else
#define TEXT "#pragma omp parallel _Pragma(\"omp parallel\") /*"
#endif
#pragma omp declare simd
int declared(int n);
#endif
E
cat >src/a.c <<'E'
#include "beside.h"
#include <above.h>
#include "operator.h"
#  include "comment.h"
#include <sys.h>
#include "missing.h"
// #include "macro.h"
int b(int n), c(int n);
int main(void)
{
    int n = 0;
#pragma omp parallel reduction(+ : n)
    n += 1;
    return n < 1 || beside(3) + below(3) + operator(3) + sys(3) + b(3) + c(3) != 18;
}
E
touch sys/missing.h
printf '#include "beside.h"\n#include <simd.h>\nint b(int n) { return beside(n) + simd(n) - n; }\n' >src/b.c
printf '#include "macro.h"\n#define PAR _Pragma("omp parallel for")\nint c(int n) {\n    int i;\nPAR\n    for (i = 0; i < n; i++) ;\n    return macro(n); }\n' >src/c.c
cp -r src src.before
options="-g -Wall -Wno-comment -Werror -fopenmp -Iinc -I sys/../inc -iquote quote -isystem sys"
for i in a b c; do claim "$i.c compiles" $kinst gcc $options -MMD -c src/$i.c; done
claim "nothing was said" same "$($kinst gcc $options -c src/a.c 2>&1)" ""
$kinst gcc $options -MMD -c src/b.c; cp b.d "$scratch/b.d"; gcc $options -MMD -c src/b.c -o "$scratch/b.o" -MF b.d -MT b.o
claim "dependencies are the compiler's" cmp b.d "$scratch/b.d"
claim "links" $kinst gcc -fopenmp a.o b.o c.o -o t
claim "runs" env OMP_NUM_THREADS=2 OMPP_REPORTFILE=report.txt ./t
claim "sources are untouched" diff -r src src.before
named() { sed -n 's/.*compiled without instrumentation: \([^ ]*\) .*/\1/p' report.txt | sed "s|^$(pwd -P)/||" | sort | tr '\n' ' '; }
claim "each file is named once" same "$(named)" "inc/below.h inc/macro.h quote/operator.h src/beside.h src/c.c "
claim "with the reason" grep -q 'beside.h (OpenMP directives in a header; clang and --with=ompt see them)' report.txt
claim "a source with its own" grep -q 'c.c (OpenMP directives in _Pragma; clang and --with=ompt see them)' report.txt

printf '#include "comment.h"\n#include <stdio.h>\nint plain(void) { return puts(""); }\n' >src/plain.c
rm -f report.txt
claim "a plain source is compiled as it is" sh -c "$kinst --verbose gcc -fopenmp -Iinc -c src/plain.c 2>&1 | grep -q '^+++ gcc -fopenmp -Iinc -c src/plain.c$'"
claim "without -fopenmp any is" sh -c "$kinst --verbose gcc -Iinc -c src/b.c 2>&1 | grep -q '^+++ gcc -Iinc -c src/b.c$'"

# A header with a name that nobody writes into, and more files than are searched.
mkfifo inc/fifo.h; mkdir many
i=0; while [ $i -lt 2100 ]; do echo "#include \"h$((i + 1)).h\"" >many/h$i.h; i=$((i + 1)); done
printf '#ifdef NEVER\n#include "fifo.h"\n#include "h0.h"\n#endif\nint main(void) {\n#pragma omp parallel\n{ }\nreturn 0; }\n' >many.c
claim "a pipe does not stop it" timeout 20 $kinst gcc -fopenmp -Iinc -Imany many.c -o many.out
claim "it runs" env OMP_NUM_THREADS=2 OMPP_REPORTFILE=report.txt ./many.out
claim "Coverage says that the search was not complete" grep -q 'headers of .*many.c: not all searched.*there are too many' report.txt

# Notes are kept in a place of limited size until measurement starts: equal ones take one, and overflow is said.
mkdir lots; i=0
while [ $i -lt 70 ]; do
    printf '#include "lots/h%s.h"\nint f%s(int n) { return g%s(n); }\n' $i $i $i >lots/s$i.c
    loop g$i '#pragma omp parallel for reduction(+ : s)' >lots/h$i.h
    printf '#include "src/beside.h"\nint k%s(int n) { return beside(n); }\n' $i >lots/t$i.c
    i=$((i + 1))
done
printf '#include "src/beside.h"\nint main(void) {\n#pragma omp parallel\n{ }\nreturn beside(2) != 2; }\n' >lots/main.c
claim "70 objects with one header" $kinst gcc -fopenmp -I. lots/t*.c lots/main.c -o few
claim "run" env OMP_NUM_THREADS=2 OMPP_REPORTFILE=report.txt ./few
claim "give one line" same "$(named)" "src/beside.h "
claim "and no overflow" not grep -q 'lines of this section' report.txt
claim "70 headers" $kinst gcc -fopenmp -I. lots/s*.c lots/main.c -o lots.out
claim "run" env OMP_NUM_THREADS=2 OMPP_REPORTFILE=report.txt ./lots.out
claim "give the lines there is room for" same "$(named | wc -w)" 64
claim "and one that says so" grep -q 'lines of this section dropped: 7 ' report.txt
end_test
