#!/bin/sh
# Every function that OPARI2's own library has for Fortran, and those of ompP's and our interface, in all manglings: in libompp.so
# and, for -static, in libompp-null.a.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v nm >/dev/null || skip "no nm (Debian package: binutils)"
library=$abs_top_builddir/.libs/libompp.so
[ -f "$library" ] || library=$abs_top_builddir/libompp.so
[ -f "$library" ] || skip "no libompp.so"

nm -D --defined-only "$library" | awk '{ print $3 }' | sort >shared
nm -g --defined-only "$abs_top_builddir/libompp-null.a" | awk 'NF == 3 { print $3 }' | sort >static
sed -n 's/^OMPP_FORTRAN_[A-Z_]*(\([a-z0-9_]*\), .*/\1/p' "$abs_top_srcdir/src/opari-bridge/ompp_fortran.def" >names
for name in pomp_begin pomp_end ompp_papi_set_drange ompp_f_region_begin ompp_f_region_end ompp_f_fork ompp_f_begin ompp_f_join \
    ompp_f_teams ompp_f_teams_end; do
    echo $name
done >>names
claim "the table has the functions of OPARI2" test "$(grep -c '^pomp2_' names)" -ge 65
while read -r name; do
    upper=$(echo "$name" | tr a-z A-Z)
    for symbol in "$name" "${name}_" "${name}__" "$upper" "${upper}_" "${upper}__"; do echo "$symbol"; done
done <names | sort >wanted
claim "all manglings are in libompp.so" same "$(comm -23 wanted shared)" ""
claim "and in libompp-null.a" same "$(comm -23 wanted static)" ""
if [ -f /usr/lib/libpomp.a ]; then
    nm -g --defined-only /usr/lib/libpomp.a | awk 'NF == 3 && $3 ~ /^pomp2_.*_$/ { print $3 }' | sort >theirs
    claim "whatever OPARI2's example library has" same "$(comm -23 theirs shared)" ""
fi
cd "$scratch/work" && rm -f shared static names wanted theirs
end_test
