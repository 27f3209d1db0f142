# Shared by the lint scripts: where source and build are, and how the libraries built here are found. Sourced, not run.
src=${abs_top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${abs_top_builddir:-$(pwd)}
status=0

complain() {
    echo "$*"
    status=1
}

skip() {
    echo "SKIP: $*"
    exit 77
}

# C sources and headers of ours below the given folders, one a line, without what a build left there.
sources() {
    (cd "$src" && find "$@" -name '*.[ch]' -o -name '*.c.in' 2>/dev/null) | grep -v '/\.' | sort
}

# Folders of src that run in the user's process, one a line: all but those that work on a profile after the run.
measuring() {
    (cd "$src/src" && for folder in */; do echo "${folder%/}"; done) | grep -vxE 'structure|analysis|report|reader'
}

# The built shared library of this name, or nothing.
library() {
    [ -f "$build/.libs/$1.so" ] && echo "$build/.libs/$1.so"
}
