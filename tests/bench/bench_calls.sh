#!/bin/sh
# Instructions that our libraries execute per call: wrappers of MPI functions, and OMPT callbacks of a construct on one thread (the
# MPI and OpenMP libraries' own are left out). Usage: bench_calls.sh BENCH_CALLS.c LIBRARY_DIRECTORY
source=$1 lib=$2
command -v valgrind >/dev/null 2>&1 || { echo "bench_calls: valgrind is not installed"; exit 0; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 OMPP_OUTDIR="$scratch" OMPP_OVERWRITE=1
${MPICC:-mpicc} -O1 "$source" -o "$scratch/calls" || exit 1
openmp=
for llvm in /usr/lib/llvm-*/lib; do
    [ -e "$llvm/libomp.so" ] || continue
    OMPI_CC=${TEST_CLANG:-clang-19} MPICH_CC=${TEST_CLANG:-clang-19} ${MPICC:-mpicc} -O1 -fopenmp "$source" -o "$scratch/omp" \
        -L"$llvm" -Wl,-rpath,"$llvm" 2>/dev/null && openmp=$scratch/omp
done
# Instructions in our libraries in a run of N calls.
ours() {
    rm -f "$scratch"/out.*
    # MPI forks helpers, which leave files too: the program's is the largest.
    LD_PRELOAD=$lib/libompp-mpi.so:$lib/libompp.so valgrind --tool=callgrind --callgrind-out-file="$scratch/out.%p" "$1" "$2" "$3" \
        >/dev/null 2>&1
    file=$(ls -S "$scratch"/out.* | head -1)
    # No name of an object is given for a function's inlined parts, so the cost lines are added up by object from the raw file.
    awk '/^c?ob=/ { o = k = $0; sub(/^c?ob=/, "", k); sub(/ .*/, "", k); if (sub(/^c?ob=[^ ]* /, "", o)) name[k] = o }
         /^ob=/ { mine = name[k] ~ /libompp(-mpi(-[a-z]+)?)?\.so$/ }
         /^calls=/ { skip = 1; next }
         /^[0-9+*-]/ { if (skip) skip = 0; else if (mine) sum += $2 }
         END { print sum + 0 }' "$file"
}
echo "instructions in our libraries per call"
for c in MPI_Iprobe MPI_Send MPI_Allreduce MPI_Comm_rank; do
    printf '%-16s %d\n' $c $((($(ours "$scratch/calls" $c 24000) - $(ours "$scratch/calls" $c 4000)) / 20000))
done
[ -n "$openmp" ] || { echo "OMPT: no clang with libomp here"; exit 0; }
for c in parallel for barrier critical single master task; do
    printf 'OMPT %-11s %d\n' $c $((($(ours "$openmp" $c 24000) - $(ours "$openmp" $c 4000)) / 20000))
done
