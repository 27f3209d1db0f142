#!/usr/bin/env python3
"""
Builds every program of tests/fortran through kinst-ompp gfortran (OPARI2), runs it with 1, 2 and 4 threads, and checks what it
prints and its report against the program's facts: tests/run/omp_facts.py says how they are written. Labels are "! @label".
"""

import glob
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
import harness  # noqa: E402
import omp_facts  # noqa: E402

COMPILER = os.environ.get("TEST_GFORTRAN", "gfortran")
FLAGS = ["-O0", "-g", "-fopenmp"]


def labels(source):
    """Lines below comments "! @label", and the line below "! @end label"."""
    begin, end = {}, {}
    for number, line in enumerate(open(source), 1):
        word = re.match(r"\s*! @(end )?(\w+)$", line)
        if word:
            (end if word.group(1) else begin)[word.group(2)] = number + 1
    return begin, end


def build(source, output):
    words = [harness.command("kinst-ompp"), COMPILER, *FLAGS, source, "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status != 0:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
    return done.err


def check(verdict, source, profile, facts, threads, title):
    begin, end = labels(source)
    for line in facts:
        omp_facts.check_fact(verdict, line.split(), profile, begin, threads, title)
    for label, line in end.items():
        regions = [r for r in profile.regions if r.begin == begin[label]]
        verdict.check(regions, "%s: no region at %s" % (title, label))
        for region in regions:
            verdict.equal(region.end, line, "%s: end line of %s %s" % (title, region.type, label))
    for region in profile.regions:
        good = region.type == "LOCK" or (region.begin and os.path.basename(region.file) == os.path.basename(source))
        verdict.check(good, "%s: region without a place in the source: %s" % (title, region))


def test(verdict, scratch, name):
    facts = os.path.join(HERE, name + ".facts")
    source = [f for f in glob.glob(os.path.join(HERE, name + ".*")) if f != facts][0]
    lines = [line.strip() for line in open(facts) if line.strip()]
    result = [line[len("result "):] for line in lines if line.startswith("result ")][0]
    lines = [line for line in lines if not line.startswith("result ")]
    program = scratch.file(name, name)
    verdict.equal(build(source, program), "", name + ": messages of the compiler")
    for threads in omp_facts.THREADS:
        title = "%s T=%d" % (name, threads)
        outcome = harness.run(program, scratch.file(name, str(threads)), threads)
        verdict.equal((outcome.status, outcome.out.strip()), (0, str(eval(result, {"T": threads})).strip()), title + ": result")
        profile = outcome.profile()
        verdict.profile(profile, title)
        check(verdict, source, profile, lines, threads, title)


def main():
    if not shutil.which(COMPILER) or not shutil.which(os.environ.get("OPARI2", "opari2")):
        harness.skip("no gfortran or no opari2 (Debian packages: gfortran, opari2)")
    harness.over_programs("fortran_facts", HERE, test)


if __name__ == "__main__":
    main()
