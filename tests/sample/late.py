#!/usr/bin/env python3
"""A rank that comes late to a collective call: the advice names the function in which it works longer (late.c), inlined or not."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

# Case, level of optimisation, what the advice says.
CASES = [("inlined", "-O2", r"boundary, called at late\.c \(\d+\)\."), ("called", "-O2", r"border at late\.c \(\d+\)\."),
         ("called", "-O0", r"border at late\.c \(\d+\)\.")]


def advice(outcome):
    """Text of the report without the breaks of its lines."""
    with open(outcome.reports("txt")[0], encoding="utf-8") as file:
        return re.sub(r"\s+", " ", file.read())


def test(verdict, scratch, program, ranks, case, words):
    """Whether a late rank was found: on a busy machine it may be another one each time."""
    outcome = harness.run(program, scratch.fresh("runs"), 1, ranks, [case])
    title = "%s, %d ranks" % (os.path.basename(program) + " " + case, ranks)
    if not verdict.equal(outcome.status, 0, title + ": status, " + outcome.err[-300:]):
        return False
    said = re.search(r"rank 1, which comes last.*? longer than the others, most of it in (.{60})", advice(outcome))
    verdict.chance(not said or re.match(words, said.group(1)), "%s: %s, not %s" % (title, said and said.group(1), words))
    return said is not None


def main():
    verdict, scratch = harness.Verdict("late"), harness.Scratch("late")
    harness.mpirun()
    found = []
    for case, level, words in CASES:
        program = scratch.file("built", "late" + level)
        harness.build(os.path.join(HERE, "late.c"), program, harness.sources()[0], mpi=True, flags=(level, "-g"))
        for ranks in (2, 4):
            verdict.tried(lambda v, p=program, r=ranks, c=case, w=words: found.append(test(v, scratch, p, r, c, w)))
    verdict.check(any(found), "rank 1 is late in no run")
    # Ranks that do the same: nothing is said of a function.
    for _ in range(2):
        outcome = harness.run(scratch.file("built", "late-O2"), scratch.fresh("runs"), 1, 2, ["even"])
        verdict.check("most of it in boundary" not in advice(outcome), "even: " + outcome.reports("txt")[0])
    verdict.finish(scratch)


main()
