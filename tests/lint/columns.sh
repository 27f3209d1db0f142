#!/bin/sh
# No writer and no analysis names a column: titles stand in src/model/ompp_column.def alone.
. "$(dirname "$0")/common.sh"

titles=$(sed -n 's/^OMPP_COLUMN([A-Z_]*, "\([A-Za-z]*\)".*/\1/p' "$src/src/model/ompp_column.def")
[ -n "$titles" ] || complain "no titles found in src/model/ompp_column.def"
for file in $(cd "$src" && find src/report src/analysis src/reader -name '*.c' | sort); do
    for title in $titles; do
        found=$(grep -n "\"[^\"]*\\b$title\\b[^\"]*\"" "$src/$file") && complain "$file: names the column $title: $found"
    done
done
exit $status
