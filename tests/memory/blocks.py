#!/usr/bin/env python3
"""Blocks of the heap named from outside by the line that allocates them, with each compiler; lines without code, and without blocks."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness


def marks(source):
    """Lines by the words behind // @ and ! @."""
    found = {}
    for number, line in enumerate(open(source), 1):
        for sign in ("// @", "! @"):
            if sign in line:
                found[line.split(sign)[1].split()[0]] = number
    return found


def wanted(text):
    return {name: (int(loads), int(stores)) for name, loads, stores in (line.split() for line in text.splitlines())}


def run(program, folder, names):
    outcome = harness.run(program, folder, 1, OMPP_DATA=",".join(names))
    profile = outcome.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    return outcome, profile


def check(verdict, scratch, source, name, compiler, level):
    title, program = "%s %s %s" % (source, name, level), scratch.file(source + name + level)
    memory.build(compiler, os.path.join(memory.HERE, source), program, level)
    lines = {mark: "%s:%d" % (source, line) for mark, line in marks(os.path.join(memory.HERE, source)).items() if mark != "inside"}
    outcome, profile = run(program, scratch.file("run" + source + name + level), lines.values())
    verdict.equal(outcome.status, 0, title + ": exit status")
    for mark, counts in wanted(outcome.out).items():
        there = lines[mark] in memory.objects(profile)
        verdict.equal(tuple(memory.counts(profile, lines[mark])[:2]) if there else "not there", counts, "%s: %s" % (title, mark))


def check_more(verdict, scratch, name, compiler):
    """The innermost line that is named has the block; a line may be that of a caller; lines that name nothing are told of."""
    source, program = os.path.join(memory.HERE, "blocks.cc"), scratch.file("more" + name)
    memory.build(compiler, source, program, "-O2")
    at = {mark: "blocks.cc:%d" % line for mark, line in marks(source).items()}
    nothing, comment = "blocks.cc:%d" % (marks(source)["malloc"] + 1), "blocks.cc:1"
    outcome, profile = run(program, scratch.file("run more" + name), (at["inside"], at["wrapped"], nothing, comment))
    title = "blocks.cc %s: " % name
    verdict.equal(memory.counts(profile, at["inside"])[1], 70, title + "the innermost line has the block")
    verdict.check(at["wrapped"] not in memory.objects(profile), title + "nothing is left for the line of the caller")
    said = {c.get("subject"): c.get("reason") for c in profile.coverage}
    verdict.check("has allocated a block" in said.get("OMPP_DATA: " + nothing, ""), title + "a line that allocates nothing is told of")
    verdict.check("no code of this line; there is some of blocks.cc:" in said.get("OMPP_DATA: " + comment, ""),
                  title + "a line without code is told of, with the next one: %s" % said)
    verdict.check("OMPP_DATA: " + comment in outcome.err or comment in outcome.err, title + "and said")


def main():
    scratch, verdict = harness.Scratch("blocks"), harness.Verdict("blocks")
    for name, compiler in memory.compilers("g++", "clang++"):
        for level in ("-O0", "-O2"):
            check(verdict, scratch, "blocks.cc", name, compiler, level)
        check_more(verdict, scratch, name, compiler)
    for name, compiler in memory.compilers("gfortran"):
        for level in ("-O0", "-O2"):
            check(verdict, scratch, "blocks.f90", name, compiler, level)
    verdict.finish(scratch)


if __name__ == "__main__":
    main()
