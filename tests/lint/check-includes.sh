#!/bin/sh
# Who may include whom: the table of rows below. A folder may include itself and what its line names, nothing else of ours.
# A folder of tools/ sees itself, tools/common and, for the launcher, tools/doctor.
# Also: mpi.h only in src/mpi-wrap, omp-tools.h only in src/ompt, headers *_priv.h only in their own folder, no "../".
. "$(dirname "$0")/common.sh"

# The rows of the design, from the ground up; $names stand for a row and what it may see.
ground='base image'
plain="$ground model"
core="$plain structure unwind runtime data preload process"
meters="$core perf hooks"
table="
base:
image:          base
model:          $ground
structure:      $plain
analysis:       $plain structure
report:         $plain structure analysis
reader:         $plain structure analysis report
unwind:         $ground
cache:          $ground
runtime:        $plain unwind
data:           $plain unwind runtime
preload:        $plain unwind runtime data
process:        $plain unwind runtime data preload
perf:           $core
hooks:          $core cache
ompt:           $meters
opari-bridge:   $meters
gomp:           $meters
sample:         $meters
pthread:        $meters sample
function:       $meters
mpi-wrap:       $meters
counter:        $meters
causal:         $meters
"

allowed() { # allowed FOLDER TARGET
    [ "$1" = "$2" ] && return 0
    [ "$1" = lib ] && return 0
    echo "$table" | awk -v from="$1:" -v to="$2" '$1 == from { for (i = 2; i <= NF; i++) if ($i == to) found = 1 } END { exit !found }'
}

for folder in "$src"/src/*/; do
    name=$(basename "$folder")
    [ "$name" = lib ] && continue
    echo "$table" | grep -q "^$name:" || complain "src/$name: no row in the table of tests/lint/check-includes.sh; for an event source: $name: \$meters"
done

for file in $(sources src tools include); do
    top=${file%%/*}
    folder=$(echo "$file" | cut -d/ -f2)
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\([<"][^>"]*[>"]\).*/\1/p' "$src/$file" >/tmp/ompp-includes.$$
    while read -r include; do
        header=$(echo "$include" | tr -d '<>"')
        case $header in
        ../* | */../*) complain "$file: $header leaves its folder" ;;
        mpi.h) case $file in src/mpi-wrap/*) ;; *) complain "$file: mpi.h belongs to src/mpi-wrap" ;; esac ;;
        papi.h) case $file in src/counter/*) ;; *) complain "$file: papi.h belongs to src/counter" ;; esac ;;
        omp-tools.h) case $file in src/ompt/*) ;; *) complain "$file: omp-tools.h belongs to src/ompt" ;; esac ;;
        esac
        case $include in \"*/*\") ;; *) continue ;; esac
        target=${header%%/*}
        case $header in tools/*)
            room=${header#tools/}
            case $folder/${room%%/*} in
            "${room%%/*}/$folder" | */common | launch/doctor) ;;
            *) complain "$file: tools/$folder must not include $header" ;;
            esac
            continue
            ;;
        esac
        case $header in
        *_priv.h) [ "$top/$folder" = "src/$target" ] || complain "$file: $header is private to src/$target" ;;
        esac
        [ "$top" = src ] && [ -d "$src/src/$target" ] || continue
        allowed "$folder" "$target" || complain "$file: src/$folder must not include $header"
    done </tmp/ompp-includes.$$
    rm -f /tmp/ompp-includes.$$
done
exit $status
