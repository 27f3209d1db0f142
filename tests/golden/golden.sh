#!/bin/sh
# Saved profiles to text: byte for byte what is expected, also after writing and reading them again; XML of the schema.
# golden.sh --update writes the expected texts anew (make update-golden).
here=$abs_top_srcdir/tests/golden
report=$abs_top_builddir/ompp-report tool=$abs_top_builddir/tests/golden/report_tool
csv="collapsed constructs mpi ranks20 unresolved whatif" # their CSV is compared byte for byte; csv.py compares the numbers of all
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
export TZ=UTC0
failed=0

bad() { echo "FAIL: $*"; failed=1; }

if [ "$1" = --update ]; then
    for xml in "$here"/*.xml; do "$report" "$xml" > "${xml%.xml}.txt" || exit 1; done
    "$report" --digits=6 "$here/mpi.xml" > "$here/mpi.digits6.txt"
    for name in $csv; do "$report" csv "$here/$name.xml" > "$here/$name.csv" || exit 1; done
    "$report" coz "$here/whatif.xml" > "$here/whatif.coz" || exit 1
    exit 0
fi
for xml in "$here"/*.xml; do
    name=$(basename "$xml" .xml)
    "$report" check "$xml" > "$work/out" 2>&1 || bad "$name: check: $(cat "$work/out")"
    "$report" show "$xml" > "$work/$name.txt" || bad "$name: show"
    cmp "$work/$name.txt" "$here/$name.txt" || bad "$name: text differs"
    "$tool" xml "$xml" "$work/$name.xml" && "$tool" xml "$work/$name.xml" "$work/$name.2.xml" || bad "$name: rewrite"
    cmp "$work/$name.xml" "$work/$name.2.xml" || bad "$name: XML of XML differs"
    "$report" "$work/$name.xml" | cmp - "$here/$name.txt" || bad "$name: text of rewritten XML differs"
    if command -v xmllint > /dev/null; then
        xmllint --noout --schema "$abs_top_srcdir/src/report/ompp-profile.xsd" "$xml" "$work/$name.xml" 2> "$work/out" ||
            bad "$name: schema: $(cat "$work/out")"
    fi
done
"$report" --digits=6 "$here/mpi.xml" | cmp - "$here/mpi.digits6.txt" || bad "digits=6"
for name in $csv; do "$report" csv "$here/$name.xml" | cmp - "$here/$name.csv" || bad "$name: CSV differs"; done
"$report" coz "$here/whatif.xml" | cmp - "$here/whatif.coz" || bad "profile of Coz differs"
# A locale with a decimal comma changes nothing.
for locale in de_DE.UTF-8 de_DE.utf8; do
    LC_ALL=$locale "$report" "$here/mpi.xml" 2> /dev/null | cmp - "$here/mpi.txt" || bad "locale $locale"
    LC_ALL=$locale "$report" csv "$here/mpi.xml" 2> /dev/null | cmp - "$here/mpi.csv" || bad "CSV, locale $locale"
done
command -v xmllint > /dev/null || echo "not checked: schema (no xmllint)"
exit $failed
