#!/usr/bin/env python3
"""
A program sees the same of itself with and without measurement, and so do programs that it starts: signals, affinity of each thread, limits,
descriptors, environment, working directory, name, number of threads; and it ends in the same way. Preloaded by ompp and built with
kinst-ompp, without MPI and with each one that is here.
"""

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
# What differs from run to run: numbers in these lines.
# Our own lines; an instrumented program that is started as a child, and does nothing, says so. And a line of Open MPI's with the rank in it.
OURS = re.compile("^ompp: report: |^ompp: .*nothing was measured|Process name")
VARYING = re.compile("^descriptors|^(OMPI|PMIX|PMI|HYD|MPIR|GFORK)[A-Z0-9_a-z]*=")


def build(folder, kind, compiler, flags=(), before=()):
    """All programs have one name, and their reports one directory."""
    os.makedirs(os.path.join(folder, kind), exist_ok=True)
    program = os.path.join(folder, kind, "same")
    done = harness.execute([*before, compiler, "-fopenmp", "-w", "-O1", "-g", *flags, os.path.join(HERE, "same.c"), "-lm", "-o", program], folder,
                           OMPI_CC=harness.COMPILERS["opari"], MPICH_CC=harness.COMPILERS["opari"])
    if done.status:
        raise harness.Failure("cannot build %s: %s" % (kind, done.err[-800:]))
    return program


def lines_of(out, folder, keeps_errno):
    """What is printed, without the name of the program's directory and the numbers of sockets and jobs."""
    out = out if keeps_errno else re.sub("in the middle: errno [0-9]+", "in the middle: errno of libomp", out)
    lines = re.sub(re.escape(folder) + "/[-a-z]+/same", "PROGRAM", out).splitlines()
    return [re.sub("[0-9a-f]*[0-9][0-9a-f]*", "N", line) if VARYING.search(line) else line for line in lines]


def compare(verdict, title, folder, one, other, good=True, keeps_errno=True, **environment):
    """Both in one folder, one after the other. What is left of a run that does not end well is removed."""
    job = os.path.join(folder, "job")
    environment = {"OMP_NUM_THREADS": 2, "OMPP_JOB_DIR": job, "OMPP_OUTDIR": os.path.join(folder, "reports"), **environment}
    os.makedirs(job, exist_ok=True)
    os.makedirs(environment["OMPP_OUTDIR"], exist_ok=True)
    plain = verdict.unmeasured(title, lambda: harness.execute(one, folder, **environment), lambda outcome: "---- end" in outcome.out)
    if not plain:
        return
    measured = harness.execute(other, folder, **environment)
    verdict.equal(measured.status, plain.status, title + ": status")
    left = os.listdir(job)
    verdict.equal(bool(left), not good, "%s: files left: %s" % (title, left))
    for name in left:
        os.remove(os.path.join(job, name))
    first, second = (lines_of(outcome.out, folder, keeps_errno) for outcome in (plain, measured))
    for number, (a, b) in enumerate(zip(first, second), 1):
        if not verdict.check(a == b, "%s: line %d: without '%s', with '%s'" % (title, number, a[:600], b[:600])):
            return
    verdict.equal(len(second), len(first), title + ": lines")
    errors = [[line for line in outcome.err.splitlines() if not OURS.search(line)]
              for outcome in (plain, measured)]
    verdict.equal(errors[1], errors[0], title + ": stderr")
    harness.shutil.rmtree(environment["OMPP_OUTDIR"], ignore_errors=True)


def serial(verdict, folder, kind, plain, command):
    # libomp's own start sets errno, not always to the same; libgomp's does not.
    libgomp = kind.startswith("gcc")
    for environment in ENVIRONMENTS:
        compare(verdict, "%s %s" % (kind, sorted(environment)), folder, [plain, "return"], [*command, "return"],
                keeps_errno=libgomp, **environment)
    for end in ENDS[1:]:
        compare(verdict, "%s %s" % (kind, end), folder, [plain, end], [*command, end], end == "exit", libgomp)
    bound = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    if shutil.which(bound[0]):
        compare(verdict, kind + ", bound to a processor", folder, [*bound, plain, "return"], [*bound, *command, "return"],
                keeps_errno=libgomp)


def parallel(verdict, folder, title, family, plain, command):
    launcher = os.environ["mpirun_" + family]
    for ranks, end in ((1, "return"), (2, "exit")):
        words = [launcher, *harness.launcher_options(launcher), "-n", str(ranks)]
        compare(verdict, "%s, %s, %d ranks" % (family, title, ranks), folder, [*words, plain, end], [*words, *command, end])


def main():
    verdict, scratch = harness.Verdict("same"), harness.Scratch("same")
    folder = scratch.file("work", "x")[:-2]
    # Options are variables: the program, and what it starts, does not see these.
    launch = [harness.command("ompp"), "--time-digits=3", "--children=0", "--"]
    for kind, compiler in (("gcc", harness.COMPILERS["opari"]), ("clang", harness.COMPILERS["ompt"])):
        if not shutil.which(compiler):
            continue
        plain = build(folder, "plain", compiler)
        serial(verdict, folder, kind + ", ompp", plain, [*launch, plain])
        serial(verdict, folder, kind + ", kinst-ompp", plain, [build(folder, "kinst", compiler, before=[harness.command("kinst-ompp")])])
        if kind == "gcc":
            llvm = [launch[0], "--omp-runtime=llvm", "--", plain]
            compare(verdict, "gcc on libomp", folder, [plain, "exit"], [*llvm, "exit"], keeps_errno=False)
    for family in os.environ.get("mpi_families", "").split():
        compiler = os.environ.get("mpicc_" + family, "no")
        if shutil.which(compiler):
            plain = build(folder, "plain-" + family, compiler, ("-DUSE_MPI",))
            parallel(verdict, folder, "ompp", family, plain, [*launch, plain])
            instrumented = build(folder, "kinst-" + family, compiler, ("-DUSE_MPI",), [harness.command("kinst-ompp")])
            parallel(verdict, folder, "kinst-ompp", family, plain, [instrumented])
    verdict.finish(scratch)


main()
