#!/bin/sh
# For each MPI: every program on 1, 2 and 4 ranks, unmeasured and under the wrappers with a fake runtime: same output, exact counts.
[ -n "$MPIRUN" ] && [ "$MPIRUN" != no ] || { echo "no MPI launcher"; exit 77; }
libs=$abs_top_builddir/.libs
failed=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
run() { # ranks preload program
    timeout 120 $launcher $flags -n "$1" env LD_LIBRARY_PATH="$libs:$LD_LIBRARY_PATH" LD_PRELOAD="$2" "$dir/$3" 2>&1
}
for family in ${mpi_families:-openmpi}; do
eval "mpicc=\${mpicc_$family:-$MPICC} launcher=\${mpirun_$family:-$MPIRUN}"
case $family in
openmpi) flags="--oversubscribe"; [ "$(id -u)" = 0 ] && flags="$flags --allow-run-as-root" ;;
*) flags= ;;
esac
dir=$abs_top_builddir/tests/mpi
if [ "$mpicc" != "$MPICC" ]; then
    dir=$scratch/$family
    mkdir "$dir"
    for program in messages collectives threads jumps; do
        $mpicc -std=gnu11 -O1 -w "$abs_top_srcdir/tests/mpi/$program.c" -o "$dir/$program" -lpthread || failed=1
    done
fi
for program in messages collectives threads jumps; do
    for ranks in 1 2 4; do
        for preload in "" "$libs/libompp-fake.so:$libs/libompp-mpi-$family.so"; do
            output=$(run $ranks "$preload" $program)
            status=$?
            # hwloc of the MPI library, on a machine without /sys.
            output=$(echo "$output" | grep -v '^\[hwloc/')
            [ $status = 0 ] && [ "$output" = ok ] && continue
            echo "FAIL $family $program, $ranks ranks, ${preload:-unmeasured}: status $status"
            echo "$output" | head -n 30
            failed=1
        done
    done
done
done
exit $failed
