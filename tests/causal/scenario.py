#!/usr/bin/env python3
"""
Programs that are really balanced, really without locks or the runtime's cost, or mended as a user would do it: what they really gain, in
plain builds, and what the section Ideal of a measured run says. Some rows are a test; the whole table is a report that wants an idle machine.

usage: scenario.py
       scenario.py --table [--how=opari|ompt] [--threads=N,N] [--repetitions=N] [--seconds=N] [--programs=FOLDER] [--build=FOLDER] [ROW...]
    --threads   sizes of teams; default: 2 and 4, and 2 where threads keep their processors busy
    --seconds   leaves out what would begin later than that
    --build     builds all programs there, and does nothing else
    --programs  takes them from there: for machines without a compiler
"""

import collections
import functools
import itertools
import json
import os
import re
import shutil
import sys
import time

import validation
from validation import harness

# case: of scenario.c, or mpi_scenario.c with ranks. says: which scenario of the section Ideal. limit: points that it may be off.
# busy: threads keep their processors busy, so there are no more of them than those.
Row = collections.namedtuple("Row", "name case says rounds ranks limit busy", defaults=((), 2, False))
TEAMS, RANKS, LOCKS, RUNTIME, NETWORK = "balanced-teams", "balanced-ranks", "uncontended-locks", "no-runtime-cost", "ideal-network"
ROWS = [
    Row("static loop", "loop", TEAMS, 100),
    Row("sections", "sections", TEAMS, 40),
    Row("three regions", "regions", TEAMS, 40),
    Row("critical section", "critical", LOCKS, 60),
    Row("two locks", "locks", LOCKS, 60),
    Row("uneven, locked", "uneven", LOCKS, 80),
    Row("two sections", "two", "without-this-lock", 80),
    Row("fork and join", "forks", RUNTIME, 12, busy=True),
    Row("barriers", "barriers", RUNTIME, 12, busy=True),
    Row("dynamic, 1", "chunks", RUNTIME, 600, busy=True),
    Row("ranks, rising", "rising", RANKS, 150, (2, 4)),
    Row("ranks, in turn", "turns", RANKS, 120, (2, 4)),
    Row("ranks, two steps", "steps", RANKS, 80, (2, 4)),
    Row("data moved", "moved", NETWORK, 100, (2,)),
    Row("small messages", "pinged", NETWORK, 200, (2,)),
    # as users mend them
    Row("sum in a section", "sum", LOCKS, 200, limit=5, busy=True),
    Row("one lock, or many", "striped", LOCKS, 250, limit=5, busy=True),
    Row("work by numbers", "queue", LOCKS, 200, limit=5, busy=True),
    Row("static, or dynamic", "schedule", TEAMS, 60, limit=5),
    Row("chunks of 1, 1000", "chunks", RUNTIME, 600, limit=5, busy=True),
    Row("fine tasks", "tasks", RUNTIME, 200, limit=5, busy=True),
    Row("regions merged", "forks", RUNTIME, 12, limit=5, busy=True),
    Row("too small a loop", "alone", "small-region", 10, limit=5, busy=True),
    Row("the same, if(0)", "clause", "small-region", 10, limit=5, busy=True),
    Row("uneven sections", "sections", TEAMS, 40, limit=5),
    Row("tiny functions", "functions", "function", 300, limit=5, busy=True),
]
QUICK = [("loop", 2), ("regions", 4), ("critical", 2), ("two", 2), ("sum", 2), ("turns", 2)]  # in the test
POINTS = 6  # that these may be off on a busy machine
FUNCTIONS = ("-finstrument-functions",)
LINE = "%-20s %-9s %7s %7s | %6s | %-13s %6s | %s"


def sources(row):
    return "mpi_scenario" if row.ranks else "scenario"


def path_of(folder, source, how, measured):
    return os.path.join(folder, "%s.%s%s" % (source, how, "" if measured else ".plain"))


def has_mpi():
    return shutil.which(os.environ.get("MPICC", "mpicc")) and shutil.which(os.environ.get("MPIRUN", "mpirun"))


def build(folder, how):
    """All programs of one compiler: measured and not; those whose functions are measured have a name of their own."""
    os.makedirs(folder, exist_ok=True)
    for source, more in (("scenario", ()), ("scenario", FUNCTIONS), ("mpi_scenario", ()))[:3 if has_mpi() else 2]:
        name = "functions" if more else source
        for measured in (True, False):
            output = path_of(folder, name, how, measured)
            if not os.path.exists(output):
                harness.build(os.path.join(validation.HERE, source + ".c"), output, how, mpi=source.startswith("mpi"), instrument=measured,
                              flags=(*validation.FLAGS, *(more if measured else ())))


def run(scratch, program, row, size, changed=False, **environment):
    """(seconds that the program tells, outcome)."""
    fewer = row.busy or row.says == LOCKS  # threads do it one after the other, or there is more of it with more of them
    case = validation.Case("", row.case, {}, row.ranks and size, row.rounds * 4 // (size + 2) if fewer else row.rounds)
    if row.busy:  # what threads that sleep lose by being woken differs from run to run
        environment["OMP_WAIT_POLICY"] = "active"
    return validation.execute(scratch, program, case, ["changed"] if changed else [], threads=1 if row.ranks else size, **environment)


def said_by(row, outcome, seconds):
    """(least, most) that the section Ideal says, in parts of the time that the program tells; None, and why, if it says nothing."""
    report = outcome.reports()[0]
    found = json.loads(harness.execute([harness.command("ompp-report"), "show", "--json", report], ".").out)
    text = open(report[:-3] + "txt").read()
    whole = found["duration_ns"] / 1e9 / seconds
    first = next((p["name"] for p in found["properties"]), "")
    busy = re.search(r"^Caution: threads waited ([\d.]+ %) of their time for a processor", text, re.M)
    first += "; waited %s for processors" % busy[1] if busy else ""
    small = re.search(r"^\d+ % of PARALLEL LOOP .*gains ([\d.]+) - ([\d.]+) %", text, re.M)
    if row.says == "small-region" and small:
        return tuple(float(v) / 100 * whole for v in small.groups()), first
    for gain in found["ideal"]:
        if gain["scenario"] == row.says:
            return (gain["low"] * whole, min(gain["high"] * whole, 1)), first
    why = re.search(r"^Probes +: ([\d.]+ %%)|^not determined: .*%s.*\((.*)\)" % row.says, text, re.M)
    return None, ("Probes " + why[1] if why[1] else why[2]) if why else first


def choose(values):
    return min(values, key=lambda value: value[0])


@functools.lru_cache(None)
def runs_of(scratch, folder, row, how, size, repetitions):
    """(seconds, outcome) of the program as it is, changed, and measured; the best of each."""
    name = "functions" if row.says == "function" else sources(row)
    plain, measured = path_of(folder, name, how, False), path_of(folder, name, how, True)
    runs = []
    for _ in range(repetitions):
        runs.append((run(scratch, plain, row, size), run(scratch, plain, row, size, True),
                     run(scratch, measured, row, size, OMPP_CAUSAL="virtual", OMPP_SUMMARY="off", OMPP_CAUSAL_BUDGET=2)))
    return [choose(of_one) for of_one in zip(*runs)]


Judged = collections.namedtuple("Judged", "base after seconds real said first off")


def judge(scratch, folder, row, how, size, repetitions):
    (base, _), (after, _), (seconds, outcome) = runs_of(scratch, folder, row._replace(name="", limit=0), how, size, repetitions)
    real = 1 - after / base
    said, first = said_by(row, outcome, seconds)
    return Judged(base, after, seconds, real, said, first, None if said is None else max(said[0] - real, real - said[1], 0))


def told(said):
    if said is None:
        return "not determined"
    return "%.1f" % (100 * said[1]) if said[1] - said[0] < 0.0005 else "%.1f - %.1f" % tuple(100 * v for v in said)


def measure(scratch, folder, row, how, size, repetitions):
    j = judge(scratch, folder, row, how, size, repetitions)
    print(LINE % (row.name, "%d %s" % (size, "ranks" if row.ranks else "threads"), "%.3f" % j.base, "%.3f" % j.after, "%.1f" % (100 * j.real),
                  told(j.said), "-" if j.off is None else "%.1f" % (100 * j.off),
                  "%s, measured %+.0f %%; %s" % (row.says, 100 * (j.seconds / j.base - 1), j.first)), flush=True)
    return j.off, row.limit


def check():
    """A gain that is told is the real one. Of sum it must not be: measuring takes too long there to know it."""
    verdict, scratch = harness.Verdict("scenario"), harness.Scratch("scenario")
    how = harness.sources()[0]
    folder = scratch.file(how, "programs")
    build(folder, how)
    numbers = itertools.count()

    def attempt(row, size):
        # another number of rounds: runs of before do not count
        j = judge(scratch, folder, row._replace(rounds=row.rounds // 2 + next(numbers) % 20), how, size, 1)
        wrong = j.off is not None and 100 * j.off > POINTS or j.off is None and row.case != "sum"
        return ["%s, %d: %.1f %% real, said %s" % (row.name, size, 100 * j.real, told(j.said))] if wrong else [], 1

    for row in ROWS:
        for size in [size for case, size in QUICK if case == row.case and (has_mpi() or not row.ranks)]:
            verdict.timed(functools.partial(attempt, row, size))
    verdict.finish(scratch)


def sizes(row, threads):
    if row.ranks:
        return row.ranks
    if threads:
        return threads
    return (2,) if row.busy else (2, 4)


def main():
    options = {"how": "", "threads": "", "repetitions": "3", "seconds": "0", "programs": "", "build": ""}
    names = []
    if not sys.argv[1:]:
        return check()
    for word in sys.argv[1:]:
        if word == "--table":
            continue
        name, given, value = word.lstrip("-").partition("=")
        if word.startswith("--") and given and name in options:
            options[name] = value
        elif word.startswith("-"):
            sys.exit(__doc__)
        else:
            names.append(word)
    threads = [int(n) for n in options["threads"].split(",") if n]
    hows = [options["how"]] if options["how"] else ["opari", "ompt"] if options["programs"] else harness.sources()
    scratch = harness.Scratch("scenario")
    judged = []
    for how in hows:
        begin = time.monotonic()
        folder = os.path.abspath(options["programs"] or options["build"] or scratch.file(how, "programs"))
        if not options["programs"]:
            build(folder, how)
        if options["build"]:
            continue
        print("\nBuilt with %s, %s repetitions" % (how, options["repetitions"]))
        print(LINE % ("program", "", "s", "changed", "real %", "said", "off", ""))
        for row in ROWS:
            if not names or row.case in names or row.name in names:
                for size in sizes(row, threads):
                    if 0 < int(options["seconds"]) < time.monotonic() - begin:
                        print("%s: left out, for time" % row.name)
                        continue
                    try:
                        judged.append(measure(scratch, folder, row, how, size, int(options["repetitions"])))
                    except harness.Failure as failure:
                        print("%s: %s" % (row.name, failure))
    known = [(off, limit) for off, limit in judged if off is not None]
    if judged:
        print("\n%d said, of these within 2 or 5 points: %d; not determined: %d" % (
            len(known), sum(100 * off <= limit for off, limit in known), len(judged) - len(known)))
    scratch.done(True)


main()
