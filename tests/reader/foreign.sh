#!/bin/sh
# Reports of ompP itself, where a collection of them stands beside the source tree: read, printed again byte for byte, turned into
# the other form, checked.
reports=${OMPP_TEST_REPORTS:-$abs_top_srcdir/../shared/ompp-reports}
[ -d "$reports" ] || { echo "SKIP: no folder $reports"; exit 77; }
report=$abs_top_builddir/ompp-report
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0
bad() { echo "FAIL: $*"; failed=1; }
n=0

for file in "$reports"/*; do
    case $file in
    *.csv*) same=csv other=show ;;
    *.txt*) same=show other=csv ;;
    *) continue ;;
    esac
    n=$((n + 1))
    "$report" $same "$file" >"$work/same" 2>"$work/err" || bad "$file: $(cat "$work/err")"
    [ -s "$work/err" ] && bad "$file: said $(cat "$work/err")"
    cmp "$file" "$work/same" || bad "$file: not printed as it is"
    "$report" $other "$file" >"$work/other" 2>"$work/err" || bad "$file: $other: $(cat "$work/err")"
    "$report" check "$work/other" >"$work/out" 2>&1 || bad "$file: as $other: $(cat "$work/out")"
    "$report" check "$file" >"$work/out" 2>&1 || bad "$file: $(cat "$work/out")"
done
echo "$n reports"
[ $n -gt 0 ] || bad "no reports in $reports"
exit $failed
