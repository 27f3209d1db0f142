#!/usr/bin/env python3
"""Variables by name and by address, and the part that lies at an offset: C, C++ and Fortran, gcc and clang, DWARF 4 and 5, symbols."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(os.environ.get("abs_top_builddir", "."), "tests", "unit", "structure", "show_variables")
failed = []

# name asked for -> [(name, function, size, {offset: part})]
C = {
    "plain": [("plain", "", 4, {0: "", 2: "+0x2"})],
    "table": [("table", "", 48, {0: "[0][0]", 8: "[0][1]", 24: "[1][0]", 40: "[1][2]", 44: "[1][2]+0x4"})],
    "cells": [("cells", "", 160, {0: "[0].used", 48: "[1].lock", 56: "[1].pair[0].a", 100: "[2].pair[0].b[1]"})],
    "locks": [("locks", "", 24, {0: "[0]", 16: "[2]"})],
    "per_thread": [],
    "text": [("text", "", 8, {0: ""})],
    "count": [("count", "first", 4, {0: ""}), ("count", "second", 8, {4: "[1]"})],
    "second::count": [("count", "second", 8, {})],
    "calls": [("calls", "in_header", 4, {0: ""})],
    "nothing": [],
}
CXX = {
    "geo::Body::count": [("geo::Body::count", "", 8, {0: ""})],
    "count": [("count", "", 4, {0: ""}), ("geo::Body::count", "", 8, {0: ""})],
    "bodies": [("geo::bodies", "", 48, {0: "[0].id", 32: "[1].mass[0]", 40: "[1].mass[1]"})],
    "hidden": [("geo::(anonymous namespace)::hidden", "", 4, {})],
    "value": [("value", "slot<1>", 4, {}), ("value", "slot<2>", 4, {})],
}
FORTRAN = {
    "TOTAL": [("shapes::total", "", 8, {0: ""})],
    "grid": [("shapes::grid", "", 96, {0: "(-1,1)", 8: "(0,1)", 40: "(0,2)", 88: "(2,3)"})],
    "cells": [("shapes::cells", "", 120, {0: "(1)%used", 32: "(2)%mass(1)", 112: "(5)%mass(2)"})],
    "list": [("/work/list", "driver", 16, {4: "(2)"})],
    "kept": [("kept", "driver", 40, {4: "(2)"})],
}


def check(good, text):
    if not good:
        failed.append(text)
        print("FAIL: " + text)


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def label_lines(*names):
    found = {}
    for name in names:
        for number, line in enumerate(open(os.path.join(HERE, name)), 1):
            for label in re.findall(r"/\* @(.+?) \*/", line):
                found.setdefault(label, []).append((name, number))
    return found


def ask(program, name, offsets):
    return [line.split("|") for line in run(TOOL, program, name, *map(str, offsets)).stdout.splitlines()]


def check_name(program, name, wanted, lines, title):
    found = ask(program, name, [])
    key = lambda row: (row[1], row[0])  # noqa: E731: by function, then name: addresses are the linker's affair
    found.sort(key=key)
    got = [(row[0], row[1], int(row[4])) for row in found]
    check(got == sorted(((n, f, s) for n, f, s, _ in wanted), key=key), "%s: %s is %s" % (title, name, got))
    for n, function, _, parts in wanted:
        rows = [r for r in ask(program, name, list(parts)) if (r[0], r[1]) == (n, function)]
        check(rows and rows[0][5:] == list(parts.values()), "%s: parts of %s: %s" % (title, n, rows))
        place = lines.get("%s::%s" % (function, n) if function else n)
        if place and rows:
            check((rows[0][2], int(rows[0][3])) in place, "%s: %s is declared in %s:%s" % (title, n, rows[0][2], rows[0][3]))


def test(folder, compiler, source, names, flags, lines):
    title = "%s %s %s" % (os.path.basename(compiler), source, " ".join(flags))
    program = os.path.join(folder, "program")
    modules = ("-J", folder) if source.endswith(".f90") else ()
    done = run(compiler, "-O0", *flags, *modules, "-o", program, os.path.join(HERE, source))
    if done.returncode:
        print("note: not tested: %s: %s" % (title, done.stderr[:200]))
        return None
    for name, wanted in names.items():
        check_name(program, name, wanted, lines, title)
    return program


def test_symbols(folder, compiler):
    """Without debug information: names and sizes of symbols, static ones too; nothing of parts but the offset."""
    program = test(folder, compiler, "variables.c", {}, ("-g0",), {})
    if program:
        check([r[0::4] for r in ask(program, "cells", [])] == [["cells", "160"]], "symbols: cells")
        check(sorted(r[4] for r in ask(program, "count", [])) == ["4", "8"], "symbols: static count")
        check(ask(program, "locks", [8])[0][5] == "+0x8", "symbols: offset")


def main():
    clang = os.environ.get("TEST_CLANG", "clang-19")
    gcc = os.environ.get("TEST_GCC", "gcc")
    folder = tempfile.mkdtemp(prefix="ompp-variables-")
    c, cxx, fortran = label_lines("variables.c", "variables.h"), label_lines("variables.cc"), label_lines("variables.f90")
    for flags in (("-g",), ("-gdwarf-4", "-no-pie"), ("-gdwarf-5", "-shared", "-fPIC")):
        for compiler, plus in ((gcc, "g++"), (clang, clang.replace("clang", "clang++"))):
            if shutil.which(compiler):
                test(folder, compiler, "variables.c", C, flags, c)
            if shutil.which(plus):
                test(folder, plus, "variables.cc", CXX, flags, cxx)
        if shutil.which("gfortran"):
            test(folder, "gfortran", "variables.f90", FORTRAN, flags, fortran)
    test_symbols(folder, gcc)
    shutil.rmtree(folder)
    print("variables: %d failed" % len(failed))
    sys.exit(1 if failed else 0)


main()
