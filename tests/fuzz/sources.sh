# What a target is built from. Sourced.

# fuzz_flags SRC
fuzz_flags() {
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
    perf) echo "$1"/src/perf/ompp_perf_record.c ;;
    esac
}

# fuzz_libs TARGET
fuzz_libs() {
    [ "$1" != xml ] || echo "${XML2_LIBS--lxml2} ${DWARF_LIBS--ldwarf} -lm"
    echo -lm
}
