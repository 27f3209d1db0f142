#!/usr/bin/env python3
"""Blocks of the heap named by any line of the statement that allocates them, with each compiler."""

import os
import re

import blocks
import memory
from memory import harness

LEVELS = ("-O0", "-O2")


def statements(source):
    """Lines of each statement that have something of it, by its mark."""
    found, mark, path = {}, None, os.path.join(memory.HERE, source)
    for number, line in enumerate(open(path), 1):
        begins, comment = re.search(r"[/!C ] > (\w+)$|^C     > (\w+)$", line), re.match(r"\s*(//|!|#|$)|C ", line)
        if begins:
            mark = begins.group(1) or begins.group(2)
            found[mark] = []
        elif re.match(r"\s*(//|!) <$|C     <$", line):
            mark = None
        elif mark and not comment:
            found[mark].append("%s:%d" % (source, number))
    return found


def check(verdict, scratch, source, name, compiler, level):
    title, program = "%s %s %s" % (source, name, level), scratch.file(source + name + level)
    memory.build(compiler, os.path.join(memory.HERE, source), program, level)
    lines = statements(source)
    for turn in range(max(len(v) for v in lines.values())):
        named = {mark: v[turn % len(v)] for mark, v in lines.items()}
        outcome, profile = blocks.run(program, scratch.file("run%d%s%s%s" % (turn, source, name, level)), named.values())
        verdict.equal(outcome.status, 0, title + ": exit status")
        wanted = blocks.wanted(outcome.out)
        verdict.equal(set(wanted), set(lines), title + ": marks")
        for mark, line in named.items():
            there = line in memory.objects(profile)
            stores = memory.counts(profile, line)[1] if there else "not there"
            verdict.equal(stores, wanted[mark][1], "%s: %s, named by %s" % (title, mark, line))


def check_innermost(verdict, scratch, compiler):
    """A line that is named itself has its blocks, whatever other lines of the statement are named."""
    program, lines = scratch.file("both"), statements("statements.f90")["several"]
    memory.build(compiler, os.path.join(memory.HERE, "statements.f90"), program, "-O0")
    outcome, profile = blocks.run(program, scratch.file("run both"), (lines[0], lines[-1]))
    found = [memory.counts(profile, line)[1] for line in (lines[0], lines[-1]) if line in memory.objects(profile)]
    verdict.equal(found, [30], "two lines of one statement: one of them has the blocks")
    said = [c.get("reason") for c in profile.coverage if "OMPP_DATA: statements.f90" in c.get("subject", "")]
    verdict.check(len(said) == 1 and "has allocated a block" in said[0], "and the other one is told of: %s" % said)


def main():
    scratch, verdict = harness.Scratch("statements"), harness.Verdict("statements")
    for source, names in (("statements.c", ("gcc", "clang")), ("statements.cc", ("g++", "clang++")),
                          ("statements.f90", ("gfortran",)), ("statements.f", ("gfortran",))):
        for name, compiler in memory.compilers(*names):
            for level in LEVELS:
                check(verdict, scratch, source, name, compiler, level)
    for _, compiler in memory.compilers("gfortran"):
        check_innermost(verdict, scratch, compiler)
    verdict.finish(scratch)


main()
