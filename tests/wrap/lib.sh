# Sourced by the tests of the wrapper and the launcher: a scratch directory, the commands under test, and claims.
kinst="$abs_top_builddir/kinst-ompp"
launch="$abs_top_builddir/ompp"
data="$abs_top_srcdir/tests/wrap"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ompp-wrap.XXXXXX") || exit 1
private="$scratch/tmp"
failed=0
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
end_test() { claim "no private files are left" clean_private; exit $failed; }
