#!/bin/sh
# Names are used once: no two source files have the same base name, no two headers the same include guard.
. "$(dirname "$0")/common.sh"

cd "$src" || exit 99
files=$(find src tools include -type f -name '*.c' -o -type f -name '*.h' -o -type f -name '*.cc' -o -type f -name '*.S' -o -type f -name '*.def' | sort)
for name in $(for file in $files; do basename "$file"; done | sort | uniq -d); do
    complain "several files are called $name: $(echo "$files" | grep "/$name\$" | tr '\n' ' ')"
done
guard() { # the include guard of a header
    sed -n 's/^#ifndef \([A-Za-z0-9_]*_H_*\)$/\1/p' "$1" | head -1
}
headers=$(echo "$files" | grep '\.h$')
for name in $(for file in $headers; do guard "$file"; done | sort | uniq -d); do
    complain "several headers have the include guard $name: $(grep -lx "#ifndef $name" $headers | tr '\n' ' ')"
done
exit $status
