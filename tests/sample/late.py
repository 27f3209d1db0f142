#!/usr/bin/env python3
"""A rank that comes late to a collective call: the advice names the function in which it works longer (late.c), inlined or not."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

# Case, level of optimisation, ranks (no more than processors), what the advice says.
INLINED, CALLED = r"boundary, called at late\.c \(\d+\)\.", r"border at late\.c \(\d+\)\."
CASES = [("inlined", "-O2", 2, INLINED), ("inlined", "-O2", 4, INLINED), ("called", "-O2", 2, CALLED), ("called", "-O2", 4, CALLED),
         ("called", "-O0", 2, CALLED)]


def advice(outcome):
    """Text of the report without the breaks of its lines."""
    with open(outcome.reports("txt")[0], encoding="utf-8") as file:
        return re.sub(r"\s+", " ", file.read())


def off(scratch, program, ranks, case, words):
    """What is off, and how many were compared. Where others use the processors, a rank works longer than its samples say."""
    outcome = harness.run(program, scratch.fresh("runs"), 1, ranks, [case])
    title = "%s %s, %d ranks" % (os.path.basename(program), case, ranks)
    if outcome.status != 0:
        raise harness.Failure("%s: status %s, %s" % (title, outcome.status, outcome.err[-300:]))
    said = re.search(r"rank 1, which comes last.*? longer than the others, most of it in (.{60})", advice(outcome))
    good = said and re.match(words, said.group(1))
    return [] if good else ["%s: %s, not %s" % (title, said and said.group(1), words)], 1


def even(scratch, program):
    """Ranks that do the same: no function is named."""
    said = re.search(r"longer than the others, most of it in (?!what is outside of regions).*",
                     advice(harness.run(program, scratch.fresh("runs"), 1, 2, ["even"])))
    return ["even: " + said.group(0)[:100]] if said else [], 1


def main():
    verdict, scratch = harness.Verdict("late"), harness.Scratch("late")
    harness.mpirun()
    for case, level, ranks, words in CASES:
        if ranks > os.cpu_count():
            continue
        program = scratch.file("built", "late" + level)
        harness.build(os.path.join(HERE, "late.c"), program, harness.sources()[0], mpi=True, flags=(level, "-g"))
        verdict.timed(lambda p=program, r=ranks, c=case, w=words: off(scratch, p, r, c, w))
    verdict.timed(lambda: even(scratch, scratch.file("built", "late-O2")))
    verdict.finish(scratch)


main()
