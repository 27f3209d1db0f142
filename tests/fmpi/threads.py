#!/usr/bin/env python3
"""Fortran programs whose threads call MPI at once: same results, and every call of every thread counted."""

import os
import sys

import fharness
import harness

SIZES = (1, 2)
SOURCE = os.path.join(fharness.HERE, "threads.F90")


def check(verdict, profile, binding, ranks, title):
    known = fharness.annotations(SOURCE, binding)
    for name in {name for _, name, _ in known.values()}:
        regions = profile.find("MPI", name=name)
        tables = {key: profile.total(column, regions) for key, column in fharness.COLUMNS.items()}
        for r in range(ranks):
            wanted = [fharness.expected(text, r, ranks) for _, other, text in known.values() if other == name]
            for key, places in tables.items():
                found = sum(value for (rank, _), value in places.items() if rank == r)
                verdict.equal(found, sum(w[key] for w in wanted), "%s: %s rank %d %s" % (title, name, r, key))


def main():
    verdict, scratch = harness.Verdict("threads"), harness.Scratch("threads")
    for binding in sys.argv[1:] or fharness.BINDINGS:
        program = scratch.file(binding, "threads")
        try:
            fharness.build(SOURCE, program, binding, ("-fopenmp",))
            for ranks in SIZES:
                title = "%s, threads, %d ranks" % (fharness.BINDINGS[binding], ranks)
                folder = os.path.join(scratch.path, "%s-%d" % (binding, ranks))
                without = verdict.unmeasured(title, lambda: fharness.run(program, folder + "-without", ranks, False))
                if not without:
                    continue
                if without.out.startswith("no threads"):
                    harness.skip("this MPI has no MPI_THREAD_MULTIPLE")
                measured = fharness.run(program, folder + "-with", ranks, True)
                verdict.equal((measured.status, measured.out), (without.status, without.out), title + ": result")
                profile = measured.profile()
                verdict.profile(profile, title)
                check(verdict, profile, binding, ranks, title)
        except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
            verdict.check(False, "%s: %s" % (binding, failure))
    verdict.finish(scratch)


main()
