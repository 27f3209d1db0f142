#!/usr/bin/env python3
"""Structures exact at their edges, registered and released while threads run; tasks; threads, also living ones; assignments beside memcpy;
C++ with exceptions; signals; memory that is given back while it is named."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness


def wanted(text):
    """Lines "name loads stores" of the program; a + before the name adds."""
    result = {}
    for name, loads, stores in (line.split() for line in text.splitlines()):
        old = result.get(name[1:], (0, 0)) if name[0] == "+" else (0, 0)
        result[name.lstrip("+")] = (old[0] + int(loads), old[1] + int(stores))
    return result


def check(verdict, scratch, source, name, compiler, level, args=()):
    title, program = "%s %s %s" % (source, name, level), scratch.file(source + name + level)
    memory.build(compiler, os.path.join(memory.HERE, source), program, level, "-pthread")
    run = harness.run(program, scratch.file("-".join(("run", source, name, level, *args))), 4, args=args)
    if not verdict.equal(run.status, 0, title + ": exit status"):
        return
    profile = run.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    for structure, counts in wanted(run.out).items():
        verdict.equal(tuple(memory.counts(profile, structure)[:2]), counts, "%s: %s" % (title, structure))
    if source == "freed.cc":
        verdict.equal(len([c for c in profile.coverage if "more than 32" in " ".join(c.values())]), 1, title + ": more than realloc takes along")
    if source == "ranges.c":
        verdict.check("nothing" not in memory.objects(profile), title + ": an empty range is no structure")
        verdict.equal(memory.objects(profile)["blocks"].get("ranges"), "256", title + ": ranges of one name")
        inside = memory.counts(profile, "tasked", memory.region_of(profile, "TASKEXEC"))
        verdict.equal(inside[:2], [1000, 1000], title + ": accesses of tasks belong to the task")


def main():
    scratch, verdict = harness.Scratch("ranges"), harness.Verdict("ranges")
    for source, compilers in (("ranges.c", ("gcc", "clang")), ("signals.c", ("gcc", "clang")), ("throw.cc", ("g++", "clang++")),
                              ("freed.cc", ("g++", "clang++"))):
        for name, compiler in memory.compilers(*compilers):
            for level in ("-O0", "-O2"):
                check(verdict, scratch, source, name, compiler, level)
    for name, compiler in memory.compilers("gcc", "clang"):
        check(verdict, scratch, "alive.c", name, compiler, "-O2")
        check(verdict, scratch, "alive.c", name, compiler, "-O2", ("other",))
    for name, compiler in memory.compilers("gcc"):
        for level in ("-O0", "-O2", "-march=native", "-flto"):
            check(verdict, scratch, "copies.c", name, compiler, level)
    for name, compiler in memory.compilers("clang"):
        check(verdict, scratch, "copies.c", name, compiler, "-O0")  # with more it leaves out copies that change nothing
    verdict.finish(scratch)


main()
