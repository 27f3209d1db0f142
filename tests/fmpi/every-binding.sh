#!/bin/sh
# For each MPI: every function of MPI's Fortran libraries has a wrapper or a skip row with a reason, under each of its names; nothing is wrapped that
# they do not have; the generated file is what generating it again gives.
source=$abs_top_srcdir/src/mpi-wrap
build=$abs_top_builddir
failed=0
seen=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
for family in ${mpi_families:-openmpi}; do
here=$build/src/mpi-wrap/$family
symbols=$here/mpi_fortran.symbols
[ -s "$symbols" ] || continue
seen=$((seen + 1))
${AWK:-awk} -v fortran=1 -f "$source/mpi_gen.awk" -f "$source/mpi_gen_f.awk" "$source/mpi_calls.def" "$source/mpi_rules.def" \
    "$source/mpi_wrap_f.c.in" "$source/mpi_fortran.def" "$here/mpi_header.i" "$symbols" |
    cmp - "$here/mpi_wrap_f_hot.c" || failed=1
# mpi_x_, mpi_x__, mpi_x, MPI_X, mpi_x_f08_, ...; MPI_Xx are C functions or Open MPI's own names.
sed -n 's/^symbol \(mpi_[a-z0-9_]*\|MPI_[A-Z0-9_]*\)$/\1/p' "$symbols" | LC_ALL=C sort -u > "$scratch/want"
nm -D --defined-only "$build/.libs/libompp-mpi-$family.so" | sed -n 's/.* T \(mpi_[a-z0-9_]*\|MPI_[A-Z0-9_]*\)$/\1/p' | LC_ALL=C sort -u \
    > "$scratch/have"
[ "$(wc -l < "$scratch/want")" -gt 600 ] || { echo "cannot read the symbols of MPI's Fortran libraries"; failed=1; }
LC_ALL=C comm -13 "$scratch/want" "$scratch/have" > "$scratch/more"
[ -s "$scratch/more" ] && { echo "wrapped, and in no library:"; cat "$scratch/more"; failed=1; }
LC_ALL=C comm -23 "$scratch/want" "$scratch/have" > "$scratch/less"
# Names of skip rows, as patterns for any spelling.
sed -n 's/^MPI_\([A-Za-z0-9_]*\)\*  *skip  *[a-z].*/^mpi_\1/p; s/^MPI_\([A-Za-z0-9_]*\)  *skip  *[a-z].*/^mpi_\1(_f08)?_*$/p' \
    "$source/mpi_calls.def" > "$scratch/skip"
grep -viEf "$scratch/skip" "$scratch/less" > "$scratch/missed"
[ -s "$scratch/missed" ] && { echo "neither wrapped nor skipped for a reason:"; cat "$scratch/missed"; failed=1; }
done
[ $seen -gt 0 ] || { echo "MPI has no Fortran libraries here"; exit 77; }
exit $failed
