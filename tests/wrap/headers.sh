#!/bin/sh
# OpenMP directives in headers, macros and _Pragma are measured where they stand. Where OPARI2 fails, Coverage names the files.
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
places() { # of constructs, without the functions that tell them apart
    sed -n '/Region Overview/,/Callgraph/{/^FUNCTION:/,/^$/d;s/^ \* R[0-9]* \(.*\)/\1/p}' report.txt | sort | tr '\n' ' '
}
claim "every construct is where it stands" same "$(places)" \
    "a.c (12-13) below.h (3-5) beside.h (3-4) c.c (5-6) macro.h (4-5) operator.h (3-4) sys.h (3-4) "
claim "Coverage misses nothing" not grep -q 'compiled without instrumentation\|not visible' report.txt
bad="$kinst --opari=false"
for i in a b c; do claim "without OPARI2 $i.c compiles" $bad gcc $options -c src/$i.c; done
claim "links" $bad gcc -fopenmp a.o b.o c.o -o t
rm -f report.txt
claim "runs" env OMP_NUM_THREADS=2 OMPP_REPORTFILE=report.txt ./t
named() { sed -n 's/.*compiled without instrumentation: \([^ ]*\) .*/\1/p' report.txt | sed "s|^$(pwd -P)/||" | sort -u | tr '\n' ' '; }
claim "a report names all files" same "$(named)" "inc/below.h inc/macro.h quote/operator.h src/a.c src/b.c src/beside.h src/c.c sys/sys.h "
claim "a source with the reason" grep -q 'src/c.c (OPARI2 failed: no message)' report.txt

printf '#include "comment.h"\n#include <stdio.h>\nint plain(void) { return puts(""); }\n' >src/plain.c
rm -f report.txt
claim "a plain source is compiled as it is" sh -c "$kinst --verbose gcc -fopenmp -Iinc -c src/plain.c 2>&1 | grep -q '^+++ gcc -fopenmp -Iinc -c src/plain.c$'"
claim "without -fopenmp any is" sh -c "$kinst --verbose gcc -Iinc -c src/b.c 2>&1 | grep -q '^+++ gcc -Iinc -c src/b.c$'"

# One header in many objects, and many files without instrumentation.
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
claim "give one region of it" same "$(places)" "beside.h (3-4) main.c (3-4) "
claim "70 sources without OPARI2" $bad gcc -fopenmp -I. lots/s*.c lots/main.c -o lots.out
claim "run" env OMP_NUM_THREADS=2 OMPP_REPORTFILE=report.txt ./lots.out
claim "give a line each" same "$(grep -c 'compiled without instrumentation' report.txt)" 142
printf '#include "lots/h0.h"\nint main(void) { return g0(1) != 1; }\n' >lots/only.c
claim "all OpenMP in a header, not measured" $bad gcc -fopenmp -I. lots/only.c -o only
rm -f report.txt
claim "run" env OMP_NUM_THREADS=2 OMPP_REPORTFILE=report.txt ./only
claim "gives a report that says so" same "$(named)" "lots/h0.h lots/only.c "
end_test
