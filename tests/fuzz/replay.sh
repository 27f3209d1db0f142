#!/bin/sh
# What fuzzers found, and every sample, once more through the readers, under address and undefined-behaviour sanitizers.
src=${abs_top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
here=$src/tests/fuzz
CC=${CC:-gcc}
work=$(mktemp -d "${TMPDIR:-/tmp}/ompp-replay.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
flags="-std=gnu11 -D_GNU_SOURCE -w -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"

# shellcheck disable=SC1091
. "$here/sources.sh"
echo 'int main(void) { return 0; }' >"$work/probe.c"
# shellcheck disable=SC2086
if ! $CC $flags "$work/probe.c" -o "$work/probe" 2>"$work/log" || ! "$work/probe" 2>>"$work/log"; then
    echo "SKIP: $CC cannot build or run programs with -fsanitize=address,undefined:"
    head -3 "$work/log"
    exit 77
fi
status=0
for target in document xml left perf structure; do
    # shellcheck disable=SC2086
    $CC $flags $(fuzz_flags "$src" $target) -o "$work/$target" "$here/replay.c" "$here/fuzz_$target.c" $(fuzz_sources "$src" $target) \
        $(fuzz_libs $target) || exit 1
    set -- "$here/found/$target"/* "$src"/tests/reader/samples/*
    [ $target = xml ] && set -- "$here/found/$target"/* "$src"/tests/golden/*.xml
    [ $target = left ] && set -- "$here/found/$target"/* "$src"/tests/golden/serial.xml
    [ $target = perf ] && set -- "$here/found/$target"/*
    [ $target = structure ] && fuzz_programs "$src" "$work/programs" && set -- --damaged=40 "$work/programs"/* "$here/found/$target"/*
    [ -e "$1" ] || shift
    if "$work/$target" "$@" >"$work/log" 2>&1; then
        echo "ok: $target: $# files"
    else
        echo "FAILED: $target:"
        tail -40 "$work/log"
        status=1
    fi
done
exit $status
