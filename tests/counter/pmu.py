#!/usr/bin/env python3
"""
Instructions and cycles of each construct on a program that does a known amount of work there, where the machine has a performance
monitoring unit. The judgement itself is tested in fake.py, against a PAPI that counts right and one that does not.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import fakepapi  # noqa: E402
import harness  # noqa: E402


def main():
    if not os.path.exists(os.path.join(harness.BUILD, ".libs", "libompp-papi.so")):
        harness.skip("built without PAPI (Debian package: libpapi-dev)")
    scratch, verdict = harness.Scratch("pmu"), harness.Verdict("instructions and cycles")
    counters = {"OMPP_CTR1": fakepapi.INSTRUCTIONS, "OMPP_CTR2": fakepapi.CYCLES}
    for how in harness.sources():
        program = scratch.file("work-" + how)
        harness.build(os.path.join(fakepapi.HERE, "work.c"), program, how)
        refused = [m for m in harness.run(program, scratch.file("probe-" + how), 1, **counters).messages() if "counted" in m or "counters" in m]
        if refused:
            scratch.done(True)
            harness.skip("no counters of the processor here: %s" % refused[0])
        for threads in (1, 2, 4):
            outcome = harness.run(program, scratch.file("%s-%d" % (how, threads)), threads, **counters)
            title = "%s T=%d" % (how, threads)
            verdict.equal(outcome.status, 0, title + ": exit status")
            verdict.equal(fakepapi.broken_relations(outcome.profile(), threads), [], title)
            verdict.check("IPC" in fakepapi.report(outcome)[0].get("Derived         ", ""), title + ": no IPC")
    verdict.finish(scratch)


main()
