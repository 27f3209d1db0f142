#!/usr/bin/env python3
"""Types made with large counts, and passed to calls through each Fortran binding of each MPI: no call of ours fails; their bytes."""

import os
import shutil

import fharness
import harness

RANKS, BYTES, LARGE = 2, 24, ("mpich", "F08")  # of each type; where the binding has large counts


def build(name, binding, folder):
    program = os.path.join(folder, binding)
    words = [["mpicc." + name, "-c", "-w", os.path.join(fharness.HERE, "types.c"), "-o", program + ".o"],
             ["mpifort." + name, *fharness.FLAGS, "-D" + binding, *(["-DLARGE"] if (name, binding) == LARGE else []),
              os.path.join(fharness.HERE, "types.F90"), program + ".o", "-J", folder, "-o", program]]
    for line in words:
        done = harness.execute(line, folder)
        if done.status:
            raise harness.Failure("cannot build: %s\n%s" % (" ".join(line), done.err[-1500:]))
    return program


def run(launcher, words, folder, **changes):
    os.makedirs(folder)
    return harness.execute([launcher, *harness.launcher_options(launcher), "-n", str(RANKS), *words], folder, **changes)


def check_bytes(verdict, profile, title):
    """Every call moved its six integers, or those of both ranks."""
    for call, column, each in (("MPI_Sendrecv", "outV", 1), ("MPI_Recv", "inV", 1), ("MPI_Isend", "outV", 1), ("MPI_Alltoall", "inV", RANKS),
                               ("MPI_Alltoallw", "outV", RANKS), ("MPI_Allgatherv", "inV", RANKS)):
        regions = [r for r in profile.find("MPI") if r.name == call]
        calls, moved = profile.total("execC", regions), profile.total(column, regions)
        wanted = {where: n * each * BYTES for where, n in calls.items()}
        verdict.check(calls and moved == wanted, "%s: %s: %s bytes in %s calls" % (title, call, moved, calls))


def test(verdict, scratch, name, binding):
    title, launcher = "%s (%s)" % (binding, name), "mpirun." + name
    folder = os.path.dirname(scratch.file(name, binding, "x"))
    program = build(name, binding, folder)
    plain = verdict.unmeasured(title, lambda: run(launcher, [program], os.path.join(folder, "plain")))
    if not plain:
        return
    for how, changes in (("bytes", {}), ("clocks", {"OMPP_CAUSAL": "virtual"})):
        outcome = run(launcher, [harness.command("ompp"), "--", program], os.path.join(folder, how), **changes)
        verdict.equal((outcome.status, outcome.out), (plain.status, plain.out), "%s, %s: result: %s" % (title, how, outcome.err[-500:]))
        verdict.equal(outcome.complaints(), [], "%s, %s: messages" % (title, how))
        check_bytes(verdict, outcome.profile(), "%s, %s" % (title, how))


def main():
    verdict, scratch = harness.Verdict("types"), harness.Scratch("types")
    families = [n for n in ("openmpi", "mpich") if all(shutil.which(t + n) for t in ("mpirun.", "mpicc.", "mpifort."))]
    if not families:
        harness.skip("no MPI with Fortran here")
    try:
        for name in families:
            for binding in fharness.BINDINGS:
                test(verdict, scratch, name, binding)
    except harness.Failure as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
