#!/usr/bin/env python3
"""
A program sees the same of itself with and without measurement, and so do programs that it starts: signals, affinity of each thread, limits,
descriptors, environment, floating-point state, threads, what the C library keeps between calls, and much more (same.c); and it ends in the
same way. Preloaded by ompp and built with kinst-ompp, without MPI and with each one that is here, with causal profiling, data, counters and
reports by the clock. What differs all the same stands in docs/launcher.md.
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
CAUSAL = ({}, {"OMPP_CAUSAL": "virtual"}, {"OMPP_CAUSAL": "delay"})
ENVIRONMENTS = (*CAUSAL, {"OMPP_DATA": "table"}, {"OMPP_CTR1": "perf::PAGE-FAULTS"}, {"OMPP_DUMP_INTERVAL": "0.1", "OMPP_CHECKPOINT": "0.1"}, {"LD_PRELOAD": "libm.so.6", "OMPP_APPNAME": "mine", "OMP_TOOL_LIBRARIES": "/nonexistent.so", "EMPTY": ""})
# Differences that docs/launcher.md has: lines in which a setting is seen, and what of them is not compared.
THREADS = ("^Threads:|^tasks |^SigIgn:|^SigCgt:", "[0-9a-f]{16}|[0-9]+|ompp-(dump|collect)| ")
DOCUMENTED = (("OMPP_DUMP_INTERVAL", *THREADS), ("OMPP_DATA", *THREADS),
              ("OMPP_DATA", "^VmPin:", "[0-9]+| "), ("OMPP_DATA", "^descriptors", r" 2\d\d:anon_inode:\[(perf_event|eventpoll)\]:2:1"),
              ("OMPP_CTR1", "^descriptors", r" [0-9]+:anon_inode:\[perf_event\]:2:0|(?<= )[0-9]+:"))
# What differs from run to run: numbers in these lines.
# Our own lines; an instrumented program that is started as a child, and does nothing, says so. And a line of Open MPI's with the rank in it.
OURS = re.compile("^ompp: report: |^ompp: (rank [0-9]+: )?no what-if result: |^ompp: OMPP_CTR1=.* is not counted|^ompp: build the program with kinst-ompp --memory: |^ompp: .*nothing was measured|Process name")
VARYING = re.compile("^(OMPI|PMIX|PMI|HYD|MPIR|GFORK)[A-Z0-9_a-z]*=")


def build(folder, kind, compiler, flags=(), before=(), backend=None):
    """All programs have one name, and their reports one directory."""
    os.makedirs(os.path.join(folder, kind), exist_ok=True)
    program = os.path.join(folder, kind, "same")
    done = harness.execute([*before, compiler, "-fopenmp", "-w", "-O1", "-g", *flags, os.path.join(HERE, "same.c"), "-lm", "-o", program], folder,
                           **({"OMPI_CC": backend, "MPICH_CC": backend} if backend else {}))
    if done.status:
        raise harness.Failure("cannot build %s: %s" % (kind, done.err[-800:]))
    return program


def lines_of(out, folder, keeps_errno):
    """What is printed, without the name of the program's directory and the numbers of sockets and jobs."""
    # What libraries have looked for in vain: documented are that there is none of it, and the time zone once a report is written.
    out = re.sub("dlerror (?![^,]*ompp)[^,]*,", "dlerror of others,", out)
    out = re.sub("(?<=zone )(GMT|UTC) 0", "", out)
    out = out if keeps_errno else re.sub("(in the middle: errno|errno behind calls:) [0-9 ]+", r"\1 of libomp", out)
    lines = re.sub(re.escape(folder) + "/[-a-z]+/same", "PROGRAM", out).splitlines()
    return [re.sub("[0-9a-f]*[0-9][0-9a-f]*", "N", line) if VARYING.search(line) else line for line in lines]


def without_samples(line):
    """What shows that threads are sampled: our timers, and that SIGPROF is caught."""
    line = re.sub(r"ID: \d+ signal: 27/[0-9a-f]+ notify: signal/tid\.\d+ ClockID: -?\d+ ", "", line)
    return re.sub("(?<=^SigCgt:\t)[0-9a-f]+", lambda found: "%016x" % (int(found.group(), 16) & ~(1 << 26)), line)


def without_documented(lines, environment):
    lines = [without_samples(line) for line in lines]
    for name, pattern, words in DOCUMENTED:
        if name in environment:
            lines = [re.sub(words, "", line) if re.search(pattern, line) else line for line in lines]
    return lines


def compare(verdict, title, folder, one, other, good=True, keeps_errno=True, same_library=True, **environment):
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
    first, second = (without_documented(lines_of(outcome.out, folder, keeps_errno), environment) for outcome in (plain, measured))
    if not same_library:
        first, second = ([line for line in lines if not re.search("^floats of |a thread of the team|^OpenMP: ", line)] for lines in (first, second))
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
    for ranks, end, environment in ((1, "return", {}), *((2, "exit", settings) for settings in CAUSAL)):
        words = [launcher, *harness.launcher_options(launcher), "-n", str(ranks)]
        compare(verdict, "%s, %s, %d ranks, %s" % (family, title, ranks, environment), folder, [*words, plain, end], [*words, *command, end],
                keeps_errno="gcc" in title, **environment)


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
        memory = [harness.command("kinst-ompp"), "--memory"]
        serial(verdict, folder, kind + ", kinst-ompp --memory", plain, [build(folder, "memory", compiler, before=memory)])
        if kind == "gcc":
            llvm = [launch[0], "--omp-runtime=llvm", "--", plain]
            compare(verdict, "gcc on libomp", folder, [plain, "exit"], [*llvm, "exit"], keeps_errno=False, same_library=False)
    for family in os.environ.get("mpi_families", "").split():
        compiler = os.environ.get("mpicc_" + family, "no")
        for kind, backend in (("gcc", harness.COMPILERS["opari"]), ("clang", harness.COMPILERS["ompt"])):
            if not shutil.which(compiler) or not shutil.which(backend):
                continue
            name, flags = kind + "-" + family, ("-DUSE_MPI",)
            plain = build(folder, "plain-" + name, compiler, flags, backend=backend)
            parallel(verdict, folder, kind + ", ompp", family, plain, [*launch, plain])
            instrumented = build(folder, "kinst-" + name, compiler, flags, [harness.command("kinst-ompp")], backend)
            parallel(verdict, folder, kind + ", kinst-ompp", family, plain, [instrumented])
    verdict.finish(scratch)


main()
