#!/bin/sh
# Runs libFuzzer on the readers: make fuzz, or fuzz.sh [SECONDS [TARGET...]]. Seeds are the samples of tests/reader, the golden
# files, a collection of reports beside the tree (see tests/check/foreign.sh), and what died processes left; small programs and libraries with debug
# information of each form for the reader of these (structure). What is found lies in ./fuzz/TARGET; make it small (TARGET -minimize_crash=1), mend
# the reader, and add the file to tests/fuzz/found/TARGET.
src=${abs_top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
here=$src/tests/fuzz
seconds=${1:-600}
[ $# -gt 0 ] && shift
targets=${*:-document xml left perf structure}
CLANG=${TEST_CLANG:-clang-19}
reports=${OMPP_TEST_REPORTS:-$src/../shared/ompp-reports}
flags="-std=gnu11 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined"
command -v "$CLANG" >/dev/null || { echo "SKIP: no $CLANG (Debian package: clang-19)"; exit 77; }

# shellcheck disable=SC1091
. "$here/sources.sh"
mkdir -p fuzz || exit 1
status=0
for target in $targets; do
    mkdir -p "fuzz/$target/corpus" || exit 1
    echo "building fuzz/fuzz_$target"
    # shellcheck disable=SC2086
    "$CLANG" $flags $(fuzz_flags "$src" "$target") -o "fuzz/fuzz_$target" "$here/fuzz_$target.c" $(fuzz_sources "$src" "$target") \
        $(fuzz_libs "$target") || exit 1
    case $target in
    left) set -- "${OMPP_JOB_DIR:-/dev/shm}"/ompp-* ;; # of processes that died
    structure) fuzz_programs "$src" fuzz/programs && set -- fuzz/programs/* ;;
    *) set -- "$src"/tests/golden/*.txt "$src"/tests/golden/*.csv "$src"/tests/golden/*.xml "$src"/tests/reader/samples/* "$reports"/* ;;
    esac
    for file in "$@" "$here/found/$target"/*; do
        [ -f "$file" ] && cp "$file" "fuzz/$target/corpus/seed-$(basename "$file")"
    done
    echo "fuzzing $target for $seconds seconds"
    "fuzz/fuzz_$target" -max_total_time="$seconds" -dict="$here/ompp.dict" -artifact_prefix="fuzz/$target/" -max_len=300000 \
        -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 "fuzz/$target/corpus" >"fuzz/$target.log" 2>&1 ||
        { status=1; echo "found something:"; }
    tail -12 "fuzz/$target.log"
done
exit $status
