#!/bin/sh
# Newer versions of automake refuse an escaped #, which older ones pass on to make. Every source stands in a Makefile.am: make dist has it.
. "$(dirname "$0")/common.sh"

cd "$src" || exit 1
for file in Makefile.am $(find src tools tests man docs examples include -name 'Makefile*.am' 2>/dev/null | sort); do
    found=$(grep -n '\\#' "$file") && complain "$file: an escaped #: $found"
done
[ "$src" -ef "$build" ] && exit $status # what was built lies among the sources
listed=$(find src tools include -name 'Makefile*.am' -exec cat {} + | tr -s ' \t' '\n')
for file in $(find src tools include -type f ! -name 'Makefile*.am' ! -name '.*' | sort); do
    echo "$listed" | grep -qxF "$file" || complain "$file: in no Makefile.am"
done
exit $status
