#!/bin/sh
# The launcher ompp: what it sets, what it refuses, and that the process is the program's.
. "$abs_top_srcdir/tests/wrap/lib.sh"
echo 'int main(int argc, char **argv) { (void)argv; return argc; }' >p.c
gcc p.c -o p || skip "gcc is not installed"
gcc -static p.c -o static 2>/dev/null
printf '#!/bin/sh\nexit 5\n' >script; chmod +x script
printf '#!./p\n' >interpreted; chmod +x interpreted
printf '#!/nosuch/p\n' >nowhere; chmod +x nowhere
printf 'int main(void) { return 4; }\n' >four.c; gcc -m32 four.c -o 32bit 2>/dev/null
cp p setuid; chown nobody setuid 2>/dev/null && chmod u+s setuid || rm setuid

LD_PRELOAD= $launch -- ./p 1 2; claim "status and arguments are the program's" same $? 3
claim "-n prints, for a shell" sh -c "$launch -n --outdir=\"it's\" -- ./p | sed 's/LD_PRELOAD/NOTHING/' >env && . ./env && test \"\$OMPP_OUTDIR\" = \"it's\""
claim "libompp is preloaded" sh -c "$launch -n -- ./p | grep -q '^export LD_PRELOAD=.*/libompp.so'"
claim "what was preloaded stays in front" sh -c "LD_PRELOAD=libm.so.6 $launch -n -- ./p | grep -q \"='libm.so.6:.*libompp.so'\""
claim "what is measured stays behind" sh -c "LD_PRELOAD=libgomp.so.1:libm.so.6 $launch -n -- ./p | grep -q \"='libm.so.6:.*libompp.so:libgomp.so.1'\""
claim "libompp-gomp is not without libgomp" sh -c "! $launch -n -- ./p | grep -q libompp-gomp"
claim "--omp-runtime=gomp has it" sh -c "$launch -n --omp-runtime=gomp -- ./p | grep -q libompp-gomp"
# What cannot be measured runs all the same, and one line says why.
for refused in static:1 setuid:1 32bit:4; do
    name=${refused%:*}
    test -f $name || continue
    $launch -- ./$name 2>err; claim "$name runs" same $? ${refused#*:}
    claim "and one line says why it is not measured" sh -c "test \$(wc -l <err) = 1 && grep -q '$name is not measured: it' err"
    $launch -n -- ./$name >out 2>/dev/null; claim "-n: status 126" same $? 126
    claim "-n: no environment" test ! -s out
done
$launch -- ./interpreted 1 2>err; claim "a script is run by its interpreter" same $? 3
claim "which is measured" test ! -s err
OMPP_QUIET=0 $launch -- ./script 2>err; claim "a script of a shell runs" same $? 5
claim "and one line names --children" sh -c "test \$(wc -l <err) = 1 && grep -q 'ompp: use ompp --children.*nothing was measured' err"
claim "scripts of shells with --children" sh -c "$launch -n --children -- ./script | grep -q LD_PRELOAD"
$launch -- ./nowhere 2>err; claim "an interpreter that is not there" same $? 127
cp p mpirun; LD_PRELOAD= $launch -- ./mpirun 2>err; claim "mpirun runs" same $? 1
cp p taskset; $launch -n -- ./taskset >out 2>/dev/null; claim "taskset is not preloaded" test ! -s out
claim "with one line that says where ompp belongs" sh -c "test \$(grep -c 'mpirun -n 2 ompp -- ' err) = 1"
$launch -- ./p 2>err; claim "others run without it" sh -c "! grep -q mpirun err"
$launch -- ./nosuch 2>/dev/null; claim "not found" same $? 127
mkfifo pipe && chmod +x pipe
timeout 20 $launch -- ./pipe 2>err; claim "a pipe is no program" sh -c "test $? = 126 && grep -q './pipe: not executable' err"
$launch -n 2 ./p 2>err; claim "ranks for ompp" sh -c "test $? = 127 && grep -q 'write mpirun -n 2 ompp -- ./app: 2: not found' err"
$launch -- A=2 ./p 2>err; claim "variables behind ompp" sh -c "test $? = 127 && grep -q 'put A=2 in front of ompp: ' err"
$launch --nosuch=1 -- ./p 2>/dev/null; claim "unknown option" same $? 2
for words in "--datta=1 --data" "--out-dir=x --outdir" "--ctrl2=x --ctr2" "--halp --help"; do
    $launch ${words% *} -- ./p 2>err; claim "misspelled: ${words% *}" sh -c "test $? = 2 && grep -q 'did you mean ${words#* }? unknown option ${words%%[= ]*}' err"
done
# A wrong value stops the launch, however it is written; that of a variable does not.
printf '#include <stdio.h>\nint main(void) { return fclose(fopen("ran", "w")); }\n' >run.c; gcc run.c -o run
for words in "--mpi-report=foo merged|ranks|both" "--clock=sundial auto|tsc|gettime" "--outformat=text,cube text|plain|csv|html|xml" \
    "--time-digits=12 digits.0-9" "--memory=1k bytes.256k-4G" "--memory=lots bytes" "--dump-interval=often seconds" "--overwrite=no 0.or.1" \
    "--ctr0=X numbers.from.1.to.9999" "--eval12345=1 numbers.from.1.to.9999"; do
    option=${words% *}
    rm -f ran
    $launch "$option" -- ./run 2>err; claim "wrong: $option" sh -c "test $? = 2 && test \$(wc -l <err) = 1 && grep -q '${words#* }' err && grep -q -e '${option%%=*} ' err"
    claim "nothing runs: $option" test ! -f ran
done
$launch --clock sundial -- ./run 2>err; claim "wrong, apart" sh -c "test $? = 2 && grep -q -e 'set --clock to .*: .sundial. is not understood' err"
for words in --clock=TSC --time-digits=9 --memory=4M --outformat=csv,text --overwrite --overwrite=0 --overwrite=1 --ctr9999=X --clock= --dump-interval=0; do
    $launch -n $words -- ./run >out 2>&1; claim "right: $words" sh -c "test $? = 0 && grep -q LD_PRELOAD out"
done
OMPP_CLOCK=sundial OMPP_TIME_DIGITS=12 OMPP_OVERWRITE=no $launch -- ./run 2>err; claim "wrong variables stop nothing" sh -c "test $? = 0 && test -f ran"
claim "a misspelled variable" sh -c "OMPP_QUIET=0 OMPP_OUTDTR=x $launch --data=x -- ./p 2>&1 | grep -q 'did you mean OMPP_OUTDIR? unknown variable OMPP_OUTDTR;'"
# The first help is a screen, of what is used most; the other names every option. Both name only what there is.
$launch --help >first; $launch --help=all >all
claim "--help is a screen" sh -c "test \$(wc -l <first) -le 35 && ! grep -q '.\{81\}' first"
claim "--help has eleven options" same "$(grep -c '^  --[a-gi-z]' first)" 11
claim "--help=all has all variables" same "$(sed -n 's/^  --\([a-z0-9-]*\).*/OMPP_\1/p' all | grep -vE 'help|OMPP_sample$' | tr a-z- A-Z_ | sed 's/[0-9]*$//' | sort -u)" \
    "$("$abs_top_builddir/ompp-config" --list-env | sed '/^$/q' | sed -n 's/^\(OMPP_[A-Z_]*\) .*/\1/p' | sort)"
claim "--help=all has what --help has" same "$(grep -vxF -f all first)" ""
for command in "$launch" "$kinst" "$abs_top_builddir/ompp-config"; do
    claim "$command -h" same "$($command -h)" "$($command --help)"
    claim "$command -v" same "$($command -v)" "$($command --version)"
done
$kinst --with=opary gcc p.c 2>err; claim "a wrong value names the choices" sh -c "test $? = 2 && grep -q 'with=opary: the value is to be opari or ompt' err"
for words in p.c "gcc -O1"; do
    $kinst "$words" p.c 2>err; claim "no compiler: $words" sh -c "test $? = 127 && test \$(wc -l <err) = 1 && grep -q 'begin with the compiler.*: no command $words' err"
done
$kinst make -f none 2>err; claim "make is no compiler" sh -c "test $? = 2 && grep -q 'give make the compiler, as CC=kinst-ompp-gcc: ' err"
for option in -o -I; do
    gcc p.c -fopenmp $option 2>plain; $kinst gcc p.c -fopenmp $option 2>err
    claim "an option without its argument: $option" sh -c "test $? = 1 && cmp plain err && test ! -e ./-w"
done
for value in 5x nan -1 ''; do
    $kinst --opari-timeout=$value gcc p.c -o none 2>err; claim "a timeout of '$value'" sh -c "test $? = 2 && grep -q 'a number of seconds' err"
done
# Which OpenMP library it is; of two, the one that the dynamic linker finds first.
echo 'int f(void) { int n = 0;
#pragma omp parallel reduction(+ : n)
n++;
return n > 0; }' >f.c
echo 'int f(void); int main(void) { return !f(); }' >main.c
gcc -fopenmp -shared -fPIC f.c -o libf.so && gcc main.c -o pgomp -L. -lf -Wl,-rpath,"$PWD"
claim "libgomp behind a library" sh -c "$launch -n -- ./pgomp | grep -q 'libompp-gomp.so:.*libompp.so'"
claim "libgomp can be left alone" sh -c "! $launch -n --omp-runtime=none -- ./pgomp | grep -q libompp-gomp"
$launch --reportfile=gomp.txt --overwrite -- ./pgomp 2>/dev/null; claim "it is measured" grep -q '^PARALLEL: 1 region' gomp.txt
claim "with its source" grep -q 'GOMP, libgomp' gomp.txt
if command -v clang-19 >/dev/null && clang-19 -fopenmp f.c main.c -o pomp 2>/dev/null; then
    claim "libomp needs nothing more" sh -c "! $launch -n -- ./pomp | grep -q libompp-gomp"
    $launch --reportfile=omp.txt --overwrite -- ./pomp 2>/dev/null; claim "it is measured" grep -q 'OMPT, ' omp.txt
    clang-19 -fopenmp f.c -shared -fPIC -o libg.so && clang-19 -fopenmp main.c -o pboth -L. -lf -lg -Wl,-rpath,"$PWD"
    claim "two libraries are seen" sh -c "$launch -n -- ./pboth | grep -q '# .*also lib'"
    $launch --omp-runtime=llvm --reportfile=llvm.txt --overwrite -- ./pgomp 2>/dev/null
    claim "LLVM's library in place of libgomp" grep -q 'GOMP, libomp' llvm.txt
    claim "what is no call is said" grep -q 'loops with static schedule' llvm.txt
    $launch --omp-runtime=llvm --reportfile=mixed.txt --overwrite -- ./pboth 2>/dev/null
    claim "with code of clang, OMPT" grep -q 'OMPT, ' mixed.txt
    claim "and what it does not see of gcc's" grep -q 'of code that gcc has compiled: barrier' mixed.txt
fi
# The environment of what the program starts is as without ompp; with --children, that is measured, too.
printf '#include <stdlib.h>\nint main(void) { return system("env"); }\n' >env.c
gcc env.c -o env_of_child
LD_PRELOAD=libm.so.6 OMPP_APPNAME=mine ./env_of_child | sort >plain
LD_PRELOAD=libm.so.6 OMPP_APPNAME=mine $launch --outdir=/tmp --app=yours -- ./env_of_child | sort >measured
claim "the environment of children" cmp plain measured
$launch --children -- ./env_of_child >measured; claim "--children" grep -q '^LD_PRELOAD=.*libompp.so' measured
for family in $mpi_families; do
    eval "mpicc=\$mpicc_$family"
    $mpicc p.c -o pmpi 2>/dev/null && readelf -d pmpi | grep -q 'NEEDED.*libmpi' || continue
    claim "libompp-mpi-$family with MPI" sh -c "$launch -n -- ./pmpi | grep -q 'libompp-mpi-$family.so:.*libompp.so'"
    claim "and linked by kinst-ompp" sh -c "$kinst --dry-run $mpicc p.c 2>&1 | grep -q /libompp-mpi-$family.so"
done
# The program is this process, not a child of it.
printf '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%%d\\n", getpid()); return 0; }\n' >pid.c
gcc pid.c -o pid
$launch -- ./pid >out & wanted=$!
wait $wanted
claim "the process id is kept" same "$(cat out)" "$wanted"
end_test
