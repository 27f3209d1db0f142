#!/bin/sh
# The strict checker accepts reports of ompP itself, where a collection of them stands beside the source tree.
[ "${PYTHON3:-no}" != no ] || { echo "SKIP: no python3"; exit 77; }
reports=${OMPP_TEST_REPORTS:-$abs_top_srcdir/../shared/ompp-reports}
[ -d "$reports" ] || { echo "SKIP: no folder $reports"; exit 77; }
"$PYTHON3" "$abs_top_srcdir/tests/check/ompp-check.py" "$reports"/*.txt*
