#!/bin/sh
# Memory is mapped by src/base/ompp_pages.h, but for what MPI gets, and what stands for a call of the program.
. "$(dirname "$0")/common.sh"

for file in $(sources src); do
    case $file in
    src/base/ompp_pages.h | src/mpi-wrap/* | src/hooks/ompp_mappings.c) continue ;;
    esac
    found=$(grep -nE '(^|[^_[:alnum:]*"])(mmap|mmap64|munmap|mremap|madvise|brk|sbrk)[[:space:]]*\([^)]' "$src/$file" | grep -vE '^[0-9]+: *(\*|/\*|//)|/\*.*(mmap|munmap|mremap|madvise|sbrk)') &&
        complain "$file: use src/base/ompp_pages.h: $found"
done
exit $status
