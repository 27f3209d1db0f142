#!/bin/sh
# What the given libraries of MPI's Fortran bindings define: lines "symbol NAME", and "library SONAME".
for file; do
    $NM -D --defined-only "$file" | $AWK '$2 ~ /^[TW]$/ { sub(/@.*/, "", $3); print "symbol", $3 }'
    $OBJDUMP -p "$file" | $AWK '$1 == "SONAME" { print "library", $2 }'
done
