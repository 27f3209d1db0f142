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

MOST_WRONG, MOST_UNNAMED = 0.001, 0.2
SOURCES = (("falsely.c", ("gcc", "clang")), ("falsely.cc", ("g++", "clang++")), ("falsely.f90", ("gfortran",)))
LEVELS = ("-O0", "-O2", "-O3")
# Two runs that differ in the accesses that are told of, and in nothing else: what the compiler adds is in both.
ROUNDS = (10, 40)
# Variables of the functions that make these accesses, which lie in memory without optimisation; and one of a size that is known late, which
# compilers tell of or not.
TOUCHES = ("touch::", "fields::touch::", "handler::", "odd::", "sized::variable")


def truth_of(out):
    """Bytes by the names that are right, joined by '|'."""
    truth = {}
    for line in out.splitlines():
        number, _, names = line.partition(" ")
        truth[names] = truth.get(names, 0) + int(number)
    return truth


def is_right(name, wanted):
    """One of the names that are right, or what begins as one that ends so: "list->"; this one alone: "=list"."""
    base, _, rest = name.partition(" [heap")
    if wanted.startswith("="):
        return base + (" [heap" if rest else "") == wanted[1:]
    found = [part + (" [heap" if rest else "") for part in (base.split("|") if rest else [base])]
    return any(f == w or (w.endswith("->") and f.startswith(w)) for f in found for w in wanted.split("|"))


def bytes_of(profile):
    names = {o.get("id"): name for name, o in memory.objects(profile).items()}
    return {names[k]: v[memory.LOADED] + v[memory.STORED] for k, v in memory.sums(profile).items() if k}


def judge(found, truth):
    """Bytes with a wrong name, by name, and those that lack theirs: what is too much at one name is missing at another."""
    wrong, lacks = {}, 0
    for wanted, number in truth.items():
        has = sum(n for name, n in found.items() if is_right(name, wanted))
        if wanted.startswith("-"):
            continue
        if has > number:
            wrong[wanted] = has - number
        lacks += max(0, number - has)
    for name, n in found.items():
        known = any(is_right(name, wanted) for wanted in truth)
        if n > 0 and not known and not name.startswith(("[",) + TOUCHES):
            wrong[name] = n
    return wrong, lacks


def line_of(source, text):
    with open(os.path.join(memory.HERE, source)) as lines:
        return 1 + next(n for n, line in enumerate(lines) if text in line)


def built(scratch, source, compiler, level, title):
    """The program, and its arguments."""
    program, path = scratch.file(title.replace(" ", "-")), os.path.join(memory.HERE, source)
    memory.build(compiler, path, program, level)
    if source != "falsely.c":
        return [program]
    memory.build(compiler, path, program + ".so", level, "-DPLUGIN", "-shared", "-fPIC")
    return [program, program + ".so"]


def run(verdict, scratch, source, kind, compiler, level):
    title = "%s %s %s" % (source, kind, level)
    words, found, truth = built(scratch, source, compiler, level, title), [], []
    for rounds in ROUNDS:
        outcome = harness.execute(words, os.path.dirname(scratch.file("run %s %d" % (title, rounds), "x")), TEST_ROUNDS=str(rounds))
        if not verdict.equal(outcome.status, 0, "%s: status: %s" % (title, outcome.err[-500:])):
            return
        profile = outcome.profile()
        profile.root = ElementTree.parse(profile.path).getroot()
        found.append(bytes_of(profile))
        truth.append(truth_of(outcome.out))
    plain = harness.execute(words, os.path.dirname(scratch.file("off " + title, "x")), OMPP_ENABLED="0", TEST_ROUNDS=str(ROUNDS[1]))
    verdict.equal(truth_of(plain.out), truth[1], title + ": results")
    more = {name: found[1].get(name, 0) - found[0].get(name, 0) for name in {**found[0], **found[1]}}
    wanted = {name: n - truth[0].get(name, 0) for name, n in truth[1].items()}
    if source == "falsely.cc":  # the program's own line, not that of the library's header with its number
        line = line_of(source, "emplace_back(60)")
        verdict.check(any(name.startswith("table[*] [heap %s:%d" % (source, line)) for name in more), "%s: line %d in %s" % (title, line, sorted(more)))
    whole = sum(wanted.values())
    wrong, lacks = judge(more, wanted)
    print("%-26s wrong %.3f %%, without a name %.2f %%" % (title, 100 * sum(wrong.values()) / whole, 100 * lacks / whole))
    text = "\n  ".join("%12d  %s" % (n, name) for name, n in sorted(more.items(), key=lambda f: -f[1]) if n)
    verdict.check(sum(wrong.values()) <= MOST_WRONG * whole, "%s: wrong names: %s of\n  %s" % (title, wrong, text))
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
