#!/usr/bin/env python3
"""Threads that are at work when the program ends: what they have written is read between two of their events, so that sums are right."""

import os

import harness

RUNS = 60  # a profile that is read while they write is wrong in one of twenty


def main():
    verdict, scratch = harness.Verdict("living"), harness.Scratch("living")
    program = scratch.file("living")
    words = [harness.command("kinst-ompp"), harness.COMPILERS[harness.sources()[0]], "-g", "-O1", "-pthread",
             "-I" + os.path.join(harness.SOURCE, "include"), os.path.join(harness.HERE, "living.c"), "-o", program]
    done = harness.execute(words, scratch.path)
    if verdict.equal(done.status, 0, "cannot build living.c: " + done.err[-500:]):
        for i in range(RUNS):
            outcome = harness.run(program, scratch.file("run%d" % i, "x"), 1, args=[str(2000 + 37 * i)])
            verdict.equal(outcome.status, 0, "run %d: status, %s" % (i, outcome.err[-300:]))
            profile = outcome.profile()
            verdict.profile(profile, "run %d" % i)
            inner = profile.total("execC", profile.find("USER REGION", name="inner"))
            verdict.check(len(inner) >= 1 and min(inner.values()) > 0, "run %d: threads in the report: %s" % (i, inner))
    verdict.finish(scratch)


main()
