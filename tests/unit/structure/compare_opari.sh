#!/bin/sh
# See compare_opari.py. Tools come from configure.
[ "$PYTHON3" != no ] || { echo "SKIP: no python3"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$PYTHON3" "$srcdir/tests/unit/structure/compare_opari.py" ./tests/unit/structure/show_lines \
    "$TEST_CLANG" "$OPARI2" "$srcdir/tests/unit/structure/directives.c" "$dir"
