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
OMPP = [harness.command("ompp"), "--"]
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


def run(words, folder):
    os.makedirs(folder, exist_ok=True)
    return harness.execute(words, folder, OMP_NUM_THREADS=2, OMPP_JOB_DIR=folder + "-job")


def printed(outcome):
    """The output as it is, but for what differs from run to run."""
    lines = [line for line in outcome.out.splitlines() if not line.startswith(("OMPP_JOB_DIR=", "PWD=", "OLDPWD="))]
    out = "\n".join(line.replace(outcome.folder, "FOLDER") for line in lines)
    return out if len(out) < 100000 else hashlib.sha256(outcome.out.encode()).hexdigest()


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
    verdict.equal(measured.status, plain.status, title + ": status: " + measured.err[-300:])
    a, b = printed(plain).splitlines(), printed(measured).splitlines()
    verdict.check(a == b, "%s: output: missing %s, new %s" % (title, [x for x in a if x not in b][:5], [x for x in b if x not in a][:5]))
    if report:
        verdict.check(measured.reports(), "%s: no report: %s" % (title, measured.err[-300:]))
    left = os.listdir(measured.folder + "-job") if os.path.isdir(measured.folder + "-job") else []
    verdict.check(not left, "%s: files left: %s" % (title, left))
    data = os.path.join(measured.folder, "data.out")
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


def compare_ways(verdict, name, folder, plain, kinst, status=0):
    """The words of a plain program and of an instrumented one: without ompp, instrumented, and the plain one with ompp."""
    without = verdict.unmeasured(name, lambda: run(plain, os.path.join(folder, "run-plain-" + name)), lambda outcome: outcome.status == status)
    if without:
        for title, words in (("kinst-ompp", kinst), ("ompp", [*OMPP, *plain])):
            measured = run(words, os.path.join(folder, "run-%s-%s" % (title, name)))
            compare(verdict, name + ", " + title, without, measured, report=status == 0)


def test(verdict, scratch, how, ways):
    folder = build_all(scratch, how)
    for way in ways + (["library"],):
        lines = (lines_of(folder, kind, way) for kind in ("plain", "kinst"))
        compare_ways(verdict, "-".join([how] + way), folder, *lines, status=77 if way == ["status"] else 0)
    for kind, front in (("plain", OMPP), ("kinst", [])):
        test_standard_files(verdict, "%s, %s" % (how, kind), front + [os.path.join(folder, kind, "behave")], os.path.join(folder, "closed-" + kind))
    if os.path.exists(os.path.join(folder, "kinst", "throw")):
        compare_ways(verdict, how + "-throw", folder, *([os.path.join(folder, kind, "throw")] for kind in ("plain", "kinst")))


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
