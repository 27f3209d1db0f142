#!/usr/bin/env python3
"""What an atomic update reads and writes is counted at the construct around it; its executions and its time are the ATOMIC's."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

N = 1000
COUNTED = (memory.LOADS, memory.STORES)


def at(profile, name, region):
    return tuple(memory.counts(profile, name, region)[i] for i in COUNTED)


def main():
    scratch, verdict = harness.Scratch("updates"), harness.Verdict("updates")
    for name, compiler in memory.compilers("gcc"):  # clang has no hook for such updates
        program = scratch.file(name)
        memory.build(compiler, os.path.join(memory.HERE, "updates.c"), program, "-O1")
        for threads in (1, 2, 4):
            for data in ("all", "tally,alone,around"):
                title = "%s, %d threads, %s" % (name, threads, data)
                run = harness.run(program, scratch.file("run " + title), threads, OMPP_DATA=data, OMPP_TIMED_RATE="0")
                verdict.equal((run.status, run.out), (0, "%d %d %d\n" % (2 * N, N, N - 1)), title + ": output")
                profile = run.profile()
                verdict.profile(profile, title)
                profile.root = ElementTree.parse(profile.path).getroot()
                kinds = {r.get("id"): r.get("type") for r in profile.root.find("regions")}
                atomics = [r for r, kind in kinds.items() if kind == "ATOMIC"]
                verdict.equal(len(atomics), 3, title + ": ATOMIC regions")
                for structure in ("tally", "alone", "around", None):
                    for region in atomics:
                        verdict.equal(at(profile, structure, region), (0, 0), "%s: %s at %s" % (title, structure, region))
                loop = next(r for r, kind in kinds.items() if kind == "PARALLEL LOOP")
                verdict.equal(at(profile, "tally", loop), (2 * N, 2 * N), title + ": tally in the loop")
                verdict.equal(at(profile, "around", loop), (0, N), title + ": around in the loop")
                total = memory.counts(profile, "alone")
                verdict.equal((total[memory.LOADS], total[memory.STORES]), (N + 1, N), title + ": alone")
                for n, region in enumerate(atomics):
                    executed = sum(int(c.get("count", 0)) for node in profile.root.find("nodes") if node.get("region") == region
                                   for c in node.iter("phase"))
                    verdict.equal(executed, N, "%s: executions of ATOMIC %d" % (title, n))
    verdict.finish(scratch)


main()
