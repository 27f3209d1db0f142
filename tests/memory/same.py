#!/usr/bin/env python3
"""Programs give the same results with hooks as without: inline assembly, deep recursion, jumps, signals; C++ exceptions; OpenMP tasks; Fortran;
derived types and windows of each MPI library, also from Fortran."""

import os
import shutil

import memory
from memory import harness

CASES = (("same_asm.c", ("gcc", "clang"), ("-O0", "-O2", "-O3")), ("same_cxx.cc", ("g++", "clang++"), ("-O0", "-O3")),
         ("same_tasks.c", ("gcc", "clang"), ("-O0", "-O2")),
         ("same_fortran.f90", ("gfortran",), ("-O0", "-O1", "-O2", "-O3")))
STATUS = {"same_asm.c": 3}  # of the programs that do not end with 0


def built(compiler, source, output, flags, changes, hooks):
    before = [harness.command("kinst-ompp"), "--memory"] if hooks else []
    words = [*before, compiler, "-fopenmp", "-pthread", "-g", *flags, os.path.join(memory.HERE, source), "-o", output]
    done = harness.execute(words, os.path.dirname(output), **changes)
    if done.status != 0:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
    return output


def compare(verdict, scratch, source, compiler, flags, title, ranks=(0,), **changes):
    name = title.replace(" ", "-")
    plain = built(compiler, source, scratch.file(name + "-plain"), flags, changes, False)
    hooks = built(compiler, source, scratch.file(name + "-hooks"), flags, changes, True)
    for n in ranks:
        what = title + (" on %d ranks" % n if n else "")
        wanted = verdict.unmeasured(what, lambda: harness.run(plain, scratch.file("run-%s-plain-%d" % (name, n)), 4, n),
                                    lambda outcome: outcome.status == STATUS.get(source, 0) and outcome.out)
        if not wanted:
            continue
        found = harness.run(hooks, scratch.file("run-%s-%d" % (name, n)), 4, n)
        verdict.equal((found.status, found.out), (wanted.status, wanted.out), what + ": results")
        profile = found.profile()
        verdict.profile(profile, what)
        verdict.equal(found.messages(), [], what + ": messages")


def families():
    """Compiler and launcher of each MPI library."""
    for family in ("openmpi", "mpich"):
        compiler, runner = os.environ.get("mpicc_" + family, "mpicc." + family), os.environ.get("mpirun_" + family, "mpirun." + family)
        if shutil.which(compiler) and shutil.which(runner):
            yield family, compiler, os.environ.get("mpifc_" + family, "mpifort." + family), runner
        else:
            print("note: not tested with %s: it is not here" % family)


def main():
    scratch, verdict = harness.Scratch("same"), harness.Verdict("same")
    for source, compilers, levels in CASES:
        for name, compiler in memory.compilers(*compilers):
            for level in levels:
                flags = (level, "-std=c++17") if source.endswith(".cc") else (level,)
                compare(verdict, scratch, source, compiler, flags, "%s %s %s" % (source, name, level))
    for name, compiler in memory.compilers("gcc"):
        if memory.has_plugin(compiler):
            compare(verdict, scratch, "same_tail.c", compiler, ("-O2",), "same_tail.c")
    for family, mpicc, mpifc, runner in families():
        os.environ["MPIRUN"] = runner
        for name, compiler in memory.compilers("gcc", "clang"):
            compare(verdict, scratch, "same_mpi.c", mpicc, ("-O2",), "%s %s" % (family, name),
                    (2, 4) if name == "gcc" else (2,), OMPI_CC=compiler, MPICH_CC=compiler)
        if shutil.which(mpifc):
            for level in ("-O0", "-O2"):
                compare(verdict, scratch, "same_mpi.f90", mpifc, (level,), "%s Fortran %s" % (family, level), (2, 4))
    verdict.finish(scratch)


main()
