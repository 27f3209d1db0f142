#!/usr/bin/env python3
"""Structures exact at their edges, registered and released while threads run; tasks; threads, also living ones; assignments beside memcpy;
C++ with exceptions; signals; memory that is given back while it is named; very many structures."""

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


def check_many(verdict, scratch, name, compiler):
    """66,000 structures; with room for fewer, the others are said to be missing, and those that are there are counted."""
    title, program = "many " + name, scratch.file("many" + name)
    memory.build(compiler, os.path.join(memory.HERE, "many.c"), program, "-O2")
    for size, room in (("512M", True), ("2M", False)):
        run = harness.run(program, scratch.file("many" + name + size), 4, OMPP_MEMORY=size)
        if not verdict.equal(run.status, 0, title + ": exit status"):
            continue
        profile = run.profile()
        profile.root = ElementTree.parse(profile.path).getroot()
        named, lost = memory.objects(profile), [c for c in profile.coverage if c.get("subject") == "data structures"]
        verdict.equal(len(lost), 0 if room else 1, "%s, %s: a line about those without room" % (title, size))
        verdict.check(len(named) == 66000 if room else 1000 < len(named) < 66000, "%s, %s: %d structures" % (title, size, len(named)))
        if room:
            sums = memory.sums(profile)
            wrong = [(n, sums.get(o.get("id"), [0, 0])[:2]) for n, o in named.items()
                     if tuple(sums.get(o.get("id"), [0, 0])[:2]) != ((0, 1) if n[0] == "s" else (2, int(n[5:]) % 2))]
            verdict.equal(wrong, [], title + ": loads and stores")


def check_stepped(verdict, scratch, name, compiler, level):
    """Signals while the stack is walked for an access: it is counted for the variable all the same."""
    title, program = "stepped %s %s" % (name, level), scratch.file("stepped" + name + level)
    memory.build(compiler, os.path.join(memory.HERE, "stepped.c"), program, level)
    run = harness.run(program, scratch.file("stepped run" + name + level), 1)
    if run.status == harness.SKIP:
        print("note: %s: no signals from single steps here" % title)
        return
    if not verdict.equal(run.status, 0, title + ": exit status"):
        return
    profile = run.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    target = memory.objects(profile).get("victim::target [stack]")
    verdict.equal(target is not None and memory.sums(profile)[target.get("id")][memory.STORES], 1000, title + ": stores to a variable")


def main():
    scratch, verdict = harness.Scratch("ranges"), harness.Verdict("ranges")
    for source, compilers in (("ranges.c", ("gcc", "clang")), ("signals.c", ("gcc", "clang")), ("early.c", ("gcc", "clang")), ("throw.cc", ("g++", "clang++")),
                              ("freed.cc", ("g++", "clang++"))):
        for name, compiler in memory.compilers(*compilers):
            for level in ("-O0", "-O2"):
                check(verdict, scratch, source, name, compiler, level)
    for name, compiler in memory.compilers("gcc", "clang"):
        check_many(verdict, scratch, name, compiler)
        check(verdict, scratch, "alive.c", name, compiler, "-O2")
        check(verdict, scratch, "alive.c", name, compiler, "-O2", ("other",))
    for name, compiler in memory.compilers("gcc"):
        for level in ("-O0", "-O2", "-march=native", "-flto"):
            check(verdict, scratch, "copies.c", name, compiler, level)
    for name, compiler in memory.compilers("gcc", "clang"):
        for level in ("-O0", "-O1", "-O3"):
            check_stepped(verdict, scratch, name, compiler, level)
    for name, compiler in memory.compilers("clang"):
        check(verdict, scratch, "copies.c", name, compiler, "-O0")  # with more it leaves out copies that change nothing
    verdict.finish(scratch)


main()
