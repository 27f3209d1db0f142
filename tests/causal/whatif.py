#!/usr/bin/env python3
"""
Predictions against what is known of the same run: oracle.c notes when each thread came where it waits for the others, and computes what
the run would have been shorter by. That holds on a machine that is busy with other things, too; programs that are really made
faster need a quiet one: table.py.
"""

import os
import re
import shutil

import validation
from ompp_profile import OUTSIDE
from validation import harness

SHARE = 0.1  # waiting taken for work makes more than twice of it
NEAR = 0.02  # of the run time: a thread may lose the processor between the oracle's look at the clock and ours


def build_program(scratch, name, source, compiler, flags):
    output = scratch.file(source[:-2], name)
    words = [harness.command("kinst-ompp"), compiler, "-g", "-O1", *flags, "-I" + os.path.join(harness.SOURCE, "include"),
             os.path.join(validation.HERE, source), "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status != 0:
        raise harness.Failure("cannot build %s: %s" % (name, done.err[-800:]))
    return output


def compare(verdict, scratch, name, program):
    """Each prediction with what the program itself knows of this run. Returns what is off, and how many were compared."""
    folder = scratch.file("runs-" + name, "r%d" % len(os.listdir(os.path.dirname(scratch.file("runs-" + name, "r")))))
    off, compared = [], 0
    outcome = harness.run(program, folder, 3, args=["oracle", "rounds=25"], OMPP_CAUSAL="virtual", OMPP_CAUSAL_BUDGET=100)
    verdict.equal(outcome.status, 0, "%s: status, %s" % (name, outcome.err[-300:]))
    profile = outcome.profile()
    verdict.profile(profile, name)
    names = profile.names()
    found = {(names[region], permille): clock for (region, permille), clock in profile.whatif.clocks.items()}
    for region, permille, ns in re.findall(r"^saved (\w) (\d+) (\d+)$", outcome.out, re.MULTILINE):
        clock = found.get((region, int(permille)))
        if verdict.check(clock is not None, "%s: region %s at %s permille is not there" % (name, region, permille)):
            compared += 1
            if abs(clock.saved - int(ns)) > NEAR * clock.time:
                off.append("%s: region %s faster by %s permille saves %d of %d ns, predicted %d" % (
                    name, region, permille, int(ns), clock.time, clock.saved))
    flags = set().union(*profile.whatif.flags.values())
    off += ["%s: flags %s" % (name, flags)] if flags & {"lock", "dynamic", "task", "wildcard", "polling", "one-sided"} else []
    verdict.equal([(p.name, p.visits) for p in profile.whatif.points if not p.automatic], [("round", 25)], "%s: progress" % name)
    return off, compared


def check_reports(verdict, scratch, program, case):
    """Text and XML agree with themselves, and read again they are the same."""
    _, outcome = validation.execute(scratch, program, case, OMPP_CAUSAL="virtual")
    profile = outcome.profile()
    verdict.profile(profile, case.name)
    text = open(outcome.reports("txt")[0]).read()
    verdict.check("ompp What-if" in text and "Fix these first" in text, "%s: no what-if section" % case.name)
    again = harness.execute([harness.command("ompp-report"), profile.path], outcome.folder)
    verdict.check(again.out == text, "%s: the report of the XML differs" % case.name)
    coz = harness.execute([harness.command("ompp-report"), "coz", profile.path], outcome.folder)
    verdict.check(coz.out == open(outcome.reports("coz")[0]).read(), "%s: the profile of Coz from the XML differs" % case.name)
    kinds = {line.split("\t")[0] for line in coz.out.splitlines()}
    verdict.equal(kinds, {"startup", "experiment", "throughput-point", "runtime"}, "%s: records for Coz's viewer" % case.name)


def outside(verdict, scratch, program):
    """What is in no region is in the table, too. It is serial, so all that it does less of is saved."""
    _, outcome = validation.execute(scratch, program, validation.Case("openmp", "outside", {}, 0, 10), OMPP_CAUSAL="virtual")
    profile, text = outcome.profile(), open(outcome.reports("txt")[0]).read()
    verdict.profile(profile, "outside")
    found = profile.whatif.clocks.get((OUTSIDE, 1000))
    if verdict.check(found is not None, "outside: no row"):
        verdict.check(abs(found.saved - profile.whatif.outside) <= NEAR * found.time,
                      "outside: %d ns of work, saves %d" % (profile.whatif.outside, found.saved))
        verdict.check(profile.whatif.results[OUTSIDE].share > 0.2, "outside: share %r" % profile.whatif.results[OUTSIDE].share)
    verdict.check("(outside regions)" in text and "Not in Table" not in text, "outside: the report says it is not in the table")
    csv = harness.execute([harness.command("ompp-report"), "csv", profile.path], outcome.folder).out
    verdict.check("##BEG ompp what-if\nMode,virtual\n" in csv and csv.count(",(outside regions),") == 4, "outside: not in the CSV")


def met(verdict, scratch, program):
    """Threads that meet a region first at the same moment are followed there, all of them, each time: 4 threads, 3 rounds."""
    for _ in range(6):
        _, outcome = validation.execute(scratch, program, validation.Case("openmp", "met", {}, 0, 3), OMPP_CAUSAL="virtual")
        profile = outcome.profile()
        names = profile.names()
        seen = {names[region]: clock.observations for (region, _), clock in profile.whatif.clocks.items() if names[region].startswith("n")}
        verdict.equal(seen, {"n%d" % i: 12 for i in range(12)}, "met: stretches of work in each region")


def shares(verdict, scratch, program):
    """Waiting for a lock is no work of whoever waits: of each 6 ms, 4 are outside of the lock and 2 under it."""
    def compare():
        _, outcome = validation.execute(scratch, program, validation.Case("threads", "ties", {}, 0, 5), OMPP_CAUSAL="virtual")
        profile = outcome.profile()
        names = profile.names()
        share = {names[region]: result.share for region, result in profile.whatif.results.items()}
        wrong = abs(share.get("a", 0) - 2 / 3) > SHARE or abs(share.get("b", 0) - 1 / 3) > SHARE
        return ["ties: shares are %s" % share] if wrong else [], 1
    verdict.timed(compare)


# What threads wait for: case, what regions gain (by the times in threads.c), and their shares of the work.
WAITED = [
    ("renewed", {("a", 500): 2 / 6, ("b", 1000): 0, ("c", 500): 1 / 6}, {"a": 4 / 10, "b": 2 / 10, "c": 4 / 10}),
    ("signals", {("a", 500): 2 / 5, ("b", 500): 0.5 / 5}, {"a": 4 / 5, "b": 1 / 5}),
    ("cancels", {("a", 500): 1.35 / 4, ("b", 1000): 0, ("c", 500): 0.65 / 4}, {"a": 2.7 / 5.1, "b": 1.1 / 5.1, "c": 1.3 / 5.1}),
    ("once", {("b", 500): 1.85 / 6.7, ("d", 500): 0.8 / 6.7}, {"a": 1.3 / 10.5, "b": 3.7 / 10.5, "c": 2.9 / 10.5}),
    ("c11", {("a", 1000): 0, ("b", 1000): 1.7 / 5.6, ("c", 500): 0.65 / 5.6}, {"a": 2.6 / 8.2, "b": 4.3 / 8.2, "c": 1.3 / 8.2}),
    ("reading", {("a", 500): 2 / 6.8, ("b", 1000): 0}, {"a": 6.3 / 11.6, "b": 4.1 / 11.6}),
]


def waited(verdict, scratch, program):
    """At barriers that other threads come to each time, for signals, until cancelled, for what is done once, and where nobody waits: readers."""
    def compare(case, gains, shares):
        seconds, outcome = validation.execute(scratch, program, validation.Case("threads", case, {}, 0, 30), OMPP_CAUSAL="virtual")
        profile = outcome.profile()
        names, found = profile.names(), validation.predictions(outcome.profile(), seconds)
        share = {names[region]: result.share for region, result in profile.whatif.results.items()}
        off = ["%s: %s at %d permille: %s, not %.2f" % (case, *key, found.get(key), gain) for key, gain in gains.items()
               if key not in found or abs(found[key].gain - gain) > 0.04]
        off += ["%s: share of %s: %s" % (case, name, share.get(name)) for name, part in shares.items() if abs(share.get(name, 0) - part) > SHARE]
        return off, len(gains) + len(shares)
    for row in WAITED:
        verdict.timed(lambda row=row: compare(*row))


def first_come(verdict, scratch, program, sections):
    """Who comes first to a single construct, or is free for the next section: where another one would be, there is a flag, and only there."""
    def compare(case, flagged, others):
        _, outcome = validation.execute(scratch, program, validation.Case("openmp", case, {}, 0, 30), OMPP_CAUSAL="virtual")
        profile = outcome.profile()
        names = profile.names()
        seen = {names[region]: flags for region, flags in profile.whatif.flags.items()}
        off = ["%s: flags of %s: %s" % (case, name, seen.get(name)) for name in flagged if "dynamic" not in seen.get(name, ())]
        off += ["%s: flags of %s: %s" % (case, name, seen[name]) for name in others if "dynamic" in seen.get(name, ())]
        return off, len(flagged) + len(others)
    verdict.timed(lambda: compare("single", ("a",), ("b", "c")))
    if sections:
        verdict.timed(lambda: compare("sections", ("a", "b", "c"), ()))


def tasks(verdict, scratch, program):
    """Tasks go to who is free on each clock: with a in no time a round takes 8 of 18 ms; in the measured order 12 would be left."""
    def compare():
        seconds, outcome = validation.execute(scratch, program, validation.Case("openmp", "tasks", {}, 0, 10), OMPP_CAUSAL="virtual")
        found = validation.predictions(outcome.profile(), seconds)["a", 1000]
        return [] if 0.5 < found.gain < 0.64 and "task" not in found.flags else ["tasks, a takes no time: %s" % str(found)], 1
    verdict.timed(compare)


def crowd(verdict, scratch, program):
    """Threads that pass each other at a lock, from their creation until they are joined: with b in half its time nobody waits for the lock any
    longer, and a round takes 5 of 8 ms; in the measured order whoever was passed over stays behind."""
    def compare():
        seconds, outcome = validation.execute(scratch, program, validation.Case("threads", "ties", {}, 0, 8), OMPP_CAUSAL="virtual")
        profile = outcome.profile()
        found = validation.predictions(profile, seconds)["b", 500]
        if (profile.whatif.replayed, profile.whatif.kept) != (1, 0):  # who joins threads and is held up between two of them has worked
            return ["ties: %d stretches were gone through, %d kept" % (profile.whatif.replayed, profile.whatif.kept)], 1
        expected = 1 - 8 * 4 * 0.005 / seconds  # less where others disturb; the measured order says 0.17
        good = 0.3 < found.gain < expected + 0.05  # disturbed, the order does not explain all of the time, and there is the flag
        return [] if good else ["ties, b in half its time: %s, at most %.2f" % (found, expected)], 1
    verdict.timed(compare)


def not_joined(verdict, scratch, program):
    """Threads that pass each other at a lock and are not all joined by who has created them keep the measured order, and are flagged."""
    def compare(case):  # whether they pass each other is a matter of times
        _, outcome = validation.execute(scratch, program, validation.Case("threads", case, {}, 0, 8), OMPP_CAUSAL="virtual")
        profile = outcome.profile()
        names = profile.names()
        flags = {names[region]: flags for region, flags in profile.whatif.flags.items()}
        return [] if "lock" in flags.get("b", ()) else ["%s: flags are %s" % (case, flags)], 1

    for case in ("spawning", "detached", "forgotten", "left"):
        verdict.timed(lambda case=case: compare(case))


def short_loops(verdict, scratch, program):
    """Loops of 0.2 ms are gone through again, or are estimated where that would take more than its share; then the report says for how many."""
    _, outcome = validation.execute(scratch, program, validation.Case("openmp", "short", {}, 0, 2000), OMPP_CAUSAL="virtual")
    profile, text = outcome.profile(), open(outcome.reports("txt")[0]).read()
    whatif = profile.whatif
    verdict.profile(profile, "short loops")
    verdict.check(whatif.replayed > 0 and whatif.replayed + whatif.kept >= 2000,
                  "short loops: %d replayed, %d kept" % (whatif.replayed, whatif.kept))
    part = "%.1f %% of %d stretches" % (100 * whatif.replayed / (whatif.replayed + whatif.kept), whatif.replayed + whatif.kept)
    verdict.check(("Order          : " + part in text) == (whatif.kept > 0), "short loops: the report does not say %s" % part)


def often_at_first(scratch, program):
    """What comes before the first rest counts as the part of the run that it is: b takes as long as a, but two threads' work at first."""
    seconds, outcome = validation.execute(scratch, program, validation.Case("openmp", "often_at_first", {}, 0, 40), OMPP_CAUSAL="virtual",
                                          OMPP_CAUSAL_BUDGET=2, OMP_WAIT_POLICY="active")
    profile = outcome.profile()
    found = validation.predictions(profile, seconds)
    a, b = (found[name, 1000].gain for name in "ab")
    if profile.whatif.suspended < profile.whatif.time / 2:
        return ["often at first: suspended for %d of %d ns" % (profile.whatif.suspended, profile.whatif.time)], 1
    return [] if abs(a - b) < 0.03 else ["often at first: a gains %.3f, b %.3f" % (a, b)], 1


def in_pieces(verdict, scratch, program):
    """Clocks that may take nothing rest most of the time. What is observed between says what the whole run would gain, and no more than that."""
    def all_the_time(case, regions):
        seconds, outcome = validation.execute(scratch, program, validation.Case("openmp", case, {}, 0, 60), OMPP_CAUSAL="virtual")
        found = validation.predictions(outcome.profile(), seconds)
        return {region: found[region].gain for region in regions}

    def compare(case, expected):
        seconds, outcome = validation.execute(scratch, program, validation.Case("openmp", case, {}, 0, 160), OMPP_CAUSAL="virtual",
                                              OMPP_CAUSAL_BUDGET=0)
        profile, text = outcome.profile(), open(outcome.reports("txt")[0]).read()
        verdict.profile(profile, "in pieces")
        whatif, names = profile.whatif, profile.names()
        verdict.check(0 < whatif.suspended < whatif.time, "in pieces: suspended for %d of %d ns" % (whatif.suspended, whatif.time))
        verdict.check("Clocks         : for %.1f %% of the run" % (100 * (1 - whatif.suspended / whatif.time)) in text,
                      "in pieces: the report does not say for how long")
        # rounds of imbalanced are longer than a piece
        verdict.check(any(point.automatic == 2 for point in whatif.points), "in pieces, %s: no progress point was found" % case)
        off = []
        for (name, x), gain in expected.items():
            found = validation.predictions(profile, seconds).get((name, x))
            clock = [c for (region, permille), c in whatif.clocks.items() if names[region] == name and permille == x]
            if not found or not clock:
                off.append("in pieces: no result of %s at %d permille" % (name, x))
                continue
            verdict.check(clock[0].time <= whatif.time - whatif.suspended, "in pieces: %s was followed for %d ns, suspended for %d of %d" % (
                name, clock[0].time, whatif.suspended, whatif.time))
            verdict.check("partly" in found.flags, "in pieces: flags of %s: %s" % (name, found.flags))
            if abs(found.gain - gain) > 0.05:
                off.append("in pieces: %s at %d permille: %s, expected %.2f" % (name, x, found, gain))
        return off, len(expected)
    # work.h: a takes 3 ms of 4.5, or 4 ms, of all threads; early: as much as it is ahead of the others
    verdict.timed(lambda: compare("balanced", {("a", 500): 0.33, ("a", 1000): 0.66, ("b", 500): 0.165}))
    verdict.timed(lambda: compare("imbalanced", {("a", 500): 0.24, ("b", 500): 0.07}))
    verdict.timed(lambda: compare("serial", all_the_time("serial", (("a", 500), ("b", 500)))))
    verdict.timed(lambda: compare("nested", all_the_time("nested", (("a", 500), ("b", 500), ("c", 1000)))))


def unmodified(verdict, scratch):
    """A program that nobody rebuilt, with functions as regions, behind the launcher."""
    source, program = os.path.join(validation.HERE, "threads.c"), scratch.file("plain", "threads")
    words = ["gcc", "-O1", "-g", "-finstrument-functions", "-DOMPP_OFF", "-I" + os.path.join(harness.SOURCE, "include"), source, "-o",
             program, "-pthread"]
    done = harness.execute(words, scratch.path)
    if not verdict.equal(done.status, 0, "plain program: " + done.err[-300:]):
        return
    counter = iter(range(100))

    def launched():
        folder = os.path.dirname(scratch.file("launched-%d" % next(counter), "x"))
        done = harness.execute([harness.command("ompp"), "--causal=virtual", "--", program, "join", "rounds=10"], folder)
        verdict.equal(done.status, 0, "launched: status, " + done.err[-300:])
        whatif = done.profile().whatif
        if whatif is None or not whatif.gains:
            return ["launched: no what-if results"], 1
        names = done.profile().names()
        most = {names[region]: gain.gain for (region, permille), gain in whatif.gains.items() if permille == 1000}
        # All that join_thread() does is a or b: it is worth the whole run, but the creation of threads.
        return [] if most.get("join_thread", 0) > 0.5 else ["launched: gains are %s" % most], 1
    verdict.timed(launched)


def main():
    verdict, scratch = harness.Verdict("whatif"), harness.Scratch("whatif")
    programs = [(how, harness.COMPILERS[how], ["-fopenmp"]) for how in harness.sources()]
    if shutil.which("gcc"):
        programs.append(("threads", "gcc", ["-pthread"]))
    for name, compiler, flags in programs:
        try:
            program = build_program(scratch, name, "oracle.c", compiler, flags)
            verdict.timed(lambda name=name, program=program: compare(verdict, scratch, name, program))
        except harness.Failure as failure:
            verdict.check(False, "%s: %s" % (name, failure))
    for how in harness.plain_sources():
        verdict.timed(lambda how=how: compare(verdict, scratch, how, validation.build(scratch, "oracle", how)))
    for how in harness.sources():
        first_come(verdict, scratch, validation.build(scratch, "openmp", how), how == "opari")  # libomp hands out sections as static loops
    how = harness.sources()[0]
    outside(verdict, scratch, validation.build(scratch, "openmp", how))
    met(verdict, scratch, validation.build(scratch, "openmp", how))
    tasks(verdict, scratch, validation.build(scratch, "openmp", how))
    verdict.timed(lambda: often_at_first(scratch, validation.build(scratch, "openmp", how)))
    in_pieces(verdict, scratch, validation.build(scratch, "openmp", how))
    short_loops(verdict, scratch, validation.build(scratch, "openmp", how))
    check_reports(verdict, scratch, validation.build(scratch, "openmp", how), validation.CASES[0]._replace(rounds=5))
    if shutil.which("gcc"):
        threads = build_program(scratch, "threads", "threads.c", "gcc", ["-pthread"])
        shares(verdict, scratch, threads)
        waited(verdict, scratch, threads)
        crowd(verdict, scratch, threads)
        not_joined(verdict, scratch, threads)
        unmodified(verdict, scratch)
    verdict.finish(scratch)


main()
