#!/usr/bin/env python3
"""
Programs of tests/omp, built by gcc with -O2 and measured by ompp: their facts hold as with -O0. There, calls of libgomp are jumps where
they are the last thing in a function, and return to the caller of that function or to us.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))

import harness  # noqa: E402
import omp_facts  # noqa: E402

PROGRAMS = ("orphaned", "barrier", "cancel", "combined", "critical", "included", "loop", "nested", "ordered", "past", "sections",
            "single", "task", "taskgroup")
BUILD = harness.build


def build(source, output, how, mpi=False, flags=(), instrument=True):
    return BUILD(source, output, how, mpi, ("-O2", "-g"), instrument)


def main():
    if not harness.preloaded_sources():
        harness.skip("no gcc")
    harness.build, omp_facts.THREADS = build, (2,)
    sys.argv[1:] = sys.argv[1:] or PROGRAMS
    harness.over_programs("optimised", os.path.join(harness.SOURCE, "tests", "omp"),
                          lambda verdict, scratch, name: omp_facts.test(verdict, scratch, name, harness.preloaded_sources()))


main()
