#!/bin/sh
# Reports in ompP's formats; see reader.py.
[ "${PYTHON3:-no}" != no ] || { echo "SKIP: no python3"; exit 77; }
exec "$PYTHON3" "$abs_top_srcdir/tests/reader/reader.py"
