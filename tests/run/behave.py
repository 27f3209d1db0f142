#!/usr/bin/env python3
"""
Programs that fork, execute, spawn, clone, jump, throw, close descriptors, load libraries, end threads: output, status, descriptors,
signals, limits, environment of children are the same with and without measurement, built with kinst-ompp and preloaded by ompp.

By hand, for the long ones: behave.py long (10,000 parallel regions per second for some seconds, 2 GB of output).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time

import harness

SOURCE = os.path.join(harness.HERE, "behave.c")
THROW = os.path.join(harness.HERE, "behave_throw.cc")
LIBRARY = """
int library_team(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += n;
    return sum;
}
"""
WAYS = (["self"], ["children"], ["threads"], ["jumps"], ["descriptors"], ["reuse"], ["signals"], ["status"], ["exec", "again"], ["rate", "2000"],
        ["output", "16"])
CXX = {"opari": os.environ.get("TEST_GXX", "g++"), "ompt": os.environ.get("TEST_CLANGXX", "clang++-19")}


def run(words, folder, **settings):
    """(status, output as it is, but what differs from run to run); the report must be there."""
    os.makedirs(folder, exist_ok=True)
    done = harness.execute(words, folder, OMP_NUM_THREADS=2, OMPP_JOB_DIR=folder + "-job", **settings)
    lines = [line for line in done.out.splitlines() if not line.startswith(("OMPP_JOB_DIR=", "PWD=", "OLDPWD="))]
    out = "\n".join(line.replace(folder, "FOLDER") for line in lines)
    return done.status, out if len(out) < 100000 else hashlib.sha256(done.out.encode()).hexdigest(), done


def test_standard_files(verdict, title, words, folder):
    """All three are closed from the start; or nobody reads what is written to stderr, which is no reason to be killed."""
    os.makedirs(folder, exist_ok=True)
    done = harness.execute(["sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh", *words, "reuse"], folder, OMP_NUM_THREADS=2)
    with open(os.path.join(folder, "data.out")) as file: # descriptor 0, and the program's stdout is descriptor 1
        verdict.equal((done.status, file.read()), (0, "data\n"), title + ": without stdin, stdout and stderr")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*words, "status"], cwd=folder, env=harness.environment(OMP_NUM_THREADS=2), stderr=writer, stdout=subprocess.DEVNULL,
                          timeout=harness.LIMIT)
    os.close(writer)
    verdict.equal(done.returncode, 77, title + ": stderr is a pipe without a reader: status")


def compare(verdict, title, plain, measured, report=True):
    verdict.equal(measured[0], plain[0], title + ": status: " + measured[2].err[-300:])
    if measured[1] != plain[1]:
        a, b = plain[1].splitlines(), measured[1].splitlines()
        verdict.check(False, "%s: output: missing %s, new %s" % (title, [x for x in a if x not in b][:5], [x for x in b if x not in a][:5]))
    verdict.checks += 1
    if report:
        verdict.check(measured[2].reports(), "%s: no report: %s" % (title, measured[2].err[-300:]))
    left = os.listdir(measured[2].folder + "-job") if os.path.isdir(measured[2].folder + "-job") else []
    verdict.check(not left, "%s: files left: %s" % (title, left))
    data = os.path.join(measured[2].folder, "data.out")
    if os.path.exists(data):
        with open(data) as file:
            verdict.equal(file.read(), "data\n", title + ": what is in a file that has the descriptor of stderr")


def cxx(how, words, folder):
    done = harness.execute(words, folder)
    if done.status:
        raise harness.Failure("cannot build: %s: %s" % (" ".join(words), done.err[-800:]))


def build_all(scratch, how):
    """Plain and instrumented: the program, one of C++, a library with OpenMP."""
    folder = scratch.file(how, "x")[:-2]
    with open(os.path.join(folder, "library.c"), "w") as file:
        file.write(LIBRARY)
    kinst = [harness.command("kinst-ompp"), "--with=" + how]
    for kind, front in (("plain", []), ("kinst", kinst)):
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        harness.build(SOURCE, os.path.join(folder, kind, "behave"), how, instrument=bool(front), flags=("-O1", "-g", "-ldl"))
        if shutil.which(CXX[how]):
            cxx(how, front + [CXX[how], "-g", "-O1", "-fopenmp", THROW, "-o", os.path.join(folder, kind, "throw")], folder)
        cxx(how, front + [harness.COMPILERS[how], "-g", "-fopenmp", "-shared", "-fPIC", "library.c", "-o",
                          os.path.join(folder, kind, "library.so")], folder)
    return folder


def lines_of(folder, kind, way):
    words = [os.path.join(folder, kind, "behave"), *way]
    return words + [os.path.join(folder, kind, "library.so")] if way == ["library"] else words


def test(verdict, scratch, how, ways):
    folder = build_all(scratch, how)
    ompp = [harness.command("ompp"), "--"]
    for way in ways + (["library"],):
        name = "-".join([how] + way)
        plain = run(lines_of(folder, "plain", way), os.path.join(folder, "run-plain-" + name))
        report = way != ["status"]
        compare(verdict, name + ", kinst-ompp", plain, run(lines_of(folder, "kinst", way), os.path.join(folder, "run-kinst-" + name)), report)
        compare(verdict, name + ", ompp", plain, run(ompp + lines_of(folder, "plain", way), os.path.join(folder, "run-ompp-" + name)), report)
    for kind, front in (("plain", ompp), ("kinst", [])):
        test_standard_files(verdict, "%s, %s" % (how, kind), front + [os.path.join(folder, kind, "behave")], os.path.join(folder, "closed-" + kind))
    if os.path.exists(os.path.join(folder, "kinst", "throw")):
        plain = run([os.path.join(folder, "plain", "throw")], os.path.join(folder, "run-plain-throw"))
        compare(verdict, how + "-throw, kinst-ompp", plain, run([os.path.join(folder, "kinst", "throw")], os.path.join(folder, "run-kinst-throw")))
        compare(verdict, how + "-throw, ompp", plain, run(ompp + [os.path.join(folder, "plain", "throw")], os.path.join(folder, "run-ompp-throw")))


def test_long(verdict, scratch, how):
    """2 GB of output are counted by wc and not kept."""
    folder = build_all(scratch, how)
    for kind in ("plain", "kinst"):
        program = os.path.join(folder, kind, "behave")
        begin = time.time()
        done = subprocess.run([program, "rate", "100000"], cwd=folder, env=harness.environment(OMP_NUM_THREADS=2), stdout=subprocess.PIPE,
                              universal_newlines=True)
        verdict.equal((done.returncode, done.stdout), (0, "rate: 200000\n"), "%s %s: rate" % (how, kind))
        seconds = time.time() - begin
        done = subprocess.run("%s output 2048 | wc -c" % program, shell=True, cwd=folder, env=harness.environment(OMP_NUM_THREADS=2),
                              stdout=subprocess.PIPE, universal_newlines=True)
        verdict.equal(done.stdout.strip(), str(2048 << 20), "%s %s: output" % (how, kind))
        print("%s %s: 100,000 parallel regions in %.2f s" % (how, kind, seconds))


def main():
    verdict, scratch = harness.Verdict("behave"), harness.Scratch("behave")
    for how in harness.sources():
        try:
            if sys.argv[1:] == ["long"]:
                test_long(verdict, scratch, how)
            else:
                test(verdict, scratch, how, tuple([w] for w in sys.argv[1:]) or WAYS)
        except harness.Failure as failure:
            verdict.check(False, "%s: %s" % (how, failure))
    verdict.finish(scratch)


main()
