#!/bin/sh
# Every program on 1, 2 and 4 ranks, unmeasured and under the wrappers with a fake runtime: same output, exact counts.
[ -n "$MPIRUN" ] && [ "$MPIRUN" != no ] || { echo "no MPI launcher"; exit 77; }
libs=$abs_top_builddir/.libs
failed=0
case $($MPICC -show 2>/dev/null) in
*openmpi*) flags="--oversubscribe"; [ "$(id -u)" = 0 ] && flags="$flags --allow-run-as-root" ;;
*) flags= ;;
esac
run() { # ranks preload program
    timeout 120 $MPIRUN $flags -n "$1" env LD_LIBRARY_PATH="$libs:$LD_LIBRARY_PATH" LD_PRELOAD="$2" "$abs_top_builddir/tests/mpi/$3" 2>&1
}
for program in messages collectives threads jumps; do
    for ranks in 1 2 4; do
        for preload in "" "$libs/libompp-fake.so:$libs/libompp-mpi.so"; do
            output=$(run $ranks "$preload" $program)
            status=$?
            # hwloc of the MPI library, on a machine without /sys.
            output=$(echo "$output" | grep -v '^\[hwloc/')
            [ $status = 0 ] && [ "$output" = ok ] && continue
            echo "FAIL $program, $ranks ranks, ${preload:-unmeasured}: status $status"
            echo "$output" | head -n 30
            failed=1
        done
    done
done
exit $failed
