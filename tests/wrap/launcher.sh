#!/bin/sh
# The launcher ompp: what it sets, what it refuses, and that the process is the program's.
. "$abs_top_srcdir/tests/wrap/lib.sh"
echo 'int main(int argc, char **argv) { (void)argv; return argc; }' >p.c
gcc p.c -o p || skip "gcc is not installed"
gcc -static p.c -o static 2>/dev/null
printf '#!/bin/sh\nexit 0\n' >script; chmod +x script
cp p setuid; chmod u+s setuid

LD_PRELOAD= $launch -- ./p 1 2; claim "status and arguments are the program's" same $? 3
claim "-n prints, for a shell" sh -c "$launch -n --outdir=\"it's\" -- ./p | sed 's/LD_PRELOAD/NOTHING/' >env && . ./env && test \"\$OMPP_OUTDIR\" = \"it's\""
claim "libompp is preloaded" sh -c "$launch -n -- ./p | grep -q '^export LD_PRELOAD=.*/libompp.so'"
claim "what was preloaded stays" sh -c "LD_PRELOAD=libm.so.6 $launch -n -- ./p | grep -q 'libompp.so:libm.so.6'"
claim "no OMPT tool without libomp" sh -c "! $launch -n -- ./p | grep -q OMP_TOOL"
for refused in static:static script:script setuid:setuid; do
    test -f ${refused%%:*} || continue
    $launch -- ./${refused%%:*} 2>err; claim "${refused%%:*} is refused" same $? 126
    claim "in one line that says why" sh -c "test \$(wc -l <err) = 1 && grep -q ${refused##*:} err"
done
cp p mpirun; $launch -- ./mpirun 2>err; claim "mpirun runs" same $? 1
claim "with one line that says where ompp belongs" sh -c "test \$(grep -c 'mpirun -n 2 ompp -- ' err) = 1"
$launch -- ./p 2>err; claim "others run without it" sh -c "! grep -q mpirun err"
$launch -- ./nosuch 2>/dev/null; claim "not found" same $? 127
$launch --nosuch=1 -- ./p 2>/dev/null; claim "unknown option" same $? 2
if command -v clang-19 >/dev/null && clang-19 -fopenmp p.c -o pomp 2>/dev/null; then
    claim "OMPT tool with libomp" sh -c "$launch -n -- ./pomp | grep -q '^export OMP_TOOL_LIBRARIES=.*libompp.so'"
fi
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
