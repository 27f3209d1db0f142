#!/bin/sh
# The layout of the sources is what clang-format makes of them with .clang-format: at most 120 columns. Comments are wrapped by hand
# (clang-format would join the lines of doxygen commands), so their width is checked here.
# Programs that tests measure are left as they are: their facts name their lines.
. "$(dirname "$0")/common.sh"

cd "$src" || exit 99
formatted=$(find src tools include examples tests/unit tests/bench tests/fakes tests/fuzz -name '*.[ch]' -o -name '*.cc' |
    grep -vE '/\.|^tests/unit/structure/(directives|loops|variables)\.' | sort)
for file in $formatted; do
    found=$(grep -nE "$(printf '\t')|[[:blank:]]$|^.{121,}" "$file" | head -3)
    [ -z "$found" ] || complain "$file: tab, blank at the end, or more than 120 columns: $found"
done

tool=
for name in clang-format clang-format-19 clang-format-14; do
    command -v $name >/dev/null && tool=$name && break
done
[ -n "$tool" ] || skip "no clang-format (Debian package: clang-format)"
# shellcheck disable=SC2086
found=$($tool --dry-run --style=file $formatted 2>&1 | grep 'code should be clang-formatted' | head -10)
[ -z "$found" ] || complain "not as clang-format -i --style=file would have it: $found"
exit $status
