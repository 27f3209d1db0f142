#!/bin/sh
# What scripts/demo says while it builds: that it goes on, and how far it is; what failed. How large its run is.
# What scripts/check says of times.
. "$abs_top_srcdir/scripts/lib.sh"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0
bad() { echo "FAIL: $*"; failed=1; }

# The command waits for the line about itself, a minute at most.
cat >"$work/long" <<END
echo "  CC   src/one.c"
n=0
until grep -q 'src/one.c' "$work/said" || [ \$n -ge 600 ]; do sleep 0.1; n=\$((n + 1)); done
END
(PROGRESS_SECONDS=1; progressing "$work/log" sh "$work/long"; say after) >"$work/said" || bad "a command that succeeds"
grep -q '^  \.\.\. [0-9]* s, 1 lines in the log: CC src/one.c$' "$work/said" || { bad "no progress:"; cat "$work/said"; }
[ "$(tail -n 1 "$work/said")" = after ] || bad "nothing after it"
(progressing "$work/log" sh -c 'echo bad words; exit 3'; say after) >"$work/said" 2>&1 && bad "a command that fails succeeds"
grep -q '^bad words$' "$work/said" || bad "what failed is not shown"
grep -q after "$work/said" && bad "it goes on after a failure"

# sized PROCESSORS RANKS SETTINGS
sized() {
    size_demo "$1" >"$work/said"
    [ "$ranks, $settings" = "$2, $3" ] || bad "$1 processors: $ranks ranks, $settings"
    [ "$(wc -l <"$work/said")" = 1 ] && grep -q "$2 ranks\{0,1\} x 2 threads.*$1 processor" "$work/said" || bad "$1 processors: $(cat "$work/said")"
}
sized 1 2 "OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive HEAT_WORK=sleep"
sized 2 1 OMP_NUM_THREADS=2
sized 3 1 OMP_NUM_THREADS=2
sized 4 2 OMP_NUM_THREADS=2
sized 64 2 OMP_NUM_THREADS=2

mkdir -p "$work/tests/one" "$work/tests/two/deep"
for row in one/a.sh:1.5:0.2 one/b.py:2.0:0.3 two/deep/c:30.0:9.0; do
    log=$work/tests/${row%%:*}
    row=${row#*:}
    echo "took ${row%:*} s, ${row#*:} s of processor time" >"$log.log"
    : >"$log.trs"
done
: >"$work/tests/one/untold.trs"
: >"$work/tests/one/untold.log"
(build=$work; say_times "$work"/tests/*/*.trs "$work"/tests/two/deep/c.trs) | grep '^ ' | tr -s ' ' >"$work/said"
cat >"$work/wanted" <<END
 30.0 9.0 tests/two (1)
 3.5 0.5 tests/one (2)
 30.0 9.0 tests/two/deep/c
 2.0 0.3 tests/one/b.py
 1.5 0.2 tests/one/a.sh
END
cmp "$work/said" "$work/wanted" || { bad "times:"; cat "$work/said"; }
exit $failed
