#!/bin/sh
# Every MPI function of the installed mpi.h has a wrapper in the library or a skip row with a reason; the generated file is what
# generating it again gives.
source=$abs_top_srcdir/src/mpi-wrap
build=$abs_top_builddir
failed=0
${AWK:-awk} -f "$source/mpi_gen.awk" -f "$source/mpi_gen_f.awk" "$source/mpi_calls.def" "$source/mpi_rules.def" "$source/mpi_wrap.c.in" \
    "$build/src/mpi-wrap/mpi_header.i" |
    cmp - "$build/src/mpi-wrap/mpi_wrap_hot.c" || failed=1
nm -D --defined-only "$build/.libs/libompp-mpi.so" | sed -n 's/.* T \(MPI_.*\)/\1/p' | sort > every-call.have
grep -v '^#' "$build/src/mpi-wrap/mpi_header.i" | tr '\n;' ' \n' | grep -v typedef |
    sed -n 's/.*[ *]\(MPI_[A-Z][A-Za-z0-9_]*\) *(.*/\1/p' | sort -u > every-call.want
[ "$(wc -l < every-call.want)" -gt 300 ] || { echo "cannot read mpi.h"; failed=1; }
while read -r name; do
    grep -qx "$name" every-call.have && continue
    grep -q "^$name  *skip  *[a-z]" "$source/mpi_calls.def" && continue
    echo "$name is in mpi.h and neither wrapped nor skipped for a reason"
    failed=1
done < every-call.want
rm -f every-call.have every-call.want
exit $failed
