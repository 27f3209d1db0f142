#!/usr/bin/env python3
"""
Serial work that the program does before its first event, and behind its last unit of work: it is of the run, and of no unit. So the
region is worth its part of the whole run at each speed-up, and what is outside of regions the rest.
"""

import os
import re
import shutil

import validation
from ompp_profile import OUTSIDE
from validation import harness

NEAR = 0.03  # of the run
CASES = [("500", "20", "300"), ("0", "60", "900"), ("900", "60", "0")]  # ms before, rounds of 25 ms, ms behind
SPEEDUPS = (250, 500, 750, 1000)


def build(scratch, how, mpi):
    output = scratch.file(how + ("-mpi" if mpi else ""), "ends")
    harness.build(os.path.join(validation.HERE, "ends.c"), output, how, mpi=mpi, flags=("-O2", "-g") + (("-DWITH_MPI",) if mpi else ()))
    return output


def run(verdict, scratch, program, mode, case, mpi):
    """Gains of the region and of what is outside: {(of region, permille): gain}; and what they are by what the program says."""
    where = "%s %s%s" % (mode, " ".join(case), ", MPI" if mpi else "")
    folder = scratch.file("runs", "%d" % len(os.listdir(os.path.dirname(scratch.file("runs", "r")))))
    outcome = harness.run(program, folder, 2, 1 if mpi else 0, list(case), OMPP_CAUSAL=mode)
    verdict.equal(outcome.status, 0, where + ": status")
    profile = outcome.profile()
    verdict.profile(profile, where)
    outside, inside = (float(x) for x in re.search(r"outside ([0-9.]+) inside ([0-9.]+)", outcome.out).groups())
    seconds = 1e-9 * (profile.whatif.time - profile.whatif.paid)
    names = {r.id: r for r in profile.regions}
    parallel = {i for i in profile.whatif.results if i in names and names[i].type == "PARALLEL"}
    gains = {(region in parallel, permille): gain.gain for (region, permille), gain in profile.whatif.gains.items()
             if region in parallel or region == OUTSIDE}
    return where, gains, {True: inside / seconds, False: outside / seconds}


def compare(verdict, scratch, program, mode, case, mpi):
    where, gains, parts = run(verdict, scratch, program, mode, case, mpi)
    off = []
    for of_region, permille in [(True, p) for p in SPEEDUPS] + [(False, p) for p in SPEEDUPS if mode == "virtual"]:
        told, wanted = gains.get((of_region, permille)), parts[of_region] * permille / 1000
        if mode == "delay" and told is None:
            continue  # no experiment with it: they are drawn
        if told is None or abs(told - wanted) > NEAR:
            off.append("%s: %s faster by %d permille gains %s, not %.3f" % (
                where, "region" if of_region else "outside", permille, told, wanted))
    if mode == "delay" and sum(of_region for of_region, _ in gains) < 2:
        off.append("%s: there are %s" % (where, sorted(gains)))
    return off, 1


def main():
    verdict, scratch = harness.Verdict("ends"), harness.Scratch("ends")
    if not shutil.which("gcc"):
        harness.skip("no gcc")
    for mpi in (False, True):
        if mpi and not shutil.which("mpicc"):
            continue
        program = build(scratch, harness.sources()[0], mpi)
        for mode in ("virtual", "delay"):
            for case in CASES:
                verdict.timed(lambda: compare(verdict, scratch, program, mode, case, mpi))
    verdict.finish(scratch)


main()
