#!/bin/sh
# test_ctc once more under address and undefined-behaviour sanitizers.
. "$abs_top_srcdir/tests/wrap/lib.sh"
s=$abs_top_srcdir
gcc -g -D_GNU_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all -I"$s/src" "$s/tests/wrap/test_ctc.c" \
    "$s/src/opari-bridge/ompp_pomp2_ctc.c" -lcmocka -o test_ctc 2>err || skip "no sanitizers or no cmocka: $(head -1 err)"
claim "test_ctc under sanitizers" ./test_ctc
end_test
