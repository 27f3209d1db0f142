#!/usr/bin/env python3
"""
Communicators with ranks that are not measured, or that are of no world of ours, with each MPI that is here, and with clocks that travel
with MPI's calls: spawned processes, jobs that connect or join, sessions, several programs in one line, and all that is made of these.
Nothing hangs, no error handler is called, and output and status are those of the program without ompp.
"""

import os
import re
import subprocess
import sys

import harness

SOURCE = os.path.join(harness.HERE, "strangers.c")
WAYS = ("plain", "spawn", "spawn-several", "connect", "join", "session", "session-alone")
RANKS = 2
MODES = ("virtual", "delay")


def cases(way, programs):
    """(who is measured, words behind the launcher, settings)."""
    plain, measured, ranks = programs["plain"], programs["measured"], ["-n", str(RANKS)]
    under = [harness.command("ompp"), "--", plain]
    for mode in MODES:
        on = {"OMPP_CAUSAL": mode}
        yield "those started, " + mode, [*ranks, *under, way], on
        yield "all, " + mode, [*ranks, measured, way], on
        if way.startswith("spawn"):
            yield "those spawned, " + mode, [*ranks, plain, way, measured], on
    yield "those started, no clocks", [*ranks, *under, way], {}
    if way == "plain":
        first, clocks = ["-n", "1"], ["env", "OMPP_CAUSAL=virtual"]
        yield "the first program", [*first, *clocks, *under, way, ":", *first, plain, way], {}
        yield "the second program", [*first, plain, way, ":", *first, *clocks, measured, way], {}
        yield "clocks on one", [*first, *clocks, *under, way, ":", *first, *under, way], {}
        yield "different clocks", [*first, *clocks, *under, way, ":", *first, "env", "OMPP_CAUSAL=delay", *under, way], {}


def run(words, folder, **settings):
    os.makedirs(os.path.join(folder, "job"))
    return harness.execute(words, folder, OMP_NUM_THREADS=1, OMPP_JOB_DIR=os.path.join(folder, "job"), **harness.ALONE, **settings)


def printed(way, outcome):
    return outcome.status, sorted(re.findall("^%s.*$" % way, outcome.out, re.M))


def test(verdict, scratch, name, launcher, programs, way):
    tries = iter(range(harness.TRIES))
    folder = lambda what: os.path.dirname(scratch.file(name, way, what.replace(" ", "-"), "x"))
    plain = verdict.unmeasured("%s (%s)" % (way, name),
                               lambda: run([*launcher, "-n", str(RANKS), programs["plain"], way], folder("plain-%d" % next(tries))))
    if not plain:
        return
    if ": none" in plain.out:
        print("note: %s (%s): not here, without measurement either" % (way, name))
        return
    for who, words, settings in cases(way, programs):
        title = "%s (%s), measured: %s" % (way, name, who)
        if ":" in words and not harness.takes_programs(launcher[0]):
            continue
        try:
            outcome = run([*launcher, *words], folder(who), **settings)
        except subprocess.TimeoutExpired:
            verdict.check(False, title + ": hangs")
            continue
        verdict.equal(printed(way, outcome), printed(way, plain), title + ": status and output: " + outcome.err[-500:])
        verdict.equal(outcome.complaints(), [], title + ": messages")
        verdict.check(outcome.reports(), title + ": no report")
        for path in outcome.reports():
            verdict.profile(harness.ompp_profile.Profile(path), title)


def main():
    verdict, scratch = harness.Verdict("strangers"), harness.Scratch("strangers")
    try:
        for name, launcher, programs in harness.builds_of_each_mpi(scratch, SOURCE):
            launcher = [launcher, *harness.launcher_options(launcher)]
            for way in WAYS:
                if len(sys.argv) == 1 or way in sys.argv:
                    test(verdict, scratch, name, launcher, programs, way)
    except harness.Failure as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
