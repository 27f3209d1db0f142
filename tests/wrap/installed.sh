#!/bin/sh
# What make install puts there for pkg-config and for module systems names the places that were configured, below a DESTDIR too.
. "$abs_top_srcdir/tests/wrap/lib.sh"
MAKEFLAGS= MFLAGS= MAKELEVEL=; export MAKEFLAGS MFLAGS MAKELEVEL
make -C "$abs_top_builddir" DESTDIR="$scratch/root" install-nodist_pkgconfigDATA install-nodist_moduleDATA >install.log 2>&1 || { cat install.log; exit 1; }
pc=$(find "$scratch/root" -path '*/pkgconfig/ompp.pc')
module=$(find "$scratch/root" -path '*/modulefiles/ompp/*')
version=$("$launch" --version | cut -d' ' -f2)
claim "a file for pkg-config" test -f "$pc"
claim "a module file, of this version" same "${module##*/}" "$version"
claim "nothing is left to be filled in" not grep -n "@[a-z_]*@\|$scratch" "$pc" "$module"

if command -v pkg-config >/dev/null && command -v gcc >/dev/null; then
    about() { PKG_CONFIG_PATH=${pc%/*} pkg-config "$@" ompp; }
    claim "its version" same "$(about --modversion)" "$version"
    claim "its libraries are where it stands" same "$scratch/root$(about --variable=libdir)/pkgconfig" "${pc%/*}"
    claim "they are found at run time, too" sh -c 'case $1 in *-rpath,$2*) ;; *) false ;; esac' sh "$(about --libs)" "$(about --variable=libdir)"
    cat >app.c <<'X'
#include <ompp.h>
int main(void)
{
    ompp_region_begin("part");
    ompp_region_end("part");
    return 0;
}
X
    # with the places of the build tree, which has the libraries
    tree="--define-variable=libdir=$abs_top_builddir/.libs --define-variable=includedir=$abs_top_srcdir/include"
    claim "a program is built by it" gcc $(about $tree --cflags) app.c -o app $(about $tree --libs)
    claim "and runs" env OMPP_REPORTFILE=r.txt ./app
    claim "and is measured" grep -q "USER REGION: 1 region" r.txt
else
    echo "note: no pkg-config or no gcc: the file for pkg-config was not used"
fi

# The commands of a module file, as Environment Modules and Lmod have them: they print what they are asked for.
if command -v tclsh >/dev/null; then
    cat >module.tcl <<'X'
foreach name {module-whatis conflict prepend-path} { proc $name {args} "puts \"$name \$args\"" }
source [lindex $argv 0]
ModulesHelp
X
    claim "the module file is read" sh -c 'tclsh module.tcl "$1" >set 2>help' sh "$module"
    path() { sed -n "s/^prepend-path $1 //p" set; }
    claim "PATH gets the commands" same "$scratch/root$(path PATH)" "${module%/share/*}/bin"
    claim "and pkg-config its file" same "$scratch/root$(path PKG_CONFIG_PATH)" "${pc%/*}"
    claim "its help names the commands" grep -q "kinst-ompp mpicc" help
else
    echo "note: no tclsh: the module file was not read"
fi
end_test
