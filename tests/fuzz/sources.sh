# What a target is built from. Sourced.

has_zydis() { echo '#include <Zydis/Zydis.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; }

# fuzz_flags SRC TARGET
fuzz_flags() {
    [ "$2" != structure ] || ! has_zydis || echo -DOMPP_HAVE_ZYDIS
    echo "-I$1/src -I$1/tests/fuzz -I${abs_top_builddir:-.} -I${abs_top_builddir:-.}/src ${XML2_CFLAGS-$(pkg-config --cflags libxml-2.0)}" \
        "${DWARF_CFLAGS--I/usr/include/libdwarf}"
}

# fuzz_sources SRC TARGET
fuzz_sources() {
    case $2 in
    document) echo "$1"/src/reader/*.c "$1"/src/report/ompp_text_layout.c "$1"/src/base/ompp_utf8.c "$1"/src/model/ompp_tables.c \
        "$1"/src/base/ompp_error.c "$1"/src/base/ompp_table.c ;;
    xml) echo "$1"/src/report/*.c "$1"/src/analysis/*.c $(ls "$1"/src/structure/*.c | grep -v flow_table) "$1"/src/model/*.c \
        "$1"/src/image/*.c "$1"/src/base/*.c ;; # as built without Zydis
    left) echo "$1"/src/model/*.c "$1"/src/image/*.c "$1"/src/base/*.c ;;
    structure) if has_zydis; then ls "$1"/src/structure/*.c; else ls "$1"/src/structure/*.c | grep -v flow_table; fi
        echo "$1"/src/image/*.c "$1"/src/base/*.c ;;
    perf) echo "$1"/src/perf/ompp_perf_record.c ;;
    esac
}

# fuzz_libs TARGET
fuzz_libs() {
    case $1 in
    xml) echo "${XML2_LIBS--lxml2} ${DWARF_LIBS--ldwarf} -lz" ;;
    structure) echo "${DWARF_LIBS--ldwarf} -lz"
        ! has_zydis || echo -lZydis ;;
    esac
    echo -lm
}

# fuzz_join FILE DWO: what is in a .dwo file becomes a part of FILE, so that damage comes to both.
fuzz_join() {
    for section in .debug_info.dwo .debug_abbrev.dwo .debug_line.dwo .debug_str_offsets.dwo .debug_str.dwo .debug_rnglists.dwo \
        .debug_loclists.dwo .debug_loc.dwo; do
        objcopy -O binary --set-section-flags $section=alloc -j $section "$2" part.dwo 2>/dev/null && [ -s part.dwo ] &&
            objcopy --add-section $section=part.dwo "$1" 2>/dev/null
    done
    rm -f part.dwo
}

# fuzz_programs SRC DIR: small programs and libraries, with debug information of each form, as seeds.
fuzz_programs() {
    mkdir -p "$2" || return 1
    here_programs=$(pwd)
    cd "$2" || return 1
    for compiler in "${CC:-gcc}" "${TEST_CLANG:-clang-19}"; do
        name=$(basename "${compiler%% *}")
        command -v "${compiler%% *}" >/dev/null || continue
        n=0
        for flags in "-O2" "-O2 -gdwarf-4" "-O2 -gdwarf-5" "-O0 -g" "-O3 -gdwarf-4 -gsplit-dwarf" "-O3 -gdwarf-5 -gsplit-dwarf" \
            "-O1 -g -gz=zlib" "-O1 -gdwarf-4 -gz=zlib-gnu" "-O2 -gdwarf-4 -fdebug-types-section" "-O2 -g -ffunction-sections" \
            "-O2 -g -gdwarf64"; do
            n=$((n + 1))
            # shellcheck disable=SC2086
            $compiler $flags -shared -nostdlib -fPIC "$1/tests/struct/nests.c" -o "$name-$n.so" 2>/dev/null
            case $flags in *split*)
                cp "$name-$n.so" "$name-$n-joined.so" 2>/dev/null
                for part in *.dwo; do [ ! -f "$part" ] || { fuzz_join "$name-$n-joined.so" "$part"; mv "$part" "$name-$n.split"; }; done ;;
            esac
        done
    done
    ${FC:-gfortran} -O2 -g -c "$1/tests/struct/nests.f90" -o fortran.o 2>/dev/null &&
        ${FC:-gfortran} -shared -nostdlib fortran.o -o fortran.so 2>/dev/null
    printf '%s\n' 'template <class T> struct list { T *at; int n; T sum() { T s = 0; for (T *p = at; p < at + n; p++) s += *p; return s; } };' \
        'namespace geo { list<double> all; thread_local int mine; }' \
        'extern "C" double sum(int n) { list<int> one; int a[20] = {n}; one.at = a; one.n = 20; try { return one.sum() + geo::all.sum(); } catch (...) { return geo::mine; } }' >cxx.cc
    g++ -O2 -g -c cxx.cc -fPIC -o cxx.o 2>/dev/null && g++ -shared -nostdlib cxx.o -o cxx.so 2>/dev/null
    rm -f -- *.o *.mod cxx.cc
    cd "$here_programs" || return 1
}
