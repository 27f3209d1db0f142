#!/usr/bin/env python3
"""Slowdown of exact load/store counts against the plain build, beside valgrind's cachegrind and lackey, in one run (make bench).

usage: memory.py [ROUNDS]    Prints a table of ratios of CPU time; the smallest of the rounds, in turn. Asserts nothing.
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("abs_top_builddir", ".")
KERNELS = ("matvec", "triad", "gather", "stencil")
VALGRIND = {"cachegrind": ["--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"], "lackey": ["--tool=lackey", "--detailed-counts=yes"]}


def build(folder, name, words):
    program = os.path.join(folder, name)
    source = os.path.join(HERE, "memory_kernels.c")
    subprocess.run([*words, "-O2", "-g", "-I", os.path.join(SOURCE, "include"), source, "-o", program], check=True)
    return program


def ways(folder):
    """Name of a way to run -> (command, repetitions, what it is compared with)."""
    kinst, found = os.path.join(BUILD, "kinst-ompp"), {}
    for compiler in (os.environ.get("CC", "gcc"), os.environ.get("TEST_CLANG", "clang-19")):
        if not shutil.which(compiler.split()[0]):
            continue
        plain, hooks = build(folder, "plain-" + compiler, [compiler]), build(folder, "hooks-" + compiler, [kinst, "--memory", compiler])
        found["plain " + compiler] = ([plain], 40, None)
        found["hooks " + compiler] = ([hooks], 10, "plain " + compiler)
    first = next(iter(found))
    for tool, options in VALGRIND.items():
        if shutil.which("valgrind"):
            found[tool] = (["valgrind", "-q", *options, found[first][0][0]], 2, first)
    return found


def measure(command, kernel, repetitions, folder):
    environment = dict(os.environ, OMPP_QUIET="1", OMPP_OVERWRITE="1", OMP_NUM_THREADS="1")
    done = subprocess.run([*command, kernel, str(repetitions)], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
    return float(done.stdout)


def main():
    rounds, folder = int(sys.argv[1]) if len(sys.argv) > 1 else 3, tempfile.mkdtemp(prefix="ompp-bench-")
    found = ways(folder)
    print("%-18s" % "" + "".join("%20s" % k for k in KERNELS))
    best = {}
    for kernel in KERNELS:
        for _ in range(rounds):
            for way, (command, repetitions, _) in found.items():
                ns = measure(command, kernel, repetitions, folder)
                best[way, kernel] = min(ns, best.get((way, kernel), ns))
    for way, (_, _, base) in found.items():
        cells = ["%10.0f us%7s" % (best[way, k] / 1000, "%.1fx" % (best[way, k] / best[base, k]) if base else "") for k in KERNELS]
        print("%-18s" % way + "".join("%20s" % c for c in cells))
    shutil.rmtree(folder)


main()
