#!/bin/sh
# The strict checker accepts our golden reports and refuses them with any one number changed.
[ "${PYTHON3:-no}" != no ] || { echo "SKIP: no python3"; exit 77; }
here=$abs_top_srcdir/tests/check golden=$abs_top_srcdir/tests/golden
reports=$(ls "$golden"/*.txt | grep -v '/exports.txt$')
"$PYTHON3" "$here/ompp-check.py" $reports || exit 1
"$PYTHON3" "$here/mutate.py" 3 $reports || exit 1

# A type that the checker does not know is named, and nothing else.
text=$(sed 's/SCOPE/RANGE/' "$golden/constructs.txt" | "$PYTHON3" "$here/ompp-check.py" /dev/stdin)
echo "$text" | grep -q "the type 'RANGE' has no row in COLUMNS" && echo "$text" | grep -q ' 1 objections' || { echo "$text"; exit 1; }
