#!/usr/bin/env python3
"""A program sees the same of itself, and so do programs that it starts, with and without measurement; and it ends in the same way."""

import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

ENDS = ("return", "exit", "_exit", "abort", "segv", "kill")
# Environments the program may come with: what ompp sets, and what it does not know.
ENVIRONMENTS = ({}, {"LD_PRELOAD": "libm.so.6", "OMPP_APPNAME": "mine", "OMP_TOOL_LIBRARIES": "/nonexistent.so", "EMPTY": ""})


def build(folder, name, compiler, flags=(), before=()):
    program = os.path.join(folder, name)
    done = harness.execute([*before, compiler, "-fopenmp", "-w", "-O1", "-g", *flags, os.path.join(HERE, "same.c"), "-o", program], folder)
    if done.status:
        raise harness.Failure("cannot build %s: %s" % (name, done.err[-800:]))
    return program


def compare(verdict, title, folder, one, other, **environment):
    """Both in one folder, one after the other."""
    plain = harness.execute(one, folder, **environment)
    measured = harness.execute(other, folder, **environment)
    verdict.equal(measured.status, plain.status, title + ": status")
    first, second = plain.out.splitlines(), measured.out.splitlines()
    for number, (a, b) in enumerate(zip(first, second), 1):
        if not verdict.check(a == b, "%s: line %d: without '%s', with '%s'" % (title, number, a[:300], b[:300])):
            return
    verdict.equal(len(second), len(first), title + ": lines")
    errors = [[line for line in outcome.err.splitlines() if not re.search("^ompp: report: |Process name", line)]
              for outcome in (plain, measured)]
    verdict.equal(errors[1], errors[0], title + ": stderr")
    return measured


def serial(verdict, folder, kind, plain, command):
    for environment in ENVIRONMENTS:
        compare(verdict, "%s %s" % (kind, sorted(environment)), folder, [plain, "return"], [*command, "return"], **environment)
    for end in ENDS[1:]:
        compare(verdict, "%s %s" % (kind, end), folder, [plain, end], [*command, end])


def parallel(verdict, folder, family, plain):
    launcher = os.environ["mpirun_" + family]
    words = [launcher, *harness.launcher_options(launcher), "-n", "1"]
    compare(verdict, family, folder, [*words, plain, "exit"], [*words, harness.command("ompp"), "--outdir=" + folder, "--", plain, "exit"])


def main():
    verdict, scratch = harness.Verdict("same"), harness.Scratch("same")
    folder = scratch.file("work", "x")[:-2]
    launch = [harness.command("ompp"), "--time-digits=3", "--outdir=" + folder, "--"]
    for kind, compiler in (("gcc", harness.COMPILERS["opari"]), ("clang", harness.COMPILERS["ompt"])):
        if not shutil.which(compiler):
            continue
        plain = build(folder, "same", compiler)
        serial(verdict, folder, kind, plain, [*launch, plain])
        if kind == "gcc":
            compare(verdict, "gcc on libomp", folder, [plain, "exit"], [launch[0], "--omp-runtime=llvm", "--", plain, "exit"])
    for family in os.environ.get("mpi_families", "").split():
        compiler = os.environ.get("mpicc_" + family, "no")
        if shutil.which(compiler):
            parallel(verdict, folder, family, build(folder, family, compiler, ("-DUSE_MPI",)))
    verdict.finish(scratch)


main()
