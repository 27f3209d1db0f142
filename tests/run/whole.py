#!/usr/bin/env python3
"""
A profile has the whole time of the process: what comes before the first event is outside of any region, and of a process that still runs
what it is in has lasted until now.
"""

import glob
import os
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import harness

BEFORE, REGION, AFTER = 0.3, 0.1, 0.2


def check_whole(verdict, outcome, ranks, title):
    verdict.equal(outcome.status, 0, title + ": exit status")
    profile = outcome.profile()
    verdict.profile(profile, title)
    root = ElementTree.parse(profile.path).getroot()
    lived = [int(row.get("duration-ns")) / 1e9 for row in root.iter("rank")]
    first = [(int(row.get("end-ns")) - int(row.get("begin-ns"))) / 1e9 for row in root.iter("location") if row.get("kind") == "initial"]
    verdict.equal((len(lived), len(first)), (max(ranks, 1), max(ranks, 1)), title + ": ranks and their first threads")
    verdict.check(min(lived + first) >= BEFORE + REGION + AFTER, "%s: %s s of ranks, %s s of their first threads" % (title, lived, first))


def check_running(verdict, scratch, program, how):
    """merge --running of a program that has been in its last region for a second."""
    folder, job = (os.path.dirname(scratch.file(how + "-running", kind, "x")) for kind in ("run", "job"))
    process = subprocess.Popen([program, "more"], cwd=folder, stdout=subprocess.PIPE, universal_newlines=True,
                               env=harness.environment(OMP_NUM_THREADS=2, OMPP_JOB_DIR=job))
    try:
        process.stdout.readline()
        time.sleep(1.2)
        merged = harness.execute([harness.command("ompp-report"), "merge", "--running", "--to=" + folder, job], folder)
        verdict.equal(merged.status, 0, how + ": running: merge: " + merged.err)
        verdict.equal(process.poll(), None, how + ": running: the program")
        for words in (["merge"], ["collect"]):  # without --running there is nothing, and they say so
            said = harness.execute([harness.command("ompp-report"), *words, "--to=" + folder, job], folder)
            verdict.check(not said.out and "use --running" in said.err, "%s: running: %s: %s" % (how, words, said.err))
    finally:
        process.kill()
        process.wait()
    reports = glob.glob(os.path.join(folder, "*.ompp.xml"))
    if not verdict.equal(len(reports), 1, how + ": running: reports"):
        return
    profile = harness.ompp_profile.Profile(reports[0])
    incomplete = [c.get("reason", "") for c in profile.coverage if c["kind"] == "incomplete"]
    verdict.check(len(incomplete) == 1 and "the process still runs; seen " in incomplete[0], "%s: running: Coverage: %s" % (how, incomplete))
    torn = [c["count"] for c in profile.coverage if c["kind"] == "torn"]
    verdict.equal([int(n) for n in torn], [2], how + ": running: threads that were read at work")
    seconds = sum(profile.total("execT", profile.find("PARALLEL")).values()) / 1e9
    verdict.check(seconds >= 2 * (1 + REGION), "%s: running: %.3f s in parallel regions" % (how, seconds))


SLOW = """
#include <stddef.h>
#include <string.h>
#include <time.h>
int gethostname(char *name, size_t n)
{
    struct timespec t = {%d, 0};
    nanosleep(&t, NULL);
    strncpy(name, "slow", n);
    return 0;
}
"""
SECONDS = 4


def check_start(verdict, scratch, program, how):
    """What our own start takes (a name service that is slow) is nobody's time."""
    source, library = scratch.file(how, "slow.c"), scratch.file(how, "slow.so")
    with open(source, "w") as out:
        out.write(SLOW % SECONDS)
    harness.execute([harness.COMPILERS[how], "-shared", "-fPIC", source, "-o", library], scratch.path)
    outcome = harness.run(program, scratch.file(how + "-slow", "x")[:-2], 2, LD_PRELOAD=library)
    lived = [int(row.get("duration-ns")) / 1e9 for row in ElementTree.parse(outcome.profile().path).getroot().iter("rank")]
    verdict.check(lived[0] < SECONDS, "%s: with a slow start of ours the process has taken %.3f s" % (how, lived[0]))


def main():
    verdict, scratch = harness.Verdict("whole"), harness.Scratch("whole")
    source = os.path.join(harness.HERE, "whole.c")
    for how in harness.sources():
        program = scratch.file(how, "whole")
        harness.build(source, program, how)
        check_whole(verdict, harness.run(program, scratch.file(how + "-run", "x")[:-2], 2), 0, how)
        check_running(verdict, scratch, program, how)
        check_start(verdict, scratch, program, how)
        harness.build(source, scratch.file(how, "whole-mpi"), how, mpi=True, flags=("-O0", "-g", "-DUSE_MPI"))
        check_whole(verdict, harness.run(scratch.file(how, "whole-mpi"), scratch.file(how + "-mpi", "x")[:-2], 2, 2), 2, how + " 2x2")
    for how in harness.plain_sources():
        program = scratch.file(how, "whole")
        harness.build(source, program, "opari", instrument=False)
        check_whole(verdict, harness.run(harness.command("ompp"), scratch.file(how + "-run", "x")[:-2], 2, args=("--", program)), 0, how)
    verdict.finish(scratch)


main()
