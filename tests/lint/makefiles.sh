#!/bin/sh
# Newer versions of automake refuse an escaped #, which older ones pass on to make.
. "$(dirname "$0")/common.sh"

cd "$src" || exit 1
for file in Makefile.am $(find src tools tests man docs examples include -name 'Makefile*.am' 2>/dev/null | sort); do
    found=$(grep -n '\\#' "$file") && complain "$file: an escaped #: $found"
done
exit $status
