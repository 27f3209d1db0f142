#!/usr/bin/env python3
"""
Incremental reports: by OMPP_Dump, MPI_Pcontrol(2) and OMPP_DUMP_INTERVAL, of threads that are at work, on every rank. Each obeys all
rules of a report; the final one is as without them; the program notices nothing.
"""

import os
import re

import harness

SOURCE = os.path.join(harness.HERE, "dump.c")
ROUNDS = 50


def type_of(path):
    text = open(path[:-3] + "txt").read()
    return re.search(r"Type of Report  : (\w+)", text)[1], float(re.search(r"Duration        : ([\d.]+)", text)[1])


def is_torn(path):
    """It says itself that a thread was read in the middle of an event."""
    return any(line["kind"] == "torn" for line in harness.ompp_profile.Profile(path).coverage)


def by_number(path):
    return path.split(".ompp")[0].rsplit("-", 1)[0], int(re.search(r"-(\d+)\.ompp", path)[1])


def check_reports(verdict, title, outcome, least, most=None):
    """All reports of a run obey the rules; returns (incremental, final) paths."""
    kinds = {"incremental": [], "final": []}
    for path in sorted(outcome.reports(), key=by_number):
        verdict.profile(harness.ompp_profile.Profile(path), "%s: %s" % (title, os.path.basename(path)))
        kind = type_of(path)[0]
        if verdict.check(kind in kinds, "%s: a report of type %s" % (title, kind)):
            kinds[kind].append(path)
    n = len(kinds["incremental"])
    verdict.check(n >= least and (most is None or n <= most), "%s: %d incremental reports, wanted %s-%s" % (title, n, least, most))
    verdict.equal(len(kinds["final"]), 1, title + ": final reports")
    verdict.equal(outcome.status, 0, title + ": status; stderr: " + outcome.err[-300:])
    for path in kinds["incremental"]:
        verdict.check(not is_torn(path), title + ": a thread was read at work")
    return kinds["incremental"], kinds["final"]


def run_with_reports(start, least, seconds):
    """
    start(seconds) runs the program; longer ones until a busy machine has come to that many reports by the clock, of threads that were
    read between two events.
    """
    for factor in (1, 4, 16):
        outcome = start(seconds * factor)
        if not seconds or least(outcome.reports()) and not any(map(is_torn, outcome.reports())):
            break
    return outcome


def critical_count(path):
    profile = harness.ompp_profile.Profile(path)
    return sum(profile.total("execC", [r for r in profile.regions if r.type == "CRITICAL"]).values())


def serial(verdict, scratch, how):
    program = scratch.file(how, "dump")
    flags = ("-O1", "-g", "-I" + os.path.join(harness.SOURCE, "include"))
    harness.build(SOURCE, program, how, flags=flags)

    def start(name, threads, *args, **settings):
        folder = scratch.file(how + "-" + name, "x")[:-2]
        return harness.run(program, folder, threads, args=args, **settings)

    title = how + ", OMPP_Dump"
    outcome = start("call", 2, "0", "call")
    dumps, final = check_reports(verdict, title, outcome, 2, 2)
    verdict.equal(outcome.out, "sum %d\n" % (2 * ROUNDS), title + ": output")
    verdict.equal(outcome.messages(), [], title + ": messages")
    for path in dumps + final:
        verdict.equal(critical_count(path), 2 * ROUNDS, "%s: execC of CRITICAL in %s" % (title, os.path.basename(path)))
    # The second one was made inside a parallel region, which is open there.
    region = [r for r in harness.ompp_profile.Profile(dumps[1]).regions if r.type == "PARALLEL"]
    verdict.equal(len(region), 2, title + ": parallel regions when the second report was made")

    for threads in (1, 2):
        title = "%s, OMPP_DUMP_INTERVAL, %d threads" % (how, threads)
        outcome = run_with_reports(lambda s: start("interval%d-%g" % (threads, s), threads, str(s), OMPP_DUMP_INTERVAL="0.1"),
                                   lambda reports: len(reports) > 2, 0.7)
        dumps, final = check_reports(verdict, title, outcome, 2)
        verdict.equal(outcome.out, "sum %d\n" % (threads * ROUNDS), title + ": output")
        durations = [type_of(path)[1] for path in dumps + final]
        verdict.equal(durations, sorted(durations), title + ": durations grow")
        verdict.equal(critical_count(final[0]), threads * ROUNDS, title + ": execC of CRITICAL at the end")

    title = how + ", first thread leaves"
    # One thread: workers of LLVM libomp outlive the thread that they worked for, and the program with them.
    for number, settings in enumerate(({}, {"OMPP_DATA": "seconds"})):  # which brings another thread of ours
        outcome = start("leave-%d" % number, 1, "0.2", "leave", OMPP_DUMP_INTERVAL="0.1", **settings)
        check_reports(verdict, title, outcome, 0)
        verdict.equal(outcome.out, "done\n", title + ": output")

    title = how + ", signal"
    outcome = start("signal", 2, "0.1", "signal", OMPP_DUMP_INTERVAL="0.1")
    check_reports(verdict, title, outcome, 0)
    verdict.equal(outcome.out, "signal 1\n", title + ": output")

    title = how + ", numbers of files"
    outcome = start("files", 1, "1", "files", OMPP_DUMP_INTERVAL="0.01", OMPP_CHECKPOINT="0.01")
    least, most = re.fullmatch(r"descriptors (\d+)-(\d+)\n", outcome.out).groups()
    verdict.equal(least, most, title + ": least and largest")

    title = how + ", interval of a few hours, and one too short"
    outcome = start("long", 2, "0", OMPP_DUMP_INTERVAL="10000")
    check_reports(verdict, title, outcome, 0, 0)
    outcome = start("short", 2, "0", OMPP_DUMP_INTERVAL="0.01")
    verdict.equal(len(outcome.messages()), 1, title + ": messages")
    verdict.check("set OMPP_DUMP_INTERVAL to a number of seconds, 0 or more (s 0.1-): '0.01' is out of range" in outcome.err, title + ": said " + outcome.err)

    title = how + ", overwrite"
    outcome = start("overwrite", 2, "0.3", "call", OMPP_DUMP_INTERVAL="0.1", OMPP_OVERWRITE="1")
    verdict.equal([os.path.basename(p) for p in outcome.reports()], ["dump.2.ompp.xml"], title + ": files")
    verdict.equal(type_of(outcome.reports()[0])[0], "final", title + ": what is left")


def parallel(verdict, scratch):
    program = scratch.file("mpi", "dump")
    flags = ("-O1", "-g", "-DMPI", "-I" + os.path.join(harness.SOURCE, "include"))
    harness.build(SOURCE, program, "opari", mpi=True, flags=flags)
    for name, seconds, args, least, most, settings in (("pcontrol", 0, ("pcontrol",), 1, 1, {}),
                                                       ("interval", 0.6, (), 1, None, {"OMPP_DUMP_INTERVAL": "0.2"})):
        title = "2 ranks, " + name

        def of_ranks(reports):
            return all(len([p for p in reports if "/dump:%d." % rank in p]) >= least for rank in (0, 1))

        def start(seconds):
            folder = os.path.dirname(scratch.file("mpi-%s-%g" % (name, seconds), "x"))
            return harness.run(program, folder, 2, 2, (str(seconds), *args), **settings)

        outcome = run_with_reports(start, of_ranks, seconds)
        dumps, _ = check_reports(verdict, title, outcome, 2 * least, most and 2 * most)
        for rank in "01":
            mine = [p for p in dumps if os.path.basename(p).startswith("dump:%s." % rank)]
            verdict.check(len(mine) >= least, "%s: %d reports of rank %s" % (title, len(mine), rank))
        verdict.equal([p for p in map(os.path.basename, dumps) if ":" not in p], [], title + ": reports without rank")
        merged = [p for p in outcome.reports() if os.path.basename(p).startswith("dump.2x2-")]
        if verdict.equal(len(merged), 1, title + ": merged reports"):
            verdict.equal(critical_count(merged[0]), 4 * ROUNDS, title + ": execC of CRITICAL")


def main():
    verdict, scratch = harness.Verdict("dump"), harness.Scratch("dump")
    sources = harness.sources()
    for how in sources:
        serial(verdict, scratch, how)
    if "opari" in sources:
        parallel(verdict, scratch)
    verdict.finish(scratch)


main()
