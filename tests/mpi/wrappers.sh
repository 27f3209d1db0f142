#!/bin/sh
# For each MPI: every program on 1, 2 and 4 ranks, unmeasured, under the wrappers with a fake runtime, and with clocks: same
# output, exact counts.
[ -n "$MPIRUN" ] && [ "$MPIRUN" != no ] || { echo "no MPI launcher"; exit 77; }
libs=$abs_top_builddir/.libs
failed=0 left_out=
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
late='^MPICH: Builtin communicator'
# Of the program with communicators that are not followed, and of no other.
unfollowed='^fake: coverage .* virtual clocks do not travel with'
${CC:-cc} -shared -fPIC -O1 "$abs_top_srcdir/tests/mpi/yield.c" -o "$scratch/yield.so" -ldl || exit 99
run() { # ranks preload program setting
    timeout 120 $launcher $flags -n "$1" env LD_LIBRARY_PATH="$libs:$LD_LIBRARY_PATH" LD_PRELOAD="$scratch/yield.so:$2" $4 "$3" 2>&1
}
attempt() { # how ranks preload program setting: sets status and output
    how=$1
    shift
    output=$(run "$@")
    status=$?
    # hwloc of the MPI library, on a machine without /sys.
    output=$(echo "$output" | grep -v '^\[hwloc/')
    # What MPICH 4.2 says of programs that free a group late: as often as it says so of the program alone.
    echo "$output" | grep "$late" | sort > "$scratch/late"
    [ $how = unmeasured ] && mv "$scratch/late" "$scratch/known" && : > "$scratch/late"
    output=$(echo "$output" | grep -v "$late"; comm -23 "$scratch/late" "$scratch/known")
    [ $program = objects ] && output=$(echo "$output" | grep -v "$unfollowed")
    [ $status = 0 ] && [ "$output" = ok ]
}
for family in ${mpi_families:-openmpi}; do
eval "mpicc=\${mpicc_$family:-$MPICC} mpifc=\${mpifc_$family:-} launcher=\${mpirun_$family:-$MPIRUN}"
case $family in
openmpi) flags="--oversubscribe"; [ "$(id -u)" = 0 ] && flags="$flags --allow-run-as-root" ;;
*) flags= ;;
esac
dir=$abs_top_builddir/tests/mpi
if [ "$mpicc" != "$MPICC" ]; then
    dir=$scratch/$family
    mkdir "$dir"
    for program in messages collectives threads jumps piggyback suspended started early objects; do
        $mpicc -std=gnu11 -O1 -w "$abs_top_srcdir/tests/mpi/$program.c" -o "$dir/$program" -lpthread || failed=1
    done
fi
fortran=
if [ -n "$mpifc" ] && [ "$mpifc" != no ]; then
    fortran=suspended_f
    ${mpicc} -c -O1 -w "$abs_top_srcdir/tests/mpi/suspended_shim.c" -o "$scratch/shim.o" || failed=1
    $mpifc -O1 -w "$abs_top_srcdir/tests/mpi/suspended_f.f90" "$scratch/shim.o" -J "$scratch" -o "$scratch/suspended_f" || failed=1
fi
for program in messages collectives threads jumps piggyback suspended started early objects $fortran; do
    path=$dir/$program
    [ $program = suspended_f ] && path=$scratch/$program
    for ranks in 1 2 4; do
        for how in unmeasured measured FAKE_STAMPS=1; do
            preload=$libs/libompp-fake.so:$libs/libompp-mpi-$family.so clocks=
            case $how in
            unmeasured) preload= ;;
            FAKE*) clocks=$how ;;
            esac
            tries=1
            [ $how = unmeasured ] && tries=3
            until attempt $how $ranks "$preload" "$path" $clocks; do
                what="$family $program, $ranks ranks, $how: status $status"
                echo "$what"
                echo "$output" | head -n 30
                tries=$((tries - 1))
                [ $tries -gt 0 ] || break
            done
            [ $status = 0 ] && [ "$output" = ok ] && continue
            # A program that fails without ompp says nothing about ompp.
            [ $how = unmeasured ] && left_out="$left_out $what;" && break
            echo "FAIL: $what"
            failed=1
        done
    done
done
done
[ $failed = 0 ] && [ -n "$left_out" ] && { echo "SKIP: all else holds; programs that fail without ompp:$left_out"; exit 77; }
exit $failed
