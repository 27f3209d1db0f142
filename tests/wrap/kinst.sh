#!/bin/sh
# kinst-ompp with gcc and OPARI2: whatever it does inside, the build looks as it would without it.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
command -v gcc >/dev/null || skip "gcc is not installed"

new() { rm -rf "$scratch/work"; mkdir "$scratch/work"; cd "$scratch/work" || exit 1; }
program()
{
    cat >"$1" <<'X'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <omp.h>
#include "head.h"
int main(void)
{
    cpu_set_t set;
    int n = 0;
    CPU_ZERO(&set);
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        n += ONE;
    }
    printf("%s:%d %d\n", __FILE__, __LINE__, n);
    return 0;
}
X
    echo '#define ONE 1' >"$(dirname "$1")/head.h"
}

claim "alone it prints its usage" same "$($kinst)" "usage: kinst-ompp <compile-or-link-command>"
$kinst >/dev/null; claim "and exits 1" same $? 1
claim "compiler questions pass" same "$($kinst gcc -dumpversion)" "$(gcc -dumpversion)"

new; mkdir "my src" obj; program "my src/a.c"
claim "source in another directory, -o, -MMD" $kinst gcc -g -fopenmp -Wall -Werror -MMD -c "my src/a.c" -o obj/x.o
claim "the object is instrumented" instrumented obj/x.o
cp obj/x.d "$scratch/ours.d"; gcc -g -fopenmp -MMD -c "my src/a.c" -o obj/x.o
claim "dependencies are the compiler's" cmp "$scratch/ours.d" obj/x.d
$kinst gcc -g -fopenmp -c "my src/a.c" -o obj/x.o
claim "link" $kinst gcc -fopenmp obj/x.o -o prog
claim "__FILE__ and __LINE__ are the user's" same "$(OMPP_OUTDIR=$scratch ./prog)" "my src/a.c:16 3"
claim "debug information names the source" sh -c 'readelf --debug-dump=info obj/x.o | grep -q "DW_AT_name.*: my src/a.c"'
claim "and no private file" sh -c '! readelf --debug-dump=info,rawline obj/x.o | grep -q kinst-ompp'
claim "nothing left beside it" files_are "my src obj prog"
claim "nor beside the source" same "$(ls "my src" | tr '\n' ' ')" "a.c head.h "

new; program a.c
for step in "-c:a.o" "-S:a.s"; do
    $kinst gcc -fopenmp ${step%%:*} a.c
    claim "default name of ${step%%:*}" test -f ${step##*:}
done
claim "-E is untouched" sh -c "$kinst gcc -fopenmp -E a.c >e1; gcc -fopenmp -E a.c >e2; cmp e1 e2"
claim "-M is untouched" same "$($kinst gcc -fopenmp -M a.c)" "$(gcc -fopenmp -M a.c)"
claim "a.out" sh -c "$kinst gcc -fopenmp a.c && test -x a.out"

new; program a.c; sed -i 's/int n = 0;/int n = 0, unused;/' a.c
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for step in "-c a.c -o p.o" "a.c -o p"; do
        set -- $compiler -fopenmp -Wall $step -MD -MF none/x.d
        "$@" 2>e2; want=$?
        $kinst --with=opari "$@" 2>e1
        claim "status of a dependency file that cannot be written: $compiler $step" same $? $want
        claim "and its message" cmp e1 e2
        claim "and no output" files_are "a.c e1 e2 head.h"
        rm -f p.o p
    done
done

new; mkdir one two; program one/a.c; echo 'int two(void) {
#pragma omp parallel
{ } return 2; }' >two/b.c
claim "several sources, several directories" $kinst gcc -fopenmp one/a.c two/b.c -o prog
claim "it runs" same "$(OMPP_OUTDIR=$scratch ./prog)" "one/a.c:16 3"
claim "several with -c" sh -c "$kinst gcc -fopenmp -c one/a.c two/b.c && test -f a.o && test -f b.o"

new; program a.c; sed -i 's/n += ONE;/n += undeclared;/' a.c
gcc -fopenmp -c a.c 2>e2; want=$?
$kinst gcc -fopenmp -c a.c 2>e1
claim "status of a compile error" same $? $want
claim "and its message" cmp e1 e2
claim "no object" test ! -f a.o
$kinst nosuchcompiler -c a.c 2>/dev/null; claim "missing compiler" same $? 127
$kinst sh -c 'kill -9 $$' 2>/dev/null; claim "a compiler that dies of a signal" same $? 137

new; echo 'int main(void) { int i, s = 0;
#pragma omp parallel for simd reduction(+:s)
for (i = 0; i < 4; i++) s += i; return s != 6; }' >s.c
program a.c; sed -i 's/^int main/int other/' a.c
printf '#!/bin/sh\nopari2 "$@" && { ! grep -q "i < 4" source.c || echo } >>out.c; }\n' >breaks; chmod +x breaks
claim "a source that OPARI2 breaks" $kinst --opari=./breaks gcc -fopenmp -c s.c
claim "is compiled unmodified" not instrumented s.o
$kinst gcc -fopenmp s.o -o s; claim "and runs" ./s
claim "with others in one command" $kinst --opari=./breaks gcc -fopenmp s.c a.c -o s2
claim "which stay instrumented" instrumented s2

new; program a.c; printf '#!/bin/sh\nsleep 60\n' >slow; chmod +x slow
claim "an OPARI2 that hangs" timeout 20 $kinst --opari=./slow --opari-timeout=1 gcc -fopenmp -c a.c
claim "leaves the source unmodified" not instrumented a.o
claim "and says so on request" sh -c "$kinst --verbose --opari=./slow --opari-timeout=1 gcc -fopenmp -c a.c 2>&1 | grep -q 'a.c is compiled unmodified: OPARI2 took longer'"
claim "silent otherwise" same "$($kinst --opari=./slow --opari-timeout=1 gcc -fopenmp -c a.c 2>&1)" ""
claim "OPARI2 not installed" $kinst --opari=opari2-not-there gcc -fopenmp -c a.c

new; program a.c; sed -i 's/int n = 0;/int n = 0, unused;/' a.c
gcc -fopenmp -Wall -c a.c 2>e2; $kinst gcc -fopenmp -Wall -c a.c 2>e1
claim "warnings are the compiler's" cmp e1 e2
claim "and the object instrumented" instrumented a.o

new; cat >u.c <<'X'
int main(void)
{
    int n = 0;
#pragma pomp inst init
#pragma omp inst begin(work)
    n++;
    if (n < 0)
#pragma omp inst begin(wrong)
        n += 10;
#pragma omp inst end(work)
#pragma omp inst data(&n, sizeof n, "n")
    /*
#pragma omp inst begin(comment)
    */
    return n != 1;
}
X
for options in "gcc" "gcc -fopenmp" "clang-19 -fopenmp"; do
    command -v ${options%% *} >/dev/null || continue
    claim "user regions with $options" $kinst $options -Wall -Wno-unknown-pragmas u.c -o u
    claim "the program does the same" ./u
    claim "they are there" sh -c 'nm u | grep -q POMP2_Begin'
    claim "not in comments" sh -c '! strings u | grep -q =comment'
done

new; program a.c
claim "old options for opari before --" $kinst -disable critical -- gcc -fopenmp -c a.c
claim "are obeyed" sh -c '! nm a.o | grep -q POMP2_Critical'
claim "-nosrc" $kinst -nosrc gcc -fopenmp -c a.c
claim "-static links and runs" sh -c "$kinst gcc -fopenmp -static a.c -o st && ./st | grep -q 3"
claim "--dry-run makes nothing" sh -c "$kinst --dry-run gcc -fopenmp -c a.c -o dry.o; test ! -f dry.o"

new; printf 'CC = %s gcc -fopenmp\nOBJECTS = ' "$kinst" >Makefile
for i in 1 2 3 4 5 6 7 8; do
    echo "int f$i(int n) {
#pragma omp parallel
{ n++; } return n; }" >m$i.c; printf 'm%s.o ' $i >>Makefile
done
echo 'int main(void) { return 0; }' >main.c
printf 'main.o\nprog: $(OBJECTS)\n\t$(CC) $(OBJECTS) -o $@\nagain-%%.o: m1.c\n\t$(CC) -c $< -o $@\nagain: again-1.o again-2.o again-3.o\n' >>Makefile
claim "make -j8, one source several times at once" make -s -j8 prog again
claim "all instrumented" sh -c 'for i in 1 2 3 4 5 6 7 8; do nm m$i.o | grep -q ompp_pomp2_fork || exit 1; done'
end_test
