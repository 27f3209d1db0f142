#!/bin/sh
# Files stay readable: no source above 600 lines.
. "$(dirname "$0")/common.sh"
limit=600

for file in $(cd "$src" && find src tools include tests examples -type f \( -name '*.[ch]' -o -name '*.c.in' \
    -o -name '*.def' -o -name '*.py' -o -name '*.sh' -o -name '*.awk' \) | sort); do
    n=$(wc -l <"$src/$file")
    [ "$n" -le $limit ] || complain "$file: $n lines, more than $limit"
done
exit $status
