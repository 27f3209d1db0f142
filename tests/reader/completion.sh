#!/bin/bash
# Completion offers what the commands' own help names, and nothing that they refuse.
command -v bash >/dev/null || { echo "SKIP: no bash"; exit 77; }
build=$abs_top_builddir
failed=0
bad() { echo "FAIL: $*"; failed=1; }
# shellcheck disable=SC1091
. "$abs_top_srcdir/tools/common/ompp-completion.bash" || exit 1
compopt() { :; } # outside of a completion it only complains

# offered WORD...: completes the last word
offered() {
    local function
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    function=$(complete -p "$(basename "$1")" | sed 's/.*-F \([^ ]*\).*/\1/')
    "$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
}
# has WHAT WORD...
has() { local what=$1; shift; offered "$@" | grep -qxF -- "$what" || bad "$* does not offer $what: $(offered "$@" | tr '\n' ' ')"; }
hasnt() { local what=$1; shift; offered "$@" | grep -qxF -- "$what" && bad "$* offers $what"; }

cd "$abs_top_srcdir/tests/reader/samples" || exit 1
for command in show csv check convert; do has $command "$build/ompp-report" ''; done
has csv "$build/ompp-report" c
has check "$build/ompp-report" c
hasnt show "$build/ompp-report" c
has --digits= "$build/ompp-report" show --
has --version "$build/ompp-report" --v
has plain.txt "$build/ompp-report" csv pl
has plain.csv "$build/ompp-report" --digits = 3 pl
hasnt show "$build/ompp-report" csv s
has --list-env "$build/ompp-config" --l
has --function= "$build/ompp-struct" --f
has plain.txt "$build/ompp-struct" pl
has --outdir= "$build/ompp" --o
has -n "$build/ompp" -
hasnt -finstrument-functions "$build/ompp" -
has bash "$build/ompp" bas
has --with= "$build/kinst-ompp" --w
has -nosrc "$build/kinst-ompp" -n
# Every option that is offered is one that the command knows.
for command in ompp-report ompp-struct ompp-config ompp kinst-ompp; do
    offered "$build/$command" - | while read -r option; do
        "$build/$command" "${option%=}" </dev/null 2>&1 | grep -qi 'unknown option' && case $option in *=) ;; *) echo "$command refuses $option" ;; esac
    done
done | grep . && bad "options are offered that are refused"
exit $failed
