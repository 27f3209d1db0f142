# Sourced by the tests of the wrapper and the launcher: a scratch directory, the commands under test, and claims.
kinst="$abs_top_builddir/kinst-ompp"
launch="$abs_top_builddir/ompp"
data="$abs_top_srcdir/tests/wrap"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ompp-wrap.XXXXXX") || exit 1
private="$scratch/tmp"
failed=0 left_out=
mkdir "$private" "$scratch/work"
TMPDIR="$private"; export TMPDIR
OMPP_QUIET=1; export OMPP_QUIET
cd "$scratch/work" || exit 1
trap 'cd /; rm -rf "$scratch"' EXIT

skip() { echo "SKIP: $*"; exit 77; }

# claim TEXT COMMAND...: the command succeeds.
claim()
{
    claim_text=$1; shift
    if "$@" >"$scratch/claim.log" 2>&1; then
        echo "ok - $claim_text"
    else
        echo "not ok - $claim_text ($*)"
        sed 's/^/#   /' "$scratch/claim.log"
        failed=1
    fi
}

not() { ! "$@"; }
same() { [ "$1" = "$2" ] || { echo "expected '$2', is '$1'"; false; }; }
files_are() { same "$(ls | tr '\n' ' ')" "$1 "; }
instrumented() { nm "$1" | grep -q 'ompp_pomp2_fork\|POMP2_'; }
clean_private() { same "$(ls "$private")" ""; }

# unmeasured COMMAND...: prints what a program prints without ompp. One that a signal ends is run again, three times at most.
unmeasured()
{
    for try in 1 2 3; do
        text=$("$@")
        status=$?
        [ $status -gt 128 ] || break
        echo "note: $* fails without ompp: status $status (run $try of 3)" >&2
    done
    printf '%s\n' "$text"
    return $status
}

end_test()
{
    claim "no private files are left" clean_private
    [ $failed = 0 ] && [ -n "$left_out" ] && skip "all else holds; programs that fail without ompp:$left_out"
    exit $failed
}
