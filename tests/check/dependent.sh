#!/bin/sh
# One changed value in an XML changes exactly the cells that depend on it.
[ "${PYTHON3:-no}" != no ] || { echo "SKIP: no python3"; exit 77; }
exec "$PYTHON3" "$abs_top_srcdir/tests/check/dependent.py" "$abs_top_builddir/ompp-report" "$abs_top_srcdir/tests/golden"
