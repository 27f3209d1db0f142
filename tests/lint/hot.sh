#!/bin/sh
# What objects of hot paths call: only what tests/lint/hot-allowed.txt names, or other parts of ompp. PMPI_* only in mpi-wrap.
. "$(dirname "$0")/common.sh"
command -v nm >/dev/null || skip "no nm (Debian package: binutils)"

objects=$(find "$build/src" -path '*/.libs/*_hot.o' -o -path '*/.libs/*_hot_*.o' 2>/dev/null | sort)
[ -n "$objects" ] || skip "no object of a hot path was built"
for object in $objects; do
    name=${object#"$build"/}
    for symbol in $(nm -u "$object" | awk '{ print $2 }'); do
        case $symbol in
        ompp_* | POMP2_*) continue ;;
        PMPI_* | MPI_* | ompi_*) case $name in src/mpi-wrap/*) continue ;; esac ;;
        esac
        sed 's/#.*//' "$src/tests/lint/hot-allowed.txt" | awk -v s="$symbol" '$1 == s { found = 1 } END { exit !found }' ||
            complain "$name: calls $symbol, which tests/lint/hot-allowed.txt does not allow"
    done
done
exit $status
