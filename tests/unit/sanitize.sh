#!/bin/sh
# Builds the unit tests of base and model with address and undefined-behaviour sanitizers, and runs them: the ordinary build has
# none, and a reader of foreign files must be tried with them.
set -u
src=${abs_top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
CC=${CC:-gcc}
work=$(mktemp -d "${TMPDIR:-/tmp}/ompp-sanitize.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

flags="-std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
flags="$flags -DOMPP_TEST_SANITIZED -I$src/src -I$src/tests/unit/model"
cmocka=$(pkg-config --cflags --libs cmocka 2>/dev/null) || cmocka=-lcmocka

echo 'int main(void) { return 0; }' >probe.c
# shellcheck disable=SC2086
if ! $CC $flags probe.c -o probe 2>probe.log || ! ./probe 2>>probe.log; then
    echo "SKIP: $CC cannot build or run programs with -fsanitize=address,undefined:"
    head -3 probe.log
    exit 77
fi

# One archive of everything under test, then one program per test.
for file in "$src"/src/image/*.c "$src"/src/base/*.c "$src"/src/model/*.c "$src"/tests/unit/model/profile_tools.c; do
    # shellcheck disable=SC2086
    $CC $flags -c "$file" -o "$(basename "$file" .c).o" || exit 1
done
ar rc libtested.a ./*.o || exit 1
status=0
for file in "$src"/tests/unit/base/test_*.c "$src"/tests/unit/model/test_*.c; do
    [ -f "$file" ] || continue
    name=$(basename "$file" .c) wrap=
    [ "$name" = test_containers ] && wrap=-Wl,--wrap=calloc,--wrap=reallocarray,--wrap=syscall
    # shellcheck disable=SC2086
    $CC $flags "$file" -o "$name" $wrap -Wl,--whole-archive libtested.a -Wl,--no-whole-archive $cmocka || { status=1; continue; }
    if "./$name" >"$name.log" 2>&1; then
        echo "ok: $name"
    else
        echo "FAILED: $name"
        tail -60 "$name.log"
        status=1
    fi
done
exit $status
