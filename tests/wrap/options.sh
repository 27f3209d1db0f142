#!/bin/sh
# Ways to write a compiler's command: whatever they are, the object is instrumented and all files are those of the compiler.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
command -v gcc >/dev/null || skip "gcc is not installed"

new() { rm -rf "$scratch/work" "$scratch/plain"; mkdir "$scratch/work" "$scratch/plain"; cd "$scratch/work" || exit 1; }
source_of() { printf '#include <stdio.h>\n#include "head.h"\nint main(void)\n{\n    int n = 0;\n#pragma omp parallel num_threads(2) reduction(+ : n)\n    n += ONE + %s;\n    return printf("%%d\\n", n) < 0;\n}\n' "${1:-0}"; }
# as_the_compiler TEXT WORDS...: the same files, messages and status as without the wrapper, and instrumented.
as_the_compiler()
{
    title=$1; shift
    cp -r . "$scratch/plain/in"
    (cd "$scratch/plain/in" && "$@" >../out 2>../err; echo $? >../status)
    "$kinst" "$@" >"$scratch/out" 2>"$scratch/err"; echo $? >"$scratch/status"
    claim "$title: status" cmp "$scratch/status" "$scratch/plain/status"
    claim "$title: output" cmp "$scratch/out" "$scratch/plain/out"
    claim "$title: messages" cmp "$scratch/err" "$scratch/plain/err"
    claim "$title: files" same "$(find . -type f | LC_ALL=C sort)" "$(cd "$scratch/plain/in" && find . -type f | LC_ALL=C sort)"
    for d in $(find . -name '*.d'); do claim "$title: $d" cmp "$d" "$scratch/plain/in/$d"; done
    claim "$title: instrumented" sh -c 'for f in $(find . -name "*.o") prog; do test ! -f $f || nm $f | grep -q ompp_pomp2_fork && exit; done; exit 1'
    rm -rf "$scratch/plain/in"
}
start() { new; mkdir inc "a dir"; echo '#define ONE 1' >inc/head.h; source_of >a.c; }

start; as_the_compiler "-o joined, -pipe" gcc -fopenmp -Iinc -pipe -c a.c -oobj.o
start; as_the_compiler "-MD -MF" gcc -fopenmp -Iinc -MD -MF dep.d -MP -MT x -c a.c -o x.o
start; as_the_compiler "-MMDdep joined" gcc -fopenmp -Iinc -MMD -MFdep.d -c a.c
start; as_the_compiler "-Wp,-MD" gcc -fopenmp -Wp,-MD,dep.d -Wp,-Iinc,-DTWO -c a.c
start; as_the_compiler "-Wp with all in one" gcc -fopenmp -Wp,-Iinc,-MMD,dep.d -c a.c
start; as_the_compiler "-Xpreprocessor" gcc -fopenmp -Xpreprocessor -MD -Xpreprocessor dep.d -Xpreprocessor -Iinc -c a.c
start; as_the_compiler "-fopenmp for the preprocessor" gcc -Xpreprocessor -fopenmp -Iinc a.c -o prog -lgomp
claim "it is still parallel" same "$(OMPP_OUTDIR=$scratch ./prog)" 2
start; as_the_compiler "-save-temps" gcc -fopenmp -Iinc -save-temps -c a.c
claim "with the compiler's preprocessed source" not grep -q ompp a.i
start; as_the_compiler "-save-temps=obj" gcc -fopenmp -Iinc -save-temps=obj -c a.c -o "a dir/b.o"
start; as_the_compiler "-include" gcc -fopenmp -include inc/head.h -Iinc -DTEXT='"a b"' -c a.c
start; as_the_compiler "-S" gcc -fopenmp -Iinc -S a.c -o a.o
start; as_the_compiler "-g3 -Wall -Wextra -O2" gcc -g3 -O2 -Wall -Wextra -fopenmp -Iinc -c a.c
start; as_the_compiler "-flto" gcc -flto -O2 -fopenmp -Iinc a.c -o prog
start; as_the_compiler "-Wl,--as-needed" gcc -fopenmp -Iinc -Wl,--as-needed a.c -o prog -lm
claim "is still linked with ompp" sh -c 'readelf -d prog | grep -q NEEDED.*libompp.so'
start; sed -i 's/int main/int unused; static int never(void) { int i; return 0; }\nint main/' a.c
as_the_compiler "warnings" gcc -Wall -fopenmp -Iinc -c a.c
start; sed -i 's/ONE/ONE \/ 0/' a.c; as_the_compiler "warnings of a macro" gcc -Wall -fopenmp -Iinc -c a.c
start; echo '#warning here' >>a.c; as_the_compiler "warnings of the preprocessor" gcc -fopenmp -Iinc -c a.c
start; printf 'int f(void)\n{\n#pragma omp parallel for\n    for (int i = 0; i < 2; i++) {\n#pragma omp cancel for\n    }\n    return 0;\n}\n' >>a.c
as_the_compiler "warnings about the original only" gcc -fopenmp -Iinc -c a.c
for std in c99 gnu11 c17 gnu2x; do start; as_the_compiler "-std=$std" gcc -std=$std -pedantic -Wall -fopenmp -Iinc -c a.c; done

# Response files, as GCC reads them.
start; mv a.c "a dir/a b.c"
printf '%s\n' '-fopenmp -Iinc' '"a dir/a b.c" -DX='"'"'"y z"'"'"' -o a\ dir/prog' >args; echo '@args -lm' >more
as_the_compiler "response file" gcc @more -c
claim "links as well" $kinst gcc @more
claim "and runs" same "$(OMPP_OUTDIR=$scratch './a dir/prog')" 2
start; as_the_compiler "response file that is not there" gcc -fopenmp -Iinc -c a.c @none

# Languages.
if command -v g++ >/dev/null; then
    for suffix in C cc cp cpp CPP cxx c++; do
        start; mv a.c "a.$suffix"; as_the_compiler ".$suffix" g++ -fopenmp -Iinc -c "a.$suffix"
    done
    for std in c++11 c++14 gnu++17 c++20 gnu++23; do start; mv a.c a.cc; as_the_compiler "-std=$std" g++ -std=$std -fopenmp -Iinc -c a.cc; done
    start; sed -i 's/int n/auto n/' a.c; as_the_compiler "g++ with .c" g++ -std=c++17 -fopenmp -Iinc -c a.c
    start; mv a.c a.txt; sed -i 's/int n/auto n/' a.txt; source_of >b.c; sed -i 's/main/second/' b.c
    as_the_compiler "-x c++" gcc -fopenmp -Iinc -x c++ a.txt -x none b.c -o prog -lstdc++
    start; mv a.c a.txt; as_the_compiler "-xc joined" gcc -fopenmp -Iinc -xc a.txt -c
fi

# Other programs in front of the compiler.
start; printf '#!/bin/sh\nexec "$@"\n' >"$scratch/ccache"; cp "$scratch/ccache" "$scratch/distcc"; chmod +x "$scratch"/*c*c*
for name in ccache distcc; do start; as_the_compiler "$name" "$scratch/$name" gcc -fopenmp -Iinc -MD -c a.c; done

# Libraries.
start; sed -i 's/main/work/' a.c; printf 'int work(void);\nint main(void) { return work(); }\n' >m.c
as_the_compiler "-shared" gcc -fopenmp -Iinc -shared -fPIC a.c -o prog
mv prog libwork.so
claim "links with it" $kinst gcc m.c -L. -lwork -Wl,-rpath,. -o prog
claim "its regions are measured" sh -c 'OMPP_REPORTFILE=r.txt ./prog && grep -q "PARALLEL: 1 region" r.txt'
rm prog; gcc m.c -L. -lwork -Wl,-rpath,. -o prog
claim "also in a program without ompp" sh -c 'OMPP_REPORTFILE=r2.txt ./prog && grep -q "PARALLEL: 1 region" r2.txt'
printf '#include <dlfcn.h>\nint main(void) { void *h = dlopen("./libwork.so", RTLD_NOW); int (*f)(void) = (int (*)(void))dlsym(h, "work"); return f(); }\n' >d.c
gcc d.c -o prog
claim "also opened while it runs" sh -c 'OMPP_REPORTFILE=r3.txt ./prog && grep -q "PARALLEL: 1 region" r3.txt'

# Options that are the wrapper's alone count behind the compiler, too; those of a compiler in front of it get a line.
start; ln -s "$(command -v "$kinst")" kinst-ompp-gcc
claim "--memory behind a name of one word" ./kinst-ompp-gcc --memory -fopenmp -Iinc a.c -o prog
claim "has hooks" sh -c 'OMPP_REPORTFILE=r.txt ./prog && grep -q "ompp Data" r.txt'
$kinst -O2 a.c 2>err
claim "an option without a compiler says what is missing" grep -q 'those of the compiler stand behind it (kinst-ompp gcc -O2' err

# A static program cannot be measured: one line says so.
start; $kinst gcc -static -fopenmp -Iinc a.c -o prog 2>err
claim "-static says so" same "$(grep -c 'kinst-ompp: leave out -static: .* without measurement' err)" 1
claim "and runs" same "$(./prog)" 2
end_test
