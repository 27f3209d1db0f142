# Shared by scripts/check and scripts/demo; sourced, not run. Sets $top and $build.
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build

# Debian packages: to build, and for all tests and examples.
build_packages="gcc make autoconf automake libtool pkg-config libxml2-dev zlib1g-dev libdwarf-dev libelf-dev libzydis-dev libpapi-dev libopenmpi-dev openmpi-bin"
test_packages="opari2 clang-19 libomp-19-dev libclang-common-19-dev libcmocka-dev libxml2-utils python3 g++ gfortran valgrind
clang-format cmake libmpich-dev mpich musl-tools"

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Autotools and libtool cannot work below a directory whose name has a blank.
refuse_blanks() {
    case $top in
    *[[:space:]]*) die "the path '$top' contains blanks, which autotools do not allow: move the tree" ;;
    esac
}

# is_root_or_told ARGS...: may packages be installed?
may_install() {
    [ "$(id -u)" = 0 ] && return 0
    for argument; do [ "$argument" = --install ] && return 0; done
    return 1
}

missing_packages() {
    for package in $build_packages $test_packages; do
        state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)
        case $state in ii*) ;; *) printf '%s ' "$package" ;; esac
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"
}

# Installs what is missing, as root or with --install; otherwise says what to do and ends.
need_packages() {
    say "Debian packages needed to build: $build_packages"
    say "and for tests and examples:" $test_packages
    command -v dpkg-query >/dev/null || { say "(no dpkg here: make sure they are installed)"; return 0; }
    missing=$(missing_packages)
    [ -n "$missing" ] || { want_plugins "$@"; return 0; }
    say "Missing: $missing"
    may_install "$@" || die "not installed: run as root or with --install, or: apt-get install --no-install-recommends $missing"
    # shellcheck disable=SC2086
    if ! apt install --no-install-recommends $missing >/dev/null 2>&1; then
        apt update >/dev/null || die "apt-get update failed"
        apt install --no-install-recommends $missing || die "the packages could not be installed"
    fi
    want_plugins "$@"
}

# For the plugins by which load/store hooks cost less in what gcc and clang make; all works without them.
want_plugins() {
    want_header "$(gcc -print-file-name=plugin)/include/gcc-plugin.h" "gcc-$(gcc -dumpversion | sed 's/\..*//')-plugin-dev" "$@"
    want_header /usr/lib/llvm-19/include/llvm/Passes/PassPlugin.h llvm-19-dev "$@"
}

# want_header FILE PACKAGE ARGS...
want_header() {
    file=$1 package=$2
    shift 2
    [ ! -f "$file" ] || return 0
    may_install "$@" && apt install --no-install-recommends "$package" >/dev/null 2>&1 ||
        say "$package is not installed: hooks of kinst-ompp --memory will cost more"
}

# quietly LOG COMMAND...: the output goes to the log, its end is shown when the command fails.
quietly() {
    log=$1
    shift
    "$@" >"$log" 2>&1 && return 0
    tail -40 "$log"
    die "failed: $* (all of its output: $log)"
}

# progressing LOG COMMAND...: the same, and every PROGRESS_SECONDS (15) a line with the newest line of the log.
progressing() {
    (
        seconds=0
        while sleep "${PROGRESS_SECONDS:-15}" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
            seconds=$((seconds + ${PROGRESS_SECONDS:-15}))
            say "  ... $seconds s, $(wc -l <"$1") lines in the log: $(tail -n 1 "$1" | tr -s ' ' | sed 's,^ ,,' | cut -c 1-80)"
        done
    ) &
    reporter=$!
    trap 'kill $reporter 2>/dev/null' EXIT
    quietly "$@"
    kill $reporter 2>/dev/null
    trap - EXIT
}

# Builds in ./build; more arguments go to configure.
build_tree() {
    mkdir -p "$build" || die "cannot create $build"
    if [ ! -x "$top/configure" ] || [ "$top/configure.ac" -nt "$top/configure" ]; then
        say "bootstrap: makes configure (half a minute)"
        quietly "$build/bootstrap.log" "$top/bootstrap"
    fi
    cd "$build" || exit 1
    if [ ! -f Makefile ] || [ "$top/configure" -nt config.status ]; then
        say "configure: looks what this machine has (half a minute)"
        quietly "$build/configure.log" "$top/configure" --prefix="$build/install" "$@"
    fi
    say "make: builds ompp in $build (the first time 3 to 6 minutes on 2 cores; its output: make.log there)"
    progressing "$build/make.log" make -j2
}

# say_times RESULTS...: seconds by folder, and the slowest tests, from the last lines of their logs (tests/timed.sh).
say_times() {
    for trs; do
        name=${trs#"$build"/}
        sed -n "s,^took \([0-9.]*\) s\, \([0-9.]*\) s of.*,\1 \2 ${name%.trs},p" "${trs%.trs}.log" | tail -n 1
    done | sort -rn >"$build/times.log"
    say "Seconds, and of these processor time (all: $build/times.log):"
    awk '{ folder = $3; sub("tests/", "", folder); sub("/.*", "", folder)
           n[folder]++; wall[folder] += $1; used[folder] += $2 }
         END { for (f in n) printf "%8.1f %8.1f  tests/%s (%d)\n", wall[f], used[f], f, n[f] }' "$build/times.log" | sort -rn
    say "The slowest tests:"
    head -n 10 "$build/times.log" | awk '{ printf "%8.1f %8.1f  %s\n", $1, $2, $3 }'
}

# LLVM libomp 14 beside the build; its packages conflict with version 19, so they are unpacked, not installed.
unpack_libomp14() {
    dir=$build/libomp14
    if [ -z "$(find "$dir" -name 'libomp.so*' 2>/dev/null | head -1)" ]; then
        mkdir -p "$dir/deb"
        (cd "$dir/deb" && apt-get -q download libomp5-14 libomp-14-dev >download.log 2>&1) ||
            { say "libomp 14 cannot be had (apt-get download libomp5-14 libomp-14-dev): its tests are skipped"; return 0; }
        for deb in "$dir"/deb/*.deb; do dpkg -x "$deb" "$dir" || return 0; done
    fi
    OMPP_TEST_LIBOMP14=$dir
    export OMPP_TEST_LIBOMP14
}

# size_demo PROCESSORS: ranks, and settings (with the threads of a rank), for examples/heat: no more threads than processors, which
# would wait for each other. Says why.
size_demo() {
    settings=OMP_NUM_THREADS=2
    if [ "$1" -ge 4 ]; then
        ranks=2
        say "2 ranks x 2 threads, for the $1 processors here: the report shows all four faults of the example."
    elif [ "$1" -ge 2 ]; then
        ranks=1
        say "1 rank x 2 threads, for the $1 processors here: three of the example's four faults; the late rank needs 4 processors."
    else
        ranks=2 settings="$settings OMP_WAIT_POLICY=passive HEAT_WORK=sleep"
        say "2 ranks x 2 threads that sleep in place of work, for the 1 processor here: all four faults of the example."
    fi
}
