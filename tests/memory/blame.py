#!/usr/bin/env python3
"""What hooks take is no loss of the program: a caution says that they took it, first of all and beside the advice; with few accesses
there is none."""

import os

import memory
from memory import harness

KIND = "own-sampled"


def cautions(profile):
    return [c for c in profile.coverage if c["kind"] == KIND]


def main():
    scratch, verdict = harness.Scratch("blame"), harness.Verdict("blame")
    for name, compiler in memory.compilers("gcc", "clang"):
        program = scratch.file(name)
        memory.build(compiler, os.path.join(memory.HERE, "blame.c"), program, "-O1")
        for turns, much in ((500000, True), (10, False)):
            title = "%s, %d turns" % (name, turns)
            run = harness.run(program, scratch.file("run " + title), 2, args=[str(turns)])
            verdict.equal((run.status, run.out), (0, "%d\n" % (1000 * turns)), title + ": output")
            profile, text = run.profile(), open(run.reports("txt")[0]).read()
            verdict.profile(profile, title)
            verdict.equal(len(cautions(profile)), int(much), title + ": cautions")
            summary = text[text.index("ompp Summary"):text.index("ompp Coverage")]
            verdict.equal("\nCaution: measuring took" in summary, much, title + ": in the summary")
            verdict.equal("part of all figures" in summary and much, False, title + ": another share in the summary")
            advice = text[text.index("Performance Properties Report"):]
            verdict.equal("Caution: measuring took" in advice and "a program built without --memory has its own times" in advice, much,
                          title + ": beside the advice")
    verdict.finish(scratch)


main()
