#!/usr/bin/env python3
"""
Names of data that nobody has named, judged by programs that tell the truth: at most 0.1 % of the bytes have a wrong name, with each
compiler and level of optimisation, and little has none. Programs with their own allocators, storms of realloc, compressed pointers, signal
handlers, vfork and plug-ins have the results that they have without ompp.
"""

import os
import sys
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

MOST_WRONG, MOST_UNNAMED = 0.001, 0.05
SOURCES = (("falsely.c", ("gcc", "clang")), ("falsely.cc", ("g++", "clang++")), ("falsely.f90", ("gfortran",)))
LEVELS = ("-O0", "-O2", "-O3")


def truth_of(out):
    """Bytes by the names that are right, joined by '|'."""
    truth = {}
    for line in out.splitlines():
        number, _, names = line.partition(" ")
        truth[names] = truth.get(names, 0) + int(number)
    return truth


def is_right(name, wanted):
    """One of the names that are right; of blocks without where they are allocated."""
    parts = name.split(" [heap")[0].split("|") if " [heap" in name else [name]
    ends = " [heap" if " [heap" in name else ""
    return any((p + ends == w or p + ends == w.rstrip() or (w.endswith("->") and p.startswith(w))) for p in parts for w in wanted.split("|"))


def judge(profile, truth):
    """Bytes of all, with a wrong name, without one; and what is wrong."""
    names = {o.get("id"): name for name, o in memory.objects(profile).items()}
    found = {names[k]: v[memory.LOADED] + v[memory.STORED] for k, v in memory.sums(profile).items() if k}
    right = {wanted: sum(n for name, n in found.items() if is_right(name, wanted)) for wanted in truth}
    known = [name for name in found if any(is_right(name, wanted) for wanted in truth)]
    # what is too much at one name is missing at another; a name that is none of these is the compiler's own use of another variable
    excess = {w: right[w] - n for w, n in truth.items() if right[w] > n * 1.02 and not w.startswith("-")}
    others = {name: n for name, n in found.items() if name not in known and not name.startswith("[")}
    whole = sum(truth.values())
    lacks = sum(max(0, n - right[w]) for w, n in truth.items() if not w.startswith("-"))
    unnamed = sum(n for name, n in found.items() if name.startswith("["))
    wrong = sum(excess.values()) + sum(n for n in others.values() if n > whole * MOST_WRONG / 10)
    return whole, wrong, max(0, unnamed - sum(n for w, n in truth.items() if w.startswith("-"))), lacks, {**excess, **others}, found


def run(verdict, scratch, source, kind, compiler, level):
    title = "%s %s %s" % (source, kind, level)
    program, library = scratch.file(title.replace(" ", "-")), scratch.file(title.replace(" ", "-") + ".so")
    path, words = os.path.join(memory.HERE, source), []
    memory.build(compiler, path, program, level)
    if source == "falsely.c":
        memory.build(compiler, path, library, level, "-DPLUGIN", "-shared", "-fPIC")
        words = [library]
    outcome = harness.execute([program] + words, os.path.dirname(scratch.file("run " + title, "x")))
    if not verdict.equal(outcome.status, 0, "%s: status: %s" % (title, outcome.err[-500:])):
        return
    plain = harness.execute([program] + words, os.path.dirname(scratch.file("off " + title, "x")), OMPP_ENABLED="0")
    verdict.equal(outcome.out, plain.out, title + ": results")
    profile = outcome.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    whole, wrong, unnamed, lacks, what, found = judge(profile, truth_of(outcome.out))
    print("%-26s wrong %.3f %%, without a name %.2f %%" % (title, 100 * wrong / whole, 100 * unnamed / whole))
    text = "\n  ".join("%12d  %s" % (n, name) for name, n in sorted(found.items(), key=lambda f: -f[1]))
    verdict.check(wrong <= MOST_WRONG * whole, "%s: wrong names: %s of\n  %s" % (title, what, text))
    verdict.check(unnamed <= MOST_UNNAMED * whole, "%s: %.2f %% have no name:\n  %s" % (title, 100 * unnamed / whole, text))
    verdict.check(lacks <= MOST_UNNAMED * whole, "%s: %.2f %% lack their name:\n  %s" % (title, 100 * lacks / whole, text))


def main():
    verdict, scratch = harness.Verdict("falsely"), harness.Scratch("falsely")
    for source, wanted in SOURCES:
        for kind, compiler in memory.compilers(*wanted):
            for level in LEVELS:
                if not sys.argv[1:] or all(w in (source, kind, level) for w in sys.argv[1:]):
                    run(verdict, scratch, source, kind, compiler, level)
    verdict.finish(scratch)


main()
