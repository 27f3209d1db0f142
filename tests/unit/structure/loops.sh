#!/bin/sh
# See loops.py. Tools come from configure.
[ "$PYTHON3" != no ] || { echo "SKIP: no python3"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
PYTHONDONTWRITEBYTECODE=1 "$PYTHON3" "$srcdir/tests/unit/structure/loops.py" ./tests/unit/structure/show_lines \
    "$TEST_CLANG" "$srcdir/tests/unit/structure/loops.c" "$dir"
