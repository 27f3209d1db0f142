#!/usr/bin/env python3
"""Critical sections whose names nobody knows are told apart by their locks: those without names have one, in the whole program."""

import os
import shutil
import xml.etree.ElementTree as ElementTree

import harness

HERE = os.path.dirname(os.path.abspath(__file__))


def compilers():
    """Those whose programs ompp measures as they are."""
    found = [c for c in (harness.COMPILERS["opari"], harness.COMPILERS["ompt"]) if shutil.which(c)]
    return found or harness.skip("no compiler")


def locks(report):
    """Of the critical sections, in the order of the code."""
    regions = [r for r in ElementTree.parse(report).getroot().find("regions") if r.get("type") == "CRITICAL"]
    return [r.get("lock") for r in sorted(regions, key=lambda r: int(r.get("address"), 16))]


def main():
    scratch, verdict = harness.Scratch("criticals"), harness.Verdict("criticals")
    for compiler in compilers():
        program = scratch.file(compiler, "criticals")
        words = [compiler, "-O1", "-fopenmp", os.path.join(HERE, "criticals.c"), "-o", program]
        done = harness.execute(words, os.path.dirname(program))
        if done.status != 0:
            raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
        run = harness.run(harness.command("ompp"), scratch.file(compiler, "run", "x")[:-2], 2, args=["--", program])
        if not verdict.equal(run.status, 0, compiler + ": exit status"):
            continue
        found = locks(run.reports()[0])
        verdict.equal([len(found), len(set(found)), None in found], [4, 3, False], compiler + ": locks of four sections: %s" % found)
        verdict.equal([found.count(l) for l in found].count(2), 2, compiler + ": sections with one lock: %s" % found)
    verdict.finish(scratch)


main()
