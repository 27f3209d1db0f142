#!/bin/sh
# Stack that our functions take on threads of the program: 4 KiB at most, but for those that tests/lint/stack-allowed.txt names,
# together with the stack that they run on. As the compiler has told it (-fstack-usage).
. "$(dirname "$0")/common.sh"

told=$(for folder in $(measuring); do find "$build/src/$folder" -path '*/.libs/*.su' 2>/dev/null; done | sort)
[ -n "$told" ] || skip "the compiler has told nothing of the stack"
# FILE:LINE:COLUMN:FUNCTION, bytes, static or dynamic; a path may have blanks
cat $told | awk -F '\t' -v limit=4096 '
    NR == FNR { sub(/#.*/, ""); split($0, word, " "); if (word[1]) allowed[word[1]] = 1; next }
    { n = split($1, part, ":"); name = part[n]; sub(/\..*/, "", name); file = part[1]; sub(/.*\//, "", file); sub(/\.c$/, "", file) }
    ($2 > limit || $3 == "dynamic") && !((file ":" name) in allowed) {
        print file ":" name ": " $2 " bytes of stack" ($3 == "dynamic" ? ", or more" : ""); bad = 1
    }
    END { exit bad }' "$src/tests/lint/stack-allowed.txt" - | sort -u | grep . && status=1
exit $status
