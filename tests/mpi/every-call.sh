#!/bin/sh
# For each MPI: every MPI function of the installed mpi.h has a wrapper in the library or a skip row with a reason; the generated file is what
# generating it again gives.
source=$abs_top_srcdir/src/mpi-wrap
build=$abs_top_builddir
failed=0
for family in ${mpi_families:-openmpi}; do
here=$build/src/mpi-wrap/$family
${AWK:-awk} -f "$source/mpi_gen.awk" -f "$source/mpi_gen_f.awk" "$source/mpi_calls.def" "$source/mpi_rules.def" "$source/mpi_wrap.c.in" \
    "$here/mpi_header.i" |
    cmp - "$here/mpi_wrap_hot.c" || failed=1
nm -D --defined-only "$build/.libs/libompp-mpi-$family.so" | sed -n 's/.* T \(MPI_.*\)/\1/p' | sort > every-call.have
grep -v '^#' "$here/mpi_header.i" | tr '\n;' ' \n' | grep -v typedef |
    sed -n 's/.*[ *]\(MPI_[A-Z][A-Za-z0-9_]*\) *(.*/\1/p' | sort -u > every-call.want
[ "$(wc -l < every-call.want)" -gt 300 ] || { echo "cannot read mpi.h"; failed=1; }
while read -r name; do
    grep -qx "$name" every-call.have && continue
    grep -q "^$name  *skip  *[a-z]" "$source/mpi_calls.def" && continue
    echo "$family: $name is in mpi.h and neither wrapped nor skipped for a reason"
    failed=1
done < every-call.want
done
rm -f every-call.have every-call.want
exit $failed
