#!/bin/sh
# Layout of the sources: .clang-format holds for the files of tests/lint/format-clean.txt, which grows; for all of them: no tabs, no
# blanks at the end of a line, no line beyond 140 columns.
. "$(dirname "$0")/common.sh"

cd "$src" || exit 99
for file in $(sources src tools include tests/unit); do
    found=$(grep -nE "$(printf '\t')|[[:blank:]]$|^.{141,}" "$file" | head -3)
    [ -z "$found" ] || complain "$file: tab, blank at the end, or too long: $found"
done
[ $status -eq 0 ] || exit $status

tool=
for name in clang-format clang-format-19 clang-format-14; do
    command -v $name >/dev/null && tool=$name && break
done
[ -n "$tool" ] || skip "no clang-format (Debian package: clang-format)"
for file in $(sed 's/#.*//' tests/lint/format-clean.txt); do
    found=$($tool --dry-run --style=file "$file" 2>&1 | head -3)
    [ -z "$found" ] || complain "$found"
done
exit $status
