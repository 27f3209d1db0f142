#!/usr/bin/env python3
"""
Slowdown of exact load/store counts against the plain build, beside valgrind's cachegrind and lackey, in one run (make bench).

usage: memory.py [ROUNDS]

Each round runs every build of every kernel once, so that what is compared runs side by side; printed are the medians over the rounds
of CPU time and of its ratio to the plain build in the same round, then the budgets with a verdict. Asserts nothing.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("abs_top_builddir", ".")
GCC, CLANG = os.environ.get("CC", "gcc"), os.environ.get("TEST_CLANG", "clang-19")
# The last one is not one of the budget's: vectorised, from cache, and nothing but loads and stores.
KERNELS = ("matvec", "stream", "gather", "stencil", "forces", "lookup", "triad")
LARGE = {"stream": 10}  # repetitions are so many times fewer
# Compiler: median and worst slowdown allowed (DESIGN, budgets); cachegrind is slower than any of them by FASTER.
BUDGETS = {"gcc": (7, 12), "clang": (3, 5)}
FASTER = 3
VALGRIND = {"cachegrind": ["--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"],
            "lackey": ["--tool=lackey", "--detailed-counts=yes"]}
# Caches, simulated: what is asked for, and repetitions. Curves follow all lines in the first 130 million accesses more often than later.
CACHES = {"curves": ("curves", "none", 1000), "model": ("model", "none", 20)}
OPTIONS = ("classes", "tlb", "next-line", "stride", "random-pages", "coherence", "shared")
FLAGS = ["-O2", "-g", "-I", os.path.join(SOURCE, "include")]
KERNEL_SOURCE = os.path.join(HERE, "memory_kernels.c")


def build(folder, name, words):
    program = os.path.join(folder, name)
    subprocess.run([*words, *FLAGS, KERNEL_SOURCE, "-o", program], check=True)
    return program


def ways(folder, options=True):
    """Name of a way to run -> (command, repetitions, what it is compared with). The command may begin with changes of the environment."""
    kinst, found = os.path.join(BUILD, "kinst-ompp"), {}
    for name, compiler in (("gcc", GCC), ("clang", CLANG)):
        words = compiler.split()
        if not shutil.which(words[0]):
            print("no %s here" % words[0])
            continue
        called = ["-masm=intel"] if name == "gcc" else ["-Xclang", "-fno-caret-diagnostics"]  # keep hooks from being inlined
        found["plain " + name] = ([build(folder, "plain-" + name, words)], 20, None)
        found["hooks " + name] = ([build(folder, "hooks-" + name, [kinst, "--memory", *words])], 10, "plain " + name)
        found["called " + name] = ([build(folder, "called-" + name, [kinst, "--memory", *words, *called])], 10, "plain " + name)
        hooks = found["hooks " + name][0][0]
        caches = dict(CACHES)
        if name == "gcc" and options:
            caches.update({option: ("model", option, 5) for option in OPTIONS})
        for title, (mode, option, repetitions) in caches.items():
            words = ["env", "OMPP_CACHE=" + mode, "OMPP_CACHE_WITH=" + option, hooks]
            found["%s %s" % (title, name)] = (words, repetitions, "plain " + name)
    first = next(iter(found))
    for tool, options in VALGRIND.items():
        if shutil.which("valgrind"):
            found[tool] = (["valgrind", "-q", *options, found[first][0][0]], 2, first)
    return found


def measure(command, kernel, repetitions, folder):
    environment = dict(os.environ, OMPP_QUIET="1", OMPP_OVERWRITE="1", OMP_NUM_THREADS="1")
    repetitions = max(1, repetitions // LARGE.get(kernel, 1))
    done = subprocess.run([*command, kernel, str(repetitions)], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
    return float(done.stdout)


def judge(ratio, way, allowed):
    """Prints what a way reaches of its budget."""
    ratios = [ratio[way, k] for k in KERNELS[:-1]]
    for title, value, limit in (("median", statistics.median(ratios), allowed[0]), ("worst", max(ratios), allowed[1])):
        print("%-16s %-6s %5.1fx  budget %2dx  %s" % (way, title, value, limit, "met" if value <= limit else "MISSED"))
    last = ratio[way, KERNELS[-1]]
    print("%-16s %-6s %5.1fx  budget %2dx  %s (from L1, vectorised without hooks)" %
          (way, KERNELS[-1], last, allowed[1], "met" if last <= allowed[1] else "MISSED"))
    if ("cachegrind", KERNELS[0]) in ratio and way.endswith("gcc"):
        faster = min(ratio["cachegrind", k] / ratio[way, k] for k in KERNELS)
        print("%-16s cachegrind is slower by %.1fx or more, budget %dx  %s" % (way, faster, FASTER, "met" if faster >= FASTER else "MISSED"))


def main():
    rounds, folder = int(sys.argv[1]) if len(sys.argv) > 1 else 5, tempfile.mkdtemp(prefix="ompp-bench-")
    found, ns, ratio = ways(folder), {}, {}
    for kernel in KERNELS:
        for number in range(rounds):
            for way, (command, repetitions, _) in found.items():
                if number == 0 or way not in VALGRIND:  # those take long, and vary little
                    ns.setdefault((way, kernel), []).append(measure(command, kernel, repetitions, folder))
    print("%-16s" % "" + "".join("%18s" % k for k in KERNELS))
    for way, (_, _, base) in found.items():
        cells = []
        for k in KERNELS:
            if base:
                ratio[way, k] = statistics.median(a / b for a, b in zip(ns[way, k], ns[base, k]))
            cells.append("%8.0f us%7s" % (statistics.median(ns[way, k]) / 1000, "%.1fx" % ratio[way, k] if base else ""))
        print("%-16s" % way + "".join("%18s" % c for c in cells))
    for name, allowed in BUDGETS.items():
        if ("hooks " + name, KERNELS[0]) in ratio:
            judge(ratio, "hooks " + name, allowed)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
