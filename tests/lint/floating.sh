#!/bin/sh
# Floating-point arithmetic in what runs on the program's threads: none in hot paths, and elsewhere only in the objects that
# tests/lint/floating-allowed.txt names, together with where the program's environment is saved. Read from the machine code.
. "$(dirname "$0")/common.sh"
command -v objdump >/dev/null || skip "no objdump (Debian package: binutils)"
[ "$(uname -m)" = x86_64 ] || skip "knows the instructions of x86-64 only"

allowed=$src/tests/lint/floating-allowed.txt
objects=$(for folder in $(measuring); do find "$build/src/$folder" -path '*/.libs/*.o' 2>/dev/null; done | sort)
[ -n "$objects" ] || skip "nothing was built"
for object in $objects; do
    name=$(basename "$object" .o)
    name=${name##*_la-}
    found=$(objdump -d --no-show-raw-insn "$object" | awk '
        /^[0-9a-f]+ <.*>:$/ { where = $2; next }
        $1 !~ /^[0-9a-f]+:$/ || where ~ /^<ompp_caller_(save|restore)>/ { next }
        # Moves, and the logic that compilers use for whole numbers, are none.
        $2 ~ /^v?(add|sub|mul|div|sqrt|max|min|cmp[a-z]*|u?comi|round|rcp|rsqrt|dp|hadd|hsub|addsub|fn?m[a-z0-9]*)(ss|sd|ps|pd)$/ ||
        $2 ~ /^v?cvt/ || $2 ~ /^f[a-z]/ && $2 !~ /^(fnstenv|fldenv|fnclex|fldcw|fxsave|fxrstor)/ { print where, $2; exit }')
    [ -n "$found" ] || continue
    case $name in *_hot | *_hot_*) complain "$name: floating-point arithmetic in a hot path: $found" ;; esac
    awk -v n="$name" '$1 == n { found = 1 } END { exit !found }' "$allowed" ||
        complain "$name: floating-point arithmetic on a thread of the program: $found"
done
exit $status
