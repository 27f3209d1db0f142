#!/bin/sh
# Names of report files, and what happens when they cannot be written.
here=$abs_top_srcdir/tests/golden
tool=$abs_top_builddir/tests/golden/report_tool
work=$(mktemp -d) || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export TZ=UTC0 TMPDIR="$work/tmp"
mkdir "$work/tmp" "$work/d" "$work/here"
cd "$work/here" || exit 99
failed=0

bad() { echo "FAIL: $*"; failed=1; }
# there DIR NAME...: exactly these files, none empty
there() {
    dir=$1; shift
    want=$(printf '%s\n' "$@" | sort); have=$(ls -A "$dir" | sort)
    [ "$want" = "$have" ] || bad "in $dir: have $(echo $have), want $(echo $want)"
    for f in "$@"; do [ -s "$dir/$f" ] || bad "$f is empty"; done
}
job() { "$tool" job "$@" > "$work/out" 2> "$work/err"; }

job "$here/mpi.xml" "$work/d" || bad "first"
[ "$(head -1 "$work/out")" = "$work/d/mpi.2x2-0.ompp.txt" ] || bad "path told: $(cat "$work/out")"
job "$here/mpi.xml" "$work/d" || bad "second"
there "$work/d" mpi.2x2-0.ompp.txt mpi.2x2-0.ompp.xml mpi.2x2-1.ompp.txt mpi.2x2-1.ompp.xml
# The end of a run adds a line to Coverage, where the saved profile has nothing.
grep -v '^share of thread time' "$work/d/mpi.2x2-0.ompp.txt" > "$work/run.txt"
grep -v '^everything was measured' "$here/mpi.txt" | cmp - "$work/run.txt" || bad "text of a run"
"$abs_top_builddir/ompp-report" "$work/d/mpi.2x2-0.ompp.xml" | cmp - "$work/d/mpi.2x2-0.ompp.txt" || bad "text from the XML of a run"
rm "$work/d"/*; echo x > "$work/d/mpi.2x2-0.ompp.xml"
job "$here/mpi.xml" "$work/d" || bad "only the XML exists"
there "$work/d" mpi.2x2-0.ompp.xml mpi.2x2-1.ompp.txt mpi.2x2-1.ompp.xml
rm "$work/d"/*
job "$here/mpi.xml" "$work/d" overwrite && job "$here/mpi.xml" "$work/d" overwrite || bad "overwrite"
there "$work/d" mpi.2x2.ompp.txt mpi.2x2.ompp.xml
rm "$work/d"/*
job "$here/tasks.xml" "$work/d" usepid || bad "usepid"
there "$work/d" tasks.2.1000-0.ompp.txt tasks.2.1000-0.ompp.xml
rm "$work/d"/*
job "$here/mpi.xml" "$work/d" local=1 || bad "local"
there "$work/d" mpi:1.2-0.ompp.txt mpi:1.2-0.ompp.xml
rm "$work/d"/*
job "$here/serial.xml" "$work/d" file=my.report && job "$here/serial.xml" "$work/d" file=my.report || bad "reportfile"
there "$work/d" my.report my.report.xml
rm "$work/d"/*
job "$here/unresolved.xml" "$work/d" || bad "strange name"
there "$work/d" gr____e______.3-0.ompp.txt gr____e______.3-0.ompp.xml
rm "$work/d"/*

# Ten at once: ten different pairs.
for i in 1 2 3 4 5 6 7 8 9 10; do "$tool" job "$here/serial.xml" "$work/d" > /dev/null & done
wait
[ "$(ls -A "$work/d" | wc -l)" = 20 ] || bad "ten at once: $(ls -A "$work/d")"
rm "$work/d"/*

# A directory that is not there: the working directory, one line.
job "$here/serial.xml" "$work/none" || bad "fallback"
there "$work/here" serial.1-0.ompp.txt serial.1-0.ompp.xml
[ "$(wc -l < "$work/err")" = 1 ] && grep -q "$work/none (No such file.*working directory" "$work/err" || bad "said: $(cat "$work/err")"
rm "$work/here"/*

# A full disk, as a limit on file size (1 block), everywhere: refused with one line, nothing left, the program lives.
(ulimit -f 1; "$tool" job "$here/constructs.xml" "$work/d" > "$work/out" 2> "$work/err"; echo $? > "$work/rc") 2> /dev/null
[ "$(cat "$work/rc")" = 1 ] || bad "disk full: status $(cat "$work/rc")"
[ "$(wc -l < "$work/err")" = 1 ] && grep -q "cannot write the report in $work/d (File too large), nor anywhere" "$work/err" ||
    bad "disk full: said $(cat "$work/err")"
[ -z "$(ls -A "$work/d" "$work/here" "$work/tmp" | grep ompp)" ] || bad "disk full: left $(ls -A "$work/d" "$work/here")"
[ -z "$(ls /tmp | grep '^constructs\.4-.*\.ompp\.')" ] || bad "disk full: left in /tmp: $(ls /tmp | grep '^constructs')"
exit $failed
