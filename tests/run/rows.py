#!/usr/bin/env python3
"""
Rows of nested teams are places, not threads: the same ones with the same counts, whether inner teams run at the same time, where a runtime
makes a thread for each place, or one after the other, where it has fewer.
"""

import os
import xml.etree.ElementTree as ElementTree

import harness

SOURCE = os.path.join(harness.HERE, "rows.c")
# Two threads, then the inner teams' further ones: one of the first's, two of the second's.
KINDS = ["initial", "team", "nested", "nested", "nested"]
CRITICALS = [5, 5, 5, 5, 5]


def rows(profile):
    """[(kind, executions of the critical region)] by TID."""
    listed = ElementTree.parse(profile.path).getroot().find("locations")
    kinds = {int(place.get("tid", 0)): place.get("kind") for place in listed}
    counts = profile.total("execC", harness.of_type(profile, "CRITICAL"))
    return [(kinds[tid], counts.get((0, tid), 0)) for tid in sorted(kinds)]


def main():
    verdict, scratch = harness.Verdict("rows"), harness.Scratch("rows")
    for how in harness.sources() + harness.plain_sources():
        program = scratch.file(how, "rows")
        compiler = "opari" if how == "gomp" else how
        harness.build(SOURCE, program, compiler, instrument=how != "gomp")
        front = [harness.command("ompp"), "--"] if how == "gomp" else []
        for wait_us in (0, 8000, 2800, 3200, 0, 8000):
            title = "%s, %d us apart" % (how, wait_us)
            folder = scratch.file("run", str(verdict.checks), "x")[:-2]
            outcome = harness.execute([*front, program, str(wait_us)], folder, OMP_NUM_THREADS=2)
            verdict.equal((outcome.status, outcome.out), (0, "25\n"), title + ": status and output")
            profile = outcome.profile()
            verdict.profile(profile, title)
            verdict.equal(rows(profile), list(zip(KINDS, CRITICALS)), title)
    verdict.finish(scratch)


main()
