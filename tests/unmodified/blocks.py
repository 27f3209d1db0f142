#!/usr/bin/env python3
"""What libgomp does with the data of regions, behind the functions that stand in front of it: tasks of C++, and calls of old compilers."""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

# Source, compiler, what the report must hold: type and executions by all threads.
PROGRAMS = (
    ("tasks.cpp", "g++", {"PARALLEL": 4, "SINGLE": 4, "TASK": 100, "TASKLOOP": 3}),
    ("old.c", "gcc", {"PARALLEL": 15, "PARALLEL LOOP": 3}),
)


CHUNKS = "".join("%s: 30, told: 30, in vain: 3\n" % name for name in ("combined", "separate", "of GCC 4.9 and later"))


def chunks(verdict, scratch):
    """Loops that hand out iterations go on as such when a team has come and gone within them."""
    if not shutil.which("gcc"):
        return
    program = scratch.file("chunks", "program")
    done = harness.execute(["gcc", "-fopenmp", "-O1", "-g", "-I" + os.path.join(harness.SOURCE, "src"), os.path.join(HERE, "chunks.c"), "-o", program,
                            "-ldl"], scratch.path)
    if verdict.equal(done.status, 0, "chunks: build: " + done.err[-500:]):
        outcome = harness.run(harness.command("ompp"), scratch.file("chunks", "run", "x")[:-2], 4, args=("--", program))
        verdict.equal((outcome.status, outcome.out), (0, CHUNKS), "chunks: " + outcome.err)


def main():
    verdict, scratch = harness.Verdict("blocks"), harness.Scratch("blocks")
    chunks(verdict, scratch)
    for source, compiler, counts in PROGRAMS:
        if not shutil.which(compiler):
            print("note: not tested without %s: %s" % (compiler, source))
            continue
        program = scratch.file(source, "program")
        done = harness.execute([compiler, "-fopenmp", "-O1", "-g", os.path.join(HERE, source), "-o", program], scratch.path)
        if not verdict.equal(done.status, 0, "%s: build: %s" % (source, done.err[-500:])):
            continue
        profile = harness.compare(verdict, scratch, source, [program], counts=counts)
        for kind in counts if profile else ():
            for region in harness.of_type(profile, kind):
                verdict.check(kind == "PARALLEL LOOP" or os.path.basename(region.file) == source, "%s: place of %s" % (source, region))
    verdict.finish(scratch)


main()
