#!/bin/sh
# Newer versions of automake refuse an escaped #, which older ones pass on to make. Every fragment is included, and every source stands in
# a Makefile.am: make builds it, make dist has it.
. "$(dirname "$0")/common.sh"

cd "$src" || exit 1
fragments=$(find src tools tests man docs examples include -name 'Makefile*.am' 2>/dev/null | sort)
# shellcheck disable=SC2086
included=$(sed -n 's/^include //p' Makefile.am $fragments)
for file in Makefile.am $fragments; do
    found=$(grep -n '\\#' "$file") && complain "$file: an escaped #: $found"
    [ "$file" = Makefile.am ] || echo "$included" | grep -qxF "$file" || complain "$file: add 'include $file' to Makefile.am"
done
[ "$src" -ef "$build" ] && exit $status # what was built lies among the sources
listed=$(find src tools include -name 'Makefile*.am' -exec cat {} + | tr -s ' \t' '\n')
for file in $(find src tools include -type f ! -name 'Makefile*.am' ! -name '.*' | sort); do
    echo "$listed" | grep -qxF "$file" || complain "$file: in no Makefile.am"
done
exit $status
