#!/bin/sh
# Programs are run by single steps, with each call seen as it is made: every path that src/unwind finds must be the true one, at each
# instruction. With gcc and clang, with unwind information, without, and removed after the link; with pages between the segments.
src=${abs_top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${abs_top_builddir:-$(pwd)}
CC=${CC:-gcc}
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: knows x86-64 only"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/ompp-unwind.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
$CC -std=gnu11 -g -O2 -shared -fPIC -I"$src/src" -I"$build" "$src/tests/unwind/judge.c" "$build/.libs/libunwinding.a" \
    "$build/.libs/libimage.a" "$build/.libs/libbase.a" -lpthread -ldl -o judge.so || exit 1
infers=no
[ -f "$build/.libs/libompp-unwind.so" ] && cp "$build/.libs/libompp-unwind.so" . && infers=yes
status=0

judge() { # judge NAME PROGRAM
    rm -f out
    OMPP_JUDGE=step OMPP_JUDGE_OUT=$work/out OMPP_JUDGE_EVERY=3 OMPP_JUDGE_STEPS=150000 LD_PRELOAD=$work/judge.so "./$2" >/dev/null 2>err ||
        { echo "$1: failed"; cat err; status=1; }
    echo "$1: $(head -1 out 2>/dev/null)"
    samples=$(sed -n '1s/.* samples=\([0-9]*\).*/\1/p' out)
    roots=$(sed -n '1s/.* root=\([0-9]*\).*/\1/p' out)
    if [ "${samples:-0}" -lt 10000 ] || [ "$samples" != "$roots" ] || ! grep -q ' wrong=0 ' out; then
        sed -n '2,10p' out
        status=1
    fi
}

for compiler in "$CC" "${TEST_CLANG:-clang}"; do
    command -v "$compiler" >/dev/null || { echo "SKIP: no $compiler"; continue; }
    for flags in "-O3" "-O3 -march=haswell -fomit-frame-pointer" "-O2 -flto" "-O1 -fno-plt" "-O2 -Wl,-z,max-page-size=65536"; do
        # shellcheck disable=SC2086
        $compiler $flags "$src/tests/unwind/paths.c" -o paths -lm 2>/dev/null || { echo "SKIP: $compiler $flags"; continue; }
        judge "$compiler $flags" paths
        [ $infers = yes ] && objcopy -R .eh_frame -R .eh_frame_hdr paths removed 2>/dev/null && strip removed && judge "$compiler $flags, removed" removed
    done
    [ $infers = yes ] || continue
    $compiler -O3 -fno-asynchronous-unwind-tables -fno-unwind-tables "$src/tests/unwind/paths.c" -o paths -lm && judge "$compiler without" paths
done
[ $infers = yes ] || echo "SKIP: programs without unwind information: no libompp-unwind.so"
exit $status
