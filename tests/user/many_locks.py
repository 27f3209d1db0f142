#!/usr/bin/env python3
"""The locks of an array are one region when there are more than 64, with the executions of all of them."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))

import harness  # noqa: E402


def executions(profile, **what):
    found = profile.find("LOCK", **what)
    return len(found), sum(profile.total("execC", found).values())


def main():
    scratch, verdict = harness.Scratch("many_locks"), harness.Verdict("many_locks")
    for how in harness.sources():
        program = scratch.file(how)
        harness.build(os.path.join(harness.SOURCE, "tests", "user", "many_locks.c"), program, how)
        for threads in (1, 4):
            outcome = harness.run(program, scratch.file("%s-%d" % (how, threads), ""), threads)
            title, profile = "%s T=%d" % (how, threads), outcome.profile()
            verdict.equal(outcome.status, 0, title + ": exit status")
            verdict.profile(profile, title)
            verdict.equal(executions(profile, name="many[*]"), (1, 500), title + ": the array")
            verdict.equal(executions(profile, name="[*]"), (1, 500), title + ": the heap")
            verdict.equal(executions(profile, name="some[63]"), (1, 1), title + ": one of not too many")
            verdict.equal(executions(profile), (66, 1064), title + ": all")
            said = {c["subject"]: c["count"] for c in profile.coverage if c["kind"] == "gathered"}
            verdict.equal(said, {"many[*]": "500", "on the heap, or without a name": "500"}, title + ": Coverage")
    verdict.finish(scratch)


main()
