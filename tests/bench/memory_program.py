#!/usr/bin/env python3
"""
Slowdown of exact load/store counts in a real program, gcc's and clang's hooks, beside valgrind's cachegrind and lackey, in one run.

    tests/bench/memory_program.py --build 'COMMAND' --run 'COMMAND' [--same REGEX] [--pairs 5] [--data NAMES] [--work DIR] FOLDER

FOLDER holds the sources; it is copied for each way to build, and stays as it is. Both commands are the shell's, in the copy. The one
that builds finds the compilers in $CC, $CXX, $FC, $MPICC, $MPICXX and $MPIFC, and has to use them and nothing that is built already:

    abs_top_builddir=BUILD tests/bench/memory_program.py --build 'make CC="$CC"' --run './solve -n 20' --same 'residual' ~/solve

Each pair runs the plain and the measured program in turn, with one thread unless OMP_NUM_THREADS says otherwise, and valgrind's tools
once on the plain programs (the command begins with the program), so the run has to be short: lackey takes some hundred times as long.
With --work, builds stay in DIR, and are taken from there the next time; --pairs 0 only builds.

Printed are medians over the pairs of CPU time and of its ratio to the plain build, least and largest in brackets; loads and stores, and
their bytes; and how many of the lines of stdout that --same picks (default: all; leave out those that tell times) are those of the plain
build of the same compiler. Asserts nothing.
"""
import argparse
import glob
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import memory

BYTES = {"I8": 1, "I16": 2, "I32": 4, "I64": 8, "I128": 16, "F32": 4, "F64": 8, "F128": 16, "V128": 16, "V256": 32}  # lackey's types


class Way:
    """A way to run the program: what is before the command, in which copy of the folder, compared with which other way."""

    def __init__(self, name, folder, before="", base=None):
        self.name, self.folder, self.before, self.base = name, folder, before, base
        self.seconds, self.ratios, self.lines, self.refs = [], [], None, None


def built(args, scratch, name, compiler, hooks):
    """Copy of the folder with the program in it."""
    folder = os.path.join(scratch, name)
    if os.path.exists(folder):
        return folder
    shutil.copytree(args.folder, folder, symlinks=True)
    plus = compiler.replace("clang", "clang++", 1) if "clang" in compiler else compiler.replace("gcc", "g++", 1)
    before = os.path.join(memory.BUILD, "kinst-ompp") + " --memory " if hooks else ""
    names = {"CC": compiler, "CXX": plus, "FC": "gfortran", "MPICC": "mpicc", "MPICXX": "mpicxx", "MPIFC": "mpifort"}
    environment = dict(os.environ, OMPI_CC=compiler, OMPI_CXX=plus, MPICH_CC=compiler, MPICH_CXX=plus)
    environment.update({key: before + value for key, value in names.items()})
    done = subprocess.run(args.build, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        shutil.rmtree(folder)
        sys.exit("%s: cannot be built\n%s" % (name, done.stdout.decode(errors="replace")[-3000:]))
    return folder


def ways(args, scratch):
    found = []
    for name, compiler in (("gcc", memory.GCC), ("clang", memory.CLANG)):
        if not shutil.which(compiler.split()[0]):
            print("no %s here" % compiler)
            continue
        old = " -gdwarf-4" if name == "clang" else ""  # valgrind 3.19 cannot read what newer ones write
        plain = Way("plain " + name, built(args, scratch, "plain-" + name, compiler + old, False))
        found += [plain, Way("hooks " + name, built(args, scratch, "hooks-" + name, compiler, True), base=plain)]
        for tool, options in memory.VALGRIND.items():
            if shutil.which("valgrind"):
                found.append(Way("%s %s" % (tool, name), plain.folder, "valgrind %s " % " ".join(options), plain))
    return found


def execute(args, way):
    """One run: CPU seconds of the command and its children, stdout, stderr."""
    environment = dict(os.environ, OMPP_QUIET="1", OMPP_OVERWRITE="1", OMPP_REPORTFILE="bench.txt", OMPP_DATA=args.data)
    environment.setdefault("OMP_NUM_THREADS", "1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(way.before + args.run, shell=True, cwd=way.folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print("%s: exit status %d\n%s" % (way.name, done.returncode, done.stderr.decode(errors="replace")[-3000:]))
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def counted_by_hooks(way):
    """Loads, stores, bytes loaded and stored of all data, from the profile."""
    root = ElementTree.parse(max(glob.glob(os.path.join(way.folder, "*.xml")), key=os.path.getmtime)).getroot()
    number = next((m.get("set") for m in root.find("metrics") if m.get("source") == "load/store hooks"), None)
    sums = [0] * 4
    for values in root.iterfind("nodes/node/values"):
        if number is not None and values.get("set") == number and values.get("object") is None:
            sums = [old + int(new) for old, new in zip(sums, values.text.split())]
    return sums


def counted_by_valgrind(said):
    """Of cachegrind: loads and stores; of lackey also bytes."""
    plain = said.replace(",", "")
    refs = re.search(r"D\s+refs:\s+\d+\s+\(\s*(\d+) rd\s+\+\s+(\d+) wr", plain)
    if refs:
        return [int(refs.group(1)), int(refs.group(2))]
    rows = re.findall(r"==\s+(\w+)\s+(\d+)\s+(\d+)\s+\d+$", plain, re.M)
    loads, stores = ([(BYTES[r[0]], int(r[k])) for r in rows if r[0] in BYTES] for k in (1, 2))
    return [sum(n for _, n in loads), sum(n for _, n in stores), sum(b * n for b, n in loads), sum(b * n for b, n in stores)]


def once(args, way):
    seconds, out, err = execute(args, way)
    way.lines = [line for line in out.splitlines() if re.search(args.same, line)]
    if way.before:
        way.refs = counted_by_valgrind(err)
    elif way.base:
        way.refs = counted_by_hooks(way)
    way.seconds.append(seconds)
    way.ratios.append(seconds / way.base.seconds[-1] if way.base else 1)


def measure(args, found):
    pairs = [way for way in found if not way.before]
    for way in pairs:
        execute(args, way)  # warms
    for _ in range(args.pairs):
        for way in pairs:
            once(args, way)
    for way in found:
        if way.before:
            once(args, way)


def cell(value):
    return "%14s" % ("" if value is None else "{:,}".format(value))


def show(way):
    ratio = "%6.1fx (%.1f to %.1f)" % (statistics.median(way.ratios), min(way.ratios), max(way.ratios)) if way.base else ""
    same = ""
    if way.base:
        pairs = list(zip(way.lines, way.base.lines))
        differ = sum(a != b for a, b in pairs) + abs(len(way.lines) - len(way.base.lines))
        same = "%d of %d lines" % (len(pairs) - differ, len(pairs)) if not differ else "%d of %d lines DIFFER" % (differ, len(pairs))
    refs = (way.refs or []) + [None] * 4
    print("%-17s %7.2f s %-24s%s   %s" % (way.name, statistics.median(way.seconds), ratio, "".join(cell(v) for v in refs[:4]), same))


def main():
    parser = argparse.ArgumentParser(description="Slowdown of exact load/store counts in a real program.")
    for option in "--build", "--run":
        parser.add_argument(option, required=True)
    parser.add_argument("--same", default="", help="lines of stdout that must be the same")
    parser.add_argument("--data", default="", help="OMPP_DATA")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--work", help="where builds are kept")
    parser.add_argument("folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ompp-bench-") as scratch:
        found = ways(args, args.work or scratch)
        if args.pairs == 0:
            return
        measure(args, found)
        print("%-17s %9s %-24s%14s%14s%14s%14s   same results" % ("", "CPU time", " ratio", "loads", "stores", "bytes loaded", "bytes stored"))
        for way in found:
            show(way)


main()
