#!/bin/sh
# One table makes docs/environment.md, the manual page ompp(7), ompp-config --list-env and the options of the launcher: they name the
# same variables, and say the same about them.
config=$abs_top_builddir/ompp-config table=$abs_top_srcdir/src/base/ompp_env.def
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0

bad() { echo "FAIL: $*"; failed=1; }

"$config" --env-markdown | diff - "$abs_top_srcdir/docs/environment.md" ||
    bad "docs/environment.md differs; regenerate: ompp-config --env-markdown > docs/environment.md"
"$config" --man | diff - "$abs_top_builddir/man/ompp.7" || bad "man/ompp.7 is not what ompp-config --man prints"
"$config" --list-env > "$work/list" && "$config" --env-markdown > "$work/markdown" && "$config" --man > "$work/man" || bad "ompp-config"

# names: those of the table, and in each form.
sed -n 's/^OMPP_ENV([a-z_0-9]*, "\([A-Z_0-9]*\)".*/\1/p' "$table" | sort > "$work/names"
[ "$(wc -l < "$work/names")" = "$(grep -c '^OMPP_ENV(' "$table")" ] || bad "a row of the table was not understood"
sed -n 's/^\([A-Z_0-9]*\)  *[a-zA-Z].*/\1/p' "$work/list" | sort | diff "$work/names" - || bad "--list-env"
sed -n 's/^| \([A-Z_0-9]*\) |.*/\1/p' "$work/markdown" | sort | diff "$work/names" - || bad "markdown"
sed -n 's/^\.B \([A-Z_0-9]*\)$/\1/p' "$work/man" | sort | diff "$work/names" - || bad "manual page"

# help: the words of the table stand in all of them.
while read -r name; do
    help=$(sed -n "s/^OMPP_ENV([a-z_0-9]*, \"$name\", .*, \"\(.*\)\")\$/\1/p" "$table")
    [ -n "$help" ] || bad "$name: no help in the table"
    grep -q -F -e "$help" "$work/list" || bad "$name: --list-env does not say: $help"
    grep -F "| $name |" "$work/markdown" | sed 's/\\|/|/g' | grep -q -F -e "$help" || bad "$name: markdown does not say: $help"
    sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\e/\\\\/g" "$work/man" | grep -q -F -e "$help" || bad "$name: manual page does not say: $help"
done < "$work/names"

# A manual page without complaints.
if command -v groff > /dev/null; then
    groff -man -Tascii -ww "$work/man" > "$work/page" 2> "$work/complaints" && [ ! -s "$work/complaints" ] ||
        bad "groff: $(cat "$work/complaints")"
fi
exit $failed
