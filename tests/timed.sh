#!/bin/sh
# make check starts every test through this script: the last line of the log says how long the test took. scripts/check reads that line.
read -r begin _ </proc/uptime
"$@"
status=$?
read -r end _ </proc/uptime
read -r stat </proc/$$/stat
# Fields 16 and 17 of all, the 14th and 15th behind the name: ticks of processor time of children that have ended.
# shellcheck disable=SC2086
set -- ${stat##*) }
awk -v seconds="$begin $end" -v ticks="${14} ${15}" -v hz="$(getconf CLK_TCK)" 'BEGIN {
    split(seconds, s, " "); split(ticks, t, " ")
    printf "took %.1f s, %.1f s of processor time\n", s[2] - s[1], (t[1] + t[2]) / hz }'
exit $status
