#!/usr/bin/env python3
"""Predictions for an MPI program against what it knows of the same run (mpi_oracle.c): holds on a busy machine, too."""

import os
import re

import validation
from validation import harness

NEAR = 0.02  # of the run time: a rank may lose the processor between the oracle's look at the clock and ours
ROUNDS = 12


def compare(verdict, scratch, program, ranks):
    """What is off, and how many were compared."""
    folder = scratch.file("runs", "%d-%d" % (ranks, len(os.listdir(os.path.dirname(scratch.file("runs", "r"))))))
    off, compared = [], 0
    outcome = harness.run(program, folder, 1, ranks, ["oracle", "rounds=%d" % ROUNDS], OMPP_CAUSAL="virtual")
    verdict.equal(outcome.status, 0, "%d ranks: status, %s" % (ranks, outcome.err[-300:]))
    profile = outcome.profile()
    verdict.profile(profile, "%d ranks" % ranks)
    names = {r.id: r.name for r in profile.regions}
    found = {(names[region], permille): clock for (region, permille), clock in profile.whatif.clocks.items()}
    seconds = float(re.search(r"^seconds ([0-9.]+)$", outcome.out, re.MULTILINE).group(1))
    for region, permille, ns in re.findall(r"^saved (\w) (\d+) (-?\d+)$", outcome.out, re.MULTILINE):
        clock = found.get((region, int(permille)))
        if verdict.check(clock is not None, "%d ranks: region %s at %s permille is not there" % (ranks, region, permille)):
            compared += 1
            if abs(clock.saved - int(ns)) > NEAR * seconds * 1e9:
                off.append("%d ranks: region %s faster by %s permille saves %.2f of %.2f ms, predicted %.2f" % (
                    ranks, region, permille, int(ns) / 1e6, seconds * 1e3, clock.saved / 1e6))
    flags = set().union(*profile.whatif.flags.values())
    verdict.check(not flags & {"wildcard", "polling", "one-sided", "lost", "clock"}, "%d ranks: flags %s" % (ranks, flags))
    return off, compared


def main():
    verdict, scratch = harness.Verdict("mpi"), harness.Scratch("mpi")
    harness.mpirun()
    program = validation.build(scratch, "mpi_oracle", harness.sources()[0])
    for ranks in (2, 4):
        verdict.timed(lambda ranks=ranks: compare(verdict, scratch, program, ranks))
    verdict.finish(scratch)


main()
