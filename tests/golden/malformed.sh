#!/bin/sh
# Rubbish is refused with one line that names file, line and reason, and status 1; nothing crashes (also under sanitizers).
here=$abs_top_srcdir/tests/golden
report=$abs_top_builddir/ompp-report
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0
sanitized=
src=$abs_top_srcdir
# The tool once more under sanitizers, where the compiler has them.
${CC:-cc} -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -I"$src/src" -I"$src" -I"$abs_top_builddir" \
    $XML2_CFLAGS $DWARF_CFLAGS -o "$work/report_sanitized" "$src"/tools/report/*.c "$src"/src/report/*.c "$src"/src/reader/*.c "$src"/src/analysis/*.c \
    "$src"/src/structure/*.c "$src"/src/model/*.c "$src"/src/image/*.c "$src"/src/base/*.c $XML2_LIBS $DWARF_LIBS -lm 2> "$work/cc.log" &&
    sanitized=$work/report_sanitized
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

bad() { echo "FAIL: $*"; failed=1; }
# refused NAME PATTERN: the file $work/x.xml
refused() {
    for program in "$report" $sanitized; do
        "$program" show "$work/x.xml" > "$work/out" 2> "$work/err"
        rc=$?
        [ $rc = 1 ] || bad "$1: status $rc of $program: $(head -3 "$work/err")"
        [ ! -s "$work/out" ] || bad "$1: printed something"
        [ "$(wc -l < "$work/err")" = 1 ] || bad "$1: not one line: $(head -3 "$work/err")"
        grep -q "x.xml:[0-9]*: .*$2" "$work/err" || bad "$1: said $(cat "$work/err")"
    done
}
# change NAME SED PATTERN: a good file with one change
change() {
    sed "$2" "$here/mpi.xml" > "$work/x.xml"
    cmp -s "$here/mpi.xml" "$work/x.xml" && bad "$1: nothing changed"
    refused "$1" "$3"
}

: > "$work/x.xml"; refused empty ''
echo 'hello' > "$work/x.xml"; refused text ''
head -c 3000 /dev/urandom > "$work/x.xml"; refused random ''
echo '<html/>' > "$work/x.xml"; refused html '<html> is not known'
printf '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b "c">]>\n<ompp-profile format="1"/>' > "$work/x.xml"; refused doctype 'document type'
for n in 1 20 57; do head -c $n "$here/mpi.xml" > "$work/x.xml"; refused "cut at $n" ''; done
for n in 1000 1500 2000 3000 3900; do head -c $n "$here/mpi.xml" > "$work/x.xml"; refused "cut at $n" 'the file is cut off'; done
head -n -1 "$here/mpi.xml" > "$work/x.xml"; refused 'without its last line' 'the file is cut off'
sed 's/<settings>/<settings/' "$here/mpi.xml" > "$work/x.xml"; refused 'broken inside' ''
grep -q 'cut off' "$work/err" && bad "broken inside: said $(cat "$work/err")"
change version 's/format="1"/format="2"/' 'format 2, this program reads format 1'
change 'wrong type' 's/duration-ns="[0-9]*"/duration-ns="long"/' 'duration-ns="long"'
change 'negative' 's/threads="2"/threads="-2"/' 'threads="-2"'
change 'too large' 's/threads="2"/threads="99999999999"/' 'threads="99999999999"'
change 'more than 64 bits' 's/duration-ns="[0-9]*"/duration-ns="18446744073709551616"/' 'not a valid value'
change 'missing attribute' 's/ slots="4"//' 'lacks the attribute "slots"'
change 'unknown attribute' 's/ slots="4"/ slots="4" more="1"/' 'no attribute "more"'
change 'unknown element' 's/<settings>/<settings><x\/>/' '<x> is not known here'
change 'unknown construct' 's/type="PARALLEL LOOP"/type="PARALLEL LOOPS"/' 'PARALLEL LOOPS'
change 'unknown phase' 's/name="startup"/name="start"/' 'name="start"'
change 'phase of another construct' 's/name="startup"/name="enter"/' 'PARALLEL LOOP has no phase "enter"'
change 'huge id' 's/<node id="1"/<node id="4000000000"/' 'id 4000000000, expected 1'
change 'huge location' 's/<times location="1"/<times location="4000000000"/' 'unknown location'
change 'huge region' 's/region="1"/region="4000000000"/' 'no known region'
change 'own parent' 's/<node id="1" parent="0"/<node id="1" parent="1"/' 'does not stand before it'
change 'cycle' 's/<node id="1" parent="0"/<node id="1" parent="2"/' 'does not stand before it'
change 'no parent' 's/<node id="1" parent="0"/<node id="1"/' 'does not stand before it'
change 'location twice' 's/<times location="1"/<times location="0"/' 'second value'
change 'list too short' 's/>0 8000 0 10 0</>0 8000 0 10</' 'holds 4 numbers'
change 'list too long' 's/>0 8000 0 10 0</>0 8000 0 10 0 1</' 'holds 6 numbers'
change 'list of words' 's/>0 8000 0 10 0</>0 many 0 10 0</' '"many" is not a number'
change 'empty list' 's/>0 8000 0 10 0</></' 'empty'
change 'unknown set' 's/\(<values .*\)set="1"/\1set="7"/' 'unknown metric set'
change 'rank twice' 's/<rank rank="1"/<rank rank="0"/' 'do not ascend'
change 'rank beyond' 's/<rank rank="1"/<rank rank="5"/' 'rank 5 of 2'
change 'stray text' 's/<nodes>/<nodes>stray/' 'text "stray'
change 'escape' 's/application="mpi"/application="m\\pi"/' 'not a valid value'
change 'not UTF-8' 's/application="mpi"/application="m\xffpi"/' ''
change 'no run' '/<run /d' '<run> must come first'
change 'no nodes' '/<node/,/<\/nodes>/d' 'no root node'
# Times that contradict each other: check says so, and nothing else minds. disagrees NAME SED PATTERN
disagrees() {
    sed "$2" "$here/mpi.xml" > "$work/x.xml"
    "$report" check "$work/x.xml" > "$work/out" 2> "$work/err"; [ $? = 1 ] || bad "$1: is in order"
    grep -q "x.xml: $3" "$work/err" && grep -q 'not in order' "$work/out" || bad "$1: said $(cat "$work/err" "$work/out")"
    "$report" show "$work/x.xml" > /dev/null || bad "$1: not shown"
}
"$report" check "$here/mpi.xml" > /dev/null || bad "mpi.xml is not in order"
disagrees 'child longer than its parent' 's/name="exec" time-ns="200000000"/name="exec" time-ns="2900000000"/' \
    'node 2 took 2900000000 ns on location 0, node 1 that contains it 2500000000 ns'
disagrees 'begin behind the end' 's/first-ns="60000000"/first-ns="6000000000000"/' 'node 2 begins at 6000000000000 ns, the run of rank 0'
disagrees 'run shorter than its regions' 's/duration-ns="[0-9]*"/duration-ns="1000000000"/' 'rank 0 took 1000000000 ns, its regions'
"$report" "$work/none.xml" > /dev/null 2> "$work/err"; [ $? = 1 ] || bad "missing file"
grep -q 'none.xml: No such file' "$work/err" || bad "missing file: $(cat "$work/err")"
"$report" > /dev/null 2> "$work/err"; [ $? = 2 ] || bad "no arguments"
"$report" --digits=12 "$here/mpi.xml" > /dev/null 2>&1; [ $? = 2 ] || bad "digits"
"$report" --digits 6 "$here/mpi.xml" | cmp -s - "$here/mpi.digits6.txt" || bad "digits with a blank"
"$report" "$here/mpi.xml" --digits > /dev/null 2>&1; [ $? = 2 ] || bad "digits without a number"
"$report" --what "$here/mpi.xml" > /dev/null 2>&1; [ $? = 2 ] || bad "unknown option"
"$report" --help | grep -q '^usage' || bad "help"
"$report" convert "$here/mpi.xml" > /dev/null 2> "$work/err"; [ $? = 1 ] || bad "convert of XML"
for command in merge collect; do
    "$report" $command "$here/mpi.xml" > /dev/null 2> "$work/err"; [ $? = 1 ] || bad "$command of XML"
    grep -q 'use show, csv or check for a report: .*mpi.xml: ' "$work/err" || bad "$command of XML: $(cat "$work/err")"
done
[ -c /dev/full ] && { "$report" "$here/mpi.xml" > /dev/full 2> "$work/err"; [ $? = 1 ] || bad "full output"; }
[ -n "$sanitized" ] || { echo "not run under sanitizers:"; head -3 "$work/cc.log"; }
exit $failed
