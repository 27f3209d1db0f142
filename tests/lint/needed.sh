#!/bin/sh
# What our libraries need at run time: those that live in the user's process need libc and MPI only.
. "$(dirname "$0")/common.sh"
command -v readelf >/dev/null || skip "no readelf (Debian package: binutils)"
[ -n "$(library libompp)" ] || skip "libompp.so was not built"

system='libc\.so|ld-linux|libpthread\.so|libdl\.so|libm\.so|libgcc_s\.so'
check() { # check LIBRARY PATTERN
    file=$(library "$1") || return 0
    for needed in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        echo "$needed" | grep -qE "^($system${2:+|$2})" || complain "$1.so needs $needed"
    done
}

check libompp ''
check libompp-memory 'libompp\.so'
check libompp-perf 'libompp\.so'
for family in openmpi mpich other; do check libompp-mpi-$family 'libompp\.so|libmpi'; done
check libompp-gomp 'libompp\.so'
check libompp-papi 'libompp\.so|libpapi'
check libompp-unwind 'libZydis|libZycore'
check libompp-names 'libdwarf|libelf|libz\.|libzstd|liblzma'
check libompp-report 'libxml2|libZydis|libZycore|libdwarf|libelf|libz\.|libzstd|liblzma|libicu'
exit $status
