#!/usr/bin/env python3
"""
Counters through PAPI: page faults of each construct on a program that touches a known number of pages there, through both sources;
columns, evaluators and derived metrics in the text; refusals that say why.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import harness

FAULTS = "perf::PAGE-FAULTS"
SLACK = 16  # pages of stacks and of our own records, touched for the first time


def near(verdict, found, wanted, title, threads=1):
    verdict.check(wanted <= found <= wanted + SLACK * threads, "%s: %d page faults, wanted %d" % (title, found, wanted))


def of(profile, kind, tid=None, metric=FAULTS):
    """The metric in the nodes of a type; of a counter: what was counted while working."""
    which = profile.metrics[metric][0]
    return sum(v[0] for n in profile.nodes_of(profile.find(kind)) for ((_, t), s), v in n.values.items()
               if s == which and tid in (None, t))


def check(verdict, outcome, threads, title):
    profile = outcome.profile()
    verdict.profile(profile, title)
    for tid in range(threads):
        near(verdict, of(profile, "LOOP|PARALLEL LOOP", tid), 1200 // threads, "%s: loop, thread %d" % (title, tid))
    near(verdict, of(profile, "SINGLE"), 500, title + ": single")
    near(verdict, of(profile, "MASTER"), 300, title + ": master")
    text = open(outcome.reports("txt")[0]).read()
    rows = [line.split() for line in text.split("\n")]
    heads = [r for r in rows if r and r[0] == "TID"]
    verdict.check(heads and all(any(c.startswith(FAULTS) for c in h) for h in heads), title + ": no column in some table")
    for head in heads:
        verdict.check({"OMPP_EVAL1", "OMPP_EVAL2", "faults/s"} <= set(head), title + ": evaluators are missing: %s" % head)
    sums = [r for r in rows if r and r[0] == "SUM" and len(r) == len(heads[0])]
    place = heads[0].index(FAULTS)
    near(verdict, int(sums[0][place].replace(".", "")), 2000, title + ": parallel region, all threads", threads)
    verdict.equal(float(sums[0][heads[0].index("OMPP_EVAL1")]), 2 * float(sums[0][place].replace(".", "")), title + ": evaluator")
    verdict.equal(sums[0][heads[0].index("OMPP_EVAL2")], "-", title + ": a division by zero")


REFUSED = {
    "PAPI_TOT_INST": "knows no event of this name",
    "PAPI_XYZZY": "what can be counted here: perf::TASK-CLOCK, perf::PAGE-FAULTS",
    "perf::PAGE-FALTS": "nearest that work here: perf::PAGE-FAULTS",
}


def in_header(outcome):
    """What the header says of each OMPP_CTR: the same in the text, in CSV, and in both when they are made again from the XML."""
    said = []
    for form, verb in (("txt", "show"), ("csv", "csv")):
        shown = harness.execute([harness.command("ompp-report"), verb, outcome.reports("xml")[0]], ".")
        for text in [shown.out] + [open(path).read() for path in outcome.reports(form)]:
            said.append(re.findall(r"^OMPP_CTR\d+ *[:,] ?(.*)$", text, re.M))
    return said[0] if all(s == said[0] for s in said) else said


def check_refusals(verdict, program, scratch):
    for event, words in REFUSED.items():
        outcome = harness.run(program, scratch.file("refused-" + event[-5:]), 2, OMPP_CTR1=event, OMPP_CTR2=FAULTS)
        verdict.check(any(words in m for m in outcome.messages()), "%s: %s" % (event, outcome.messages()))
        kinds = [c for c in outcome.profile().coverage if c["kind"] == "refused"]
        verdict.equal(len(kinds), 1, "%s: lines in Coverage" % event)
        near(verdict, of(outcome.profile(), "SINGLE"), 500, event + ": the other counter goes on")
        verdict.equal(in_header(outcome), ["not counted", FAULTS, "not set", "not set"], event + ": counters of the header")
    if not os.path.exists("/sys/bus/event_source/devices/cpu"):
        outcome = harness.run(program, scratch.file("no-unit"), 2, OMPP_CTR1="PAPI_TOT_CYC")
        verdict.check(any("what can be counted here: perf::TASK-CLOCK" in m and "nearest" not in m for m in outcome.messages()),
                      "cycles without a unit that counts them: %s" % outcome.messages())
    outcome = harness.run(program, scratch.file("bad-eval"), 2, OMPP_CTR1=FAULTS, OMPP_EVAL1="2 * / 3", OMPP_DATA_BACKEND="hoks")
    verdict.check(any("at character 5" in m for m in outcome.messages()), "a bad expression: %s" % outcome.messages())
    coverage = open(outcome.reports("txt")[0]).read().partition("ompp Coverage")[2]
    verdict.check("OMPP_EVAL1='2 * / 3' (" in coverage, "a bad expression is not in Coverage")
    verdict.check("OMPP_DATA_BACKEND=hoks (not understood" in coverage, "a wrong word is not in Coverage")
    outcome = harness.run(program, scratch.file("twice"), 2, OMPP_CTR1=FAULTS, OMPP_CTR5=FAULTS)
    verdict.equal(in_header(outcome), [FAULTS, "not set", "not set", "not set", "not counted"], "twice: counters of the header")
    verdict.check(any("already OMPP_CTR1" in m for m in outcome.messages()), "a counter twice: %s" % outcome.messages())


def of_sum(name):
    """The first SUM row of a report: title -> cell."""
    rows = [re.split("[, ]+", line.strip()) for line in open(name)]
    head = next((r for r in rows if r[0] == "TID"), [])
    return dict(zip(head, next((r for r in rows if r[0] == "SUM" and len(r) == len(head)), [])))


DIGITS = {1: "perf::TASK-CLOCK-2", 2: "1e-6*" + FAULTS, 3: "1e15*" + FAULTS, 4: "-1e-300*" + FAULTS, 5: "1e300*" + FAULTS,
          6: "1e8/3*" + FAULTS}


def check_digits(verdict, program, scratch):
    """A counter in ns has the value of its column; small and large values keep digits, also when the report is read again."""
    outcome = harness.run(program, scratch.file("digits"), 2, OMPP_CTR1=FAULTS, OMPP_CTR2="perf::TASK-CLOCK", OMPP_OUTFORMAT="text,csv",
                          **{"OMPP_EVAL%d" % n: expression for n, expression in DIGITS.items()})
    units = re.search(r"^Units +: (.*)$", open(outcome.reports("txt")[0]).read(), re.M)
    verdict.equal(units and units[1], "perf::TASK-CLOCK [ns]; in OMPP_EVALn: times (EXECT, ...) [s]", "units")
    again = scratch.file("digits-again.txt")
    first = of_sum(outcome.reports("txt")[0])
    for path in outcome.reports("txt") + outcome.reports("csv"):
        shown = harness.execute([harness.command("ompp-report"), "show", path], scratch.path)
        with open(again, "w") as out:
            out.write(shown.out)
        verdict.equal(of_sum(again), first, "%s: shown" % path)
        for name in (path, again):
            row = of_sum(name)
            verdict.check(row, "%s: no table" % name)
            faults, clock = (int(row.get(c, "0").replace(".", "")) for c in (FAULTS, "perf::TASK-CLOCK"))
            for n, factor in ((1, 0), (2, 1e-6), (3, 1e15), (4, -1e-300), (5, 1e300), (6, 1e8 / 3)):
                found, wanted = row.get("OMPP_EVAL%d" % n, "nan"), factor * faults or clock - 2
                verdict.check(abs(float(found) / wanted - 1) < 0.006, "%s: OMPP_EVAL%d: %s, wanted %g" % (name, n, found, wanted))
                verdict.check("e" not in found, "%s: OMPP_EVAL%d has an exponent: %s" % (name, n, found))


def check_after(verdict, scratch, how):
    """What follows a loop in the body is the parallel region's."""
    program = scratch.file("after-" + how)
    harness.build(os.path.join(harness.SOURCE, "tests", "counter", "after.c"), program, how)
    profile = harness.run(program, scratch.file("after-%s-run" % how), 1, OMPP_CTR1=FAULTS).profile()
    near(verdict, of(profile, "PARALLEL"), 1000, how + ": after the loops")


def check_alive(verdict, scratch, how):
    """A thread that waits in a region when the program ends: what it has counted there is in the report, or said to be missing."""
    program = scratch.file("alive-" + how)
    harness.build(os.path.join(harness.SOURCE, "tests", "counter", "alive.c"), program, how)
    for title, metric, setting in (("counters", FAULTS, {"OMPP_CTR1": FAULTS}),
                                   ("page faults", "touches", {"OMPP_DATA_BACKEND": "page-faults"})):
        outcome = harness.run(program, scratch.file("alive-%s-%s" % (how, title[:4])), 1, **setting)
        verdict.equal(outcome.status, 0, "%s: %s of a thread that lives: exit status" % (how, title))
        profile = outcome.profile()
        if any("last counts are missing" in c.get("subject", "") for c in profile.coverage):
            print("note: threads that live cannot be read here")
            continue
        near(verdict, of(profile, "USER REGION", metric=metric), 700, "%s: %s of a thread that lives" % (how, title))


def main():
    if not os.path.exists(os.path.join(harness.BUILD, ".libs", "libompp-papi.so")):
        harness.skip("built without PAPI (Debian package: libpapi-dev)")
    scratch, verdict = harness.Scratch("counter"), harness.Verdict("counter")
    source = os.path.join(harness.SOURCE, "tests", "counter", "pages.c")
    for how in harness.sources():
        program = scratch.file("pages-" + how)
        harness.build(source, program, how)
        probe = harness.run(program, scratch.file("probe-" + how), 1, OMPP_CTR1=FAULTS)
        if any("not counted" in m or "no counters" in m for m in probe.messages()):
            harness.skip("page faults cannot be counted here: %s" % probe.messages()[0])
        for threads in (1, 2, 4):
            outcome = harness.run(program, scratch.file("%s-%d" % (how, threads)), threads, OMPP_CTR1=FAULTS,
                                  OMPP_EVAL1="2*" + FAULTS, OMPP_EVAL2="EXECC/(EXECT-EXECT)")
            verdict.equal(outcome.status, 0, "%s: exit status" % how)
            check(verdict, outcome, threads, "%s T=%d" % (how, threads))
        check_after(verdict, scratch, how)
        check_alive(verdict, scratch, how)
    check_refusals(verdict, program, scratch)
    check_digits(verdict, program, scratch)
    verdict.finish(scratch)


main()
