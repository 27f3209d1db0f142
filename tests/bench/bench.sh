#!/bin/sh
# Prints the cost of events: ns, ratio to two timer reads, and instructions (callgrind). Usage: bench.sh BENCH_EVENTS
bench=$1
"$bench" || exit 1
echo
"$bench" paths || exit 1
command -v valgrind >/dev/null 2>&1 || { echo "instructions: valgrind is not installed"; exit 0; }
# Instructions per iteration: the difference of two runs, so that start and end do not count.
instructions() {
    for n in 10000 20000; do
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$1" "$n" 2>&1 | awk '/Collected/ {print $4}'
    done | tr '\n' ' '
}
count() {
    set -- $(instructions "$1")
    echo $((($2 - $1) / 10000))
}
empty=$(count none)
printf '\n%-12s %s\n' case "instructions (two timer reads included where the case has them)"
for c in timers enter enter16 site critical loop fork task mpi mpitime count; do
    printf '%-12s %d\n' "$c" $(($(count $c) - empty))
done
