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
# Formats: CSV and XML share number and name with the text.
job "$here/serial.xml" "$work/d" csv && job "$here/serial.xml" "$work/d" csv notext && job "$here/serial.xml" "$work/d" notext || bad "formats"
there "$work/d" serial.1-0.ompp.txt serial.1-0.ompp.csv serial.1-0.ompp.xml serial.1-1.ompp.csv serial.1-1.ompp.xml serial.1-2.ompp.xml
[ "$(cat "$work/out")" = "$work/d/serial.1-2.ompp.xml
$work/d/serial.1-2.ompp.xml" ] || bad "path of XML alone: $(cat "$work/out")"
cmp -s "$work/d/serial.1-0.ompp.csv" "$work/d/serial.1-1.ompp.csv" && head -1 "$work/d/serial.1-1.ompp.csv" | grep -q '^##BEG header' || bad "CSV"
rm "$work/d"/*; echo x > "$work/d/serial.1-0.ompp.txt"
job "$here/serial.xml" "$work/d" csv notext || bad "a text stands in the way of the CSV"
there "$work/d" serial.1-0.ompp.txt serial.1-1.ompp.csv serial.1-1.ompp.xml
rm "$work/d"/*
job "$here/serial.xml" "$work/d" file=r csv && job "$here/serial.xml" "$work/d" file=c csv notext && job "$here/serial.xml" "$work/d" file=x notext ||
    bad "formats of an exact name"
there "$work/d" r r.csv r.xml c c.xml x
head -1 "$work/d/c" | grep -q '^##BEG' && head -1 "$work/d/x" | grep -q '^<?xml' && cmp -s "$work/d/c" "$work/d/r.csv" || bad "contents of exact names"
rm "$work/d"/*
job "$here/unresolved.xml" "$work/d" || bad "strange name"
there "$work/d" gr____e______.3-0.ompp.txt gr____e______.3-0.ompp.xml
rm "$work/d"/*

# What is no regular file is written to as it is, with no XML beside it.
special() { # FILE: still of its type, and alone in its directory
    [ "$(stat -c %F "$work/d/$1")" = "$2" ] || bad "$1 is now a $(stat -c %F "$work/d/$1")"
    [ "$(ls -A "$work/d")" = "$1" ] || bad "beside $1: $(ls -A "$work/d")"
}
if mknod "$work/d/null" c 1 3 2> /dev/null && true 2> /dev/null > "$work/d/null"; then
    job "$here/serial.xml" "$work/d" file=null || bad "a device"
    special null "character special file"
    job "$here/serial.xml" "$work/d" file="$work/d/null" local=1 || bad "a device, one rank"
    special null "character special file"
    [ "$(cat "$work/out")" = "$work/d/null" ] && [ ! -s "$work/err" ] || bad "a device: told $(cat "$work/out" "$work/err")"
    rm "$work/d/null"
else
    echo "not tried: devices cannot be made here"
fi
mkfifo "$work/d/pipe"
exec 3<> "$work/d/pipe" 4< "$work/d/pipe" 3>&- # now it has a reader, and what is written waits in it
job "$here/serial.xml" "$work/d" file=pipe || bad "a pipe"
special pipe fifo
[ -p "$work/d/pipe" ] && timeout 20 cat <&4 > "$work/read"
exec 4<&-
tail -n +2 "$work/read" | grep -q Coverage || bad "read from the pipe: $(head -3 "$work/read")"
timeout 20 "$tool" job "$here/serial.xml" "$work/d" file=pipe > "$work/out" 2> "$work/err" || bad "a pipe without reader: status $?"
special pipe fifo
grep -q "set OMPP_REPORTFILE to a file that you can write to: cannot write the report $work/d/pipe (No such device or address); it is .*/here/pipe" "$work/err" ||
    bad "a pipe without reader: said $(cat "$work/err")"
there "$work/here" pipe pipe.xml
rm "$work/here"/*
# Elsewhere the name may be that of anything, which stays; so does a program where the report belongs.
for mine in pipe pipe.xml; do
    echo mine > "$work/here/$mine"
    timeout 20 "$tool" job "$here/serial.xml" "$work/d" file=pipe > "$work/out" 2> "$work/err" || bad "$mine elsewhere: status $?"
    [ "$(cat "$work/here/$mine")" = mine ] && grep -q 'it is .*/here/serial.1-0.ompp.txt' "$work/err" || bad "$mine elsewhere: $(cat "$work/err")"
    there "$work/here" $mine serial.1-0.ompp.txt serial.1-0.ompp.xml
    rm "$work/here"/*
done
rm "$work/d"/*
for begin in '#!/bin/sh' '\177ELF'; do
    printf "$begin" > "$work/d/prog"; cp "$work/d/prog" "$work/prog"
    job "$here/serial.xml" "$work/d" file=prog || bad "a program at the report's name"
    cmp -s "$work/d/prog" "$work/prog" && grep -q 'another file is there' "$work/err" || bad "a program is replaced: $(cat "$work/err")"
    there "$work/d" prog
    rm "$work/d"/* "$work/here"/*
done

# A reader that goes away does not take the program along.
mkfifo "$work/d/pipe"
exec 3<> "$work/d/pipe" 4< "$work/d/pipe" 3>&-
# 1031 = F_SETPIPE_SZ: one page, so that the writer has to wait for the reader.
[ "${PYTHON3:-no}" = no ] || "$PYTHON3" -c 'import fcntl; fcntl.fcntl(0, 1031, 4096)' <&4
(while [ -z "$(head -c 1)" ]; do sleep 0.1; done) <&4 4<&- & reader=$!
exec 4<&-
timeout 20 "$tool" job "$here/constructs.xml" "$work/d" file=pipe > "$work/out" 2> "$work/err" || bad "reader gone: status $?"
kill $reader 2> /dev/null; wait $reader
rm "$work/d"/* "$work/here"/*

# The program's own output stays when the report goes to the same file. The link is like /dev/stdout, which no test may risk.
ln -s /proc/self/fd/1 "$work/here/stdout"
(echo before; "$tool" job "$here/serial.xml" "$work/d" file="$work/here/stdout"; echo after) > "$work/d/log" || bad "stdout"
[ "$(ls -A "$work/d")" = log ] && [ "$(ls -A "$work/here")" = stdout ] && [ -L "$work/here/stdout" ] && [ "$(head -1 "$work/d/log")" = before ] && [ "$(tail -1 "$work/d/log")" = after ] &&
    grep -q Coverage "$work/d/log" || bad "stdout: $(head -3 "$work/d/log") in $(ls -A "$work/d")"
rm "$work/d"/* "$work/here"/*

# Links stay; what they lead to is replaced, also when it is not there yet.
mkdir "$work/far"
for target in old new; do
    [ $target = new ] || echo old > "$work/far/old"
    ln -s ../far/$target "$work/d/link"; ln -s link "$work/d/second"
    job "$here/serial.xml" "$work/d" file=second || bad "a link to $target"
    [ -L "$work/d/second" ] && [ -L "$work/d/link" ] || bad "link to $target replaced"
    there "$work/far" $target; grep -q Coverage "$work/far/$target" || bad "link to $target not followed"
    there "$work/d" link second second.xml
    rm "$work/d"/* "$work/far"/*
done
ln -s loop "$work/d/loop"; job "$here/serial.xml" "$work/d" file=loop || bad "a loop of links"
grep -q 'Too many levels of symbolic links' "$work/err" || bad "loop: said $(cat "$work/err")"
rm "$work/d"/* "$work/here"/*

# A file of somebody else with a name as temporary files had it once is left alone.
cat > "$work/names" <<'X'
for i in 0 1; do echo mine > "$1/.ompp-$$-$i.tmp"; done
exec "$2" job "$3" "$1" file=r
X
sh "$work/names" "$work/d" "$tool" "$here/serial.xml" > "$work/out" 2>&1 || bad "names of temporary files"
[ "$(cat "$work/d"/.ompp-*.tmp 2> /dev/null | tr '\n' ' ')" = "mine mine " ] || bad "another's temporary file: $(ls -A "$work/d")"
rm "$work/d"/* "$work/d"/.ompp-*

# Modes follow the umask of the process, as without a temporary file.
for mask in 022 027 077; do
    (umask $mask; job "$here/serial.xml" "$work/d" file=mode; : > "$work/d/like")
    [ "$(stat -c %a "$work/d/mode")" = "$(stat -c %a "$work/d/like")" ] || bad "umask $mask: $(stat -c %a "$work/d/mode")"
    rm "$work/d"/*
done

# Ten at once: ten different pairs.
for i in 1 2 3 4 5 6 7 8 9 10; do "$tool" job "$here/serial.xml" "$work/d" > /dev/null & done
wait
[ "$(ls -A "$work/d" | wc -l)" = 20 ] || bad "ten at once: $(ls -A "$work/d")"
rm "$work/d"/*

# A directory that is not there: the working directory, one line.
job "$here/serial.xml" "$work/none" || bad "fallback"
there "$work/here" serial.1-0.ompp.txt serial.1-0.ompp.xml
[ "$(wc -l < "$work/err")" = 1 ] && grep -q "set OMPP_OUTDIR to a directory that you can write to: cannot write the report $work/none/serial.1-0.ompp.txt (No such file.*); it is .*/here/serial.1-0.ompp.txt" "$work/err" || bad "said: $(cat "$work/err")"
rm "$work/here"/*

# A full disk, as a limit on file size (1 block), everywhere: refused with one line, nothing left, the program lives.
(ulimit -f 1; "$tool" job "$here/constructs.xml" "$work/d" > "$work/out" 2> "$work/err"; echo $? > "$work/rc") 2> /dev/null
[ "$(cat "$work/rc")" = 1 ] || bad "disk full: status $(cat "$work/rc")"
[ "$(wc -l < "$work/err")" = 1 ] && grep -q "set a larger ulimit -f: cannot write the report $work/d/constructs.4-0.ompp.txt (larger than ulimit -f allows), nor anywhere else" "$work/err" ||
    bad "disk full: said $(cat "$work/err")"
[ -z "$(ls -A "$work/d" "$work/here" "$work/tmp" | grep ompp)" ] || bad "disk full: left $(ls -A "$work/d" "$work/here")"
[ -z "$(ls /tmp | grep '^constructs\.4-.*\.ompp\.')" ] || bad "disk full: left in /tmp: $(ls /tmp | grep '^constructs')"
exit $failed
