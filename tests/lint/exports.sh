#!/bin/sh
# The symbols our libraries export are those of tests/golden/exports.txt: nothing of ours leaks into the user's program.
# MPI functions are left out: they follow the installed MPI. --update writes the file anew (make update-golden-exports).
. "$(dirname "$0")/common.sh"
command -v nm >/dev/null || skip "no nm (Debian package: binutils)"
golden=$src/tests/golden/exports.txt

actual() {
    for name in libompp libompp-gomp libompp-mpi libompp-memory libompp-names libompp-report libompp-unwind; do
        file=$(library $name) || continue
        nm -D -g --defined-only "$file" | awk '{ print $NF }' | sed 's/@.*//' | grep -viE '^p?mpi_|^_(init|fini)$' |
            LC_ALL=C sort -u | sed "s/^/$name.so /"
    done
}

[ -n "$(library libompp)" ] || skip "libompp.so was not built"
if [ "${1-}" = --update ]; then
    mkdir -p "$src/tests/golden" && actual >"$golden"
    exit
fi
list=$(mktemp) || exit 99
trap 'rm -f "$list"' EXIT
actual >"$list"
if ! diff -u "$golden" "$list"; then
    complain "exported symbols differ from tests/golden/exports.txt; if that is meant: make update-golden-exports in build/, in the same commit"
fi
exit $status
