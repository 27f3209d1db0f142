#!/usr/bin/env python3
"""Structures of an MPI program: joined by name over the ranks, counts per rank and thread."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness


def constructor(verdict, scratch):
    """A library whose constructor calls MPI before that of libompp-memory runs, as libmpi_cxx does."""
    compiler = os.environ.get("MPICC", "mpicc")
    library, source = scratch.file("libfirst.so"), scratch.file("first.c")
    with open(source, "w") as file:
        file.write("#include <mpi.h>\n__attribute__((constructor)) static void first(void) { int is; MPI_Initialized(&is); }\n"
                   "void use(void) {}\n")
    built = harness.execute([compiler, "-shared", "-fPIC", source, "-o", library], scratch.path)
    verdict.equal(built.status, 0, "constructor: library: " + built.err[-500:])
    program = scratch.file("constructor")
    memory.build(compiler, os.path.join(memory.HERE, "ranks.c"), program, "-O2", "-Wl,--no-as-needed", library, "-Wl,-rpath," + scratch.path)
    profile = harness.run(program, scratch.file("constructor-run"), 2, 1).profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    verdict.equal(memory.counts(profile, "v")[:2], [1000, 1000], "constructor: v")


def main():
    scratch, verdict = harness.Scratch("ranks"), harness.Verdict("ranks")
    harness.mpirun()
    program = scratch.file("ranks")
    memory.build(os.environ.get("MPICC", "mpicc"), os.path.join(memory.HERE, "ranks.c"), program, "-O2")
    for ranks in (1, 2, 4):
        title = "%d ranks" % ranks
        run = harness.run(program, scratch.file("run%d" % ranks), 2, ranks)
        expected = ["%d %d %d" % (r, 1000 * (r + 1), (r - 1) % ranks + 1) for r in range(ranks)]
        verdict.equal((run.status, sorted(run.out.splitlines())), (0, expected), title + ": result")
        profile = run.profile()
        verdict.profile(profile, title)
        profile.root = ElementTree.parse(profile.path).getroot()
        verdict.equal(list(memory.objects(profile))[:2], ["other", "v"], title + ": structures")
        verdict.equal("only here" in memory.objects(profile), ranks > 1, title + ": a structure of one rank")
        verdict.equal(memory.counts(profile, "other")[:2], [0, 100 * ranks], title + ": other")
        verdict.equal(memory.counts(profile, "v")[:2], [1000 * ranks, 1000 * ranks], title + ": v")
        loop = memory.counts(profile, "v", memory.region_of(profile, "PARALLEL LOOP"), by_thread=True)
        verdict.equal([v[0] for v in loop.values()], [500] * 2 * ranks, title + ": v in the loop, by thread")
    constructor(verdict, scratch)
    verdict.finish(scratch)


main()
