#!/usr/bin/env python3
"""
Counters against a PAPI of our own: any number of them, those that take turns with their uncertainty, refusals, cost per read, and the
judgement of pmu.py.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import fakepapi  # noqa: E402
import harness  # noqa: E402

MANY = 300
PAGES = 24000  # of turns.c


def run(program, folder, papi, mode="right", threads=2, **settings):
    return harness.run(program, folder, threads, OMPP_TEST_PAPI=mode, LD_LIBRARY_PATH=papi, **settings)


def build(scratch, name, how):
    program = scratch.file(name)
    harness.build(os.path.join(fakepapi.HERE, name + ".c"), program, how)
    return program


def check_many(verdict, program, scratch, papi):
    """FAKE_n counts n per page: each column has its own counter, in the XML and in the text, and an evaluator adds them all up."""
    names = ["FAKE_%d" % n for n in range(1, MANY + 1)]
    settings = {"OMPP_CTR%d" % n: name for n, name in enumerate(names, 1)}
    settings.update({"OMPP_EVAL%d" % n: "FAKE_%d/%d" % (n, n) for n in range(1, MANY + 1)})
    settings["OMPP_EVAL%d" % (MANY + 1)] = "+".join(names)
    outcome = run(program, scratch.file("many"), papi, OMPP_CTR12345="FAKE_1", **settings)
    verdict.equal(outcome.status, 0, "many: exit status")
    verdict.equal([m for m in outcome.messages() if "OMPP_CTR" in m and "not used" not in m], [], "many: messages")
    verdict.check(any("use numbers from OMPP_CTR1 to OMPP_CTR9999: OMPP_CTR12345 is not used" in m for m in outcome.messages()),
                  "a number that is too large: %s" % outcome.messages())
    profile = outcome.profile()
    verdict.profile(profile, "many")
    one = fakepapi.counted(profile, "FAKE_1", "SINGLE")
    verdict.check(3000 <= one <= 3016, "many: %d pages in the single construct" % one)
    for n in range(1, MANY + 1):
        verdict.equal(fakepapi.counted(profile, "FAKE_%d" % n, "SINGLE"), n * one, "many: FAKE_%d" % n)
    general, rows = fakepapi.report(outcome)
    verdict.equal(general.get("Used Counters   "), str(MANY), "many: Used Counters")
    verdict.equal(general.get("Used Evaluators "), str(MANY + 1), "many: Used Evaluators")
    verdict.equal(general.get("OMPP_CTR300     "), "FAKE_300", "many: the header names the last one")
    heads = [r for r in rows if r and r[0] == "TID"]
    total = next(r for r in rows if r and r[0] == "SUM" and len(r) == len(heads[0]))
    row = dict(zip(heads[0], total))
    pages = int(row["FAKE_1"].replace(".", ""))
    for n in range(1, MANY + 1):
        verdict.equal(int(row["FAKE_%d" % n].replace(".", "")), n * pages, "many: column FAKE_%d" % n)
        verdict.equal(float(row["OMPP_EVAL%d" % n]), pages, "many: column OMPP_EVAL%d" % n)
    verdict.equal(float(row["OMPP_EVAL%d" % (MANY + 1)]), pages * MANY * (MANY + 1) / 2, "many: their sum")


def shown(outcome, *options):
    return harness.execute([harness.command("ompp-report"), *options, outcome.reports()[0]], outcome.folder)


def check_calls(verdict, scratch, how, papi):
    """Pages by who called the region that touched them: as tree, by callers, flat, in CSV; an expression; a name that is not there."""
    program = scratch.file("calls-" + how)
    harness.build(os.path.join(fakepapi.HERE, "calls.c"), program, how, flags=("-O2", "-g"))
    outcome = run(program, scratch.file(how + "-calls", "x")[:-2], papi, threads=1, OMPP_CTR1="FAKE_1", OMPP_CALLPATH="full")
    title = how + ", call paths"
    profile = outcome.profile()
    verdict.profile(profile, title)
    wanted = {"small": fakepapi.below(profile, "FAKE_1", "small"), "large": fakepapi.below(profile, "FAKE_1", "large")}
    verdict.check(400 <= wanted["small"] <= 410 and 1200 <= wanted["large"] <= 1230, title + ": pages in the XML: %s" % wanted)
    tree, found = shown(outcome, "show", "--full", "--metric=FAKE_1").out, {}
    for line in tree.splitlines()[2:]:
        own, share, name = re.match(r" *(\d+) +[\d.]+ +([\d.]+)  +(\S+)", line).groups()
        if name in wanted:
            found[name] = (float(share), own)
    whole = fakepapi.below(profile, "FAKE_1", None)
    for name, pages in wanted.items():
        verdict.check(name in found and abs(found[name][0] - 100 * pages / whole) < 0.02, "%s: %s of %d: %s" % (title, name, whole, tree))
    callers = shown(outcome, "show", "--full", "--by=caller", "--metric=FAKE_1").out
    pages = {name: int(count) for count, name in re.findall(r"^ *(\d+) +[\d.]+ +(small|large) ", callers, re.M)}
    verdict.equal(pages, wanted, title + ": by callers: " + callers)
    flat = re.findall(r"^ *(\d+) +[\d.]+ +\S", shown(outcome, "show", "--full", "--by=flat", "--metric=FAKE_1").out, re.M)
    verdict.equal(sum(int(n) for n in flat), whole, title + ": flat")
    double = shown(outcome, "show", "--full", "--metric=2*FAKE_1/EXECC").out
    verdict.check(re.search(r"^ +\S+ +%g  +small " % (2 * wanted["small"]), double, re.M), title + ": expression: " + double)
    table = shown(outcome, "csv").out.split("##BEG ompp counters")[1].split("##END")[0].splitlines()
    verdict.equal(table[1], "Path,FAKE_1", title + ": CSV title")
    sums = {name: max(int(row.rsplit(",", 1)[1]) for row in table[2:] if "> %s " % name in row) for name in wanted}
    verdict.equal(sums, wanted, title + ": CSV: %s" % table)
    wrong = shown(outcome, "show", "--metric=FAKE_2")
    verdict.check(wrong.status == 1 and "--metric=FAKE_2: " in wrong.err and "nearest: FAKE_1" in wrong.err, title + ": unknown: " + wrong.err)


def check_cost(verdict, program, scratch, papi):
    """The same three numbers in text, CSV and XML."""
    outcome = run(program, scratch.file("cost"), papi, OMPP_CTR1="PAPI_LD_INS", OMPP_OUTFORMAT="text,csv")
    profile, line = outcome.profile(), fakepapi.report(outcome)[0].get("Cost per Read   ", "")
    found = re.fullmatch(r"([0-9.]+) us; ([0-9]+) readings; ([0-9.]+) sec of all threads", line)
    if not verdict.check(found is not None, "cost per read: %r" % line):
        return
    cost = max(v[m["index"]] for m in profile.metric_rows if m.get("use") == "cost"
               for (_, s), v in profile.nodes[0].values.items() if s == m["set"])
    readings = fakepapi.at_root(profile, "readings", "readings")
    verdict.check(cost > 0, "cost per read in the XML: %d ns" % cost)
    verdict.equal(float(found.group(1)), cost / 1000, "cost per read")
    verdict.equal(int(found.group(2)), readings, "readings")
    verdict.check(readings >= 8, "readings of two threads in four constructs: %d" % readings)
    verdict.check(abs(float(found.group(3)) - 1e-9 * cost * readings) <= 0.0051, "cost of all readings: %s" % line)
    row = "\nCost per Read,%s us; %s readings; " % found.groups()[:2]
    verdict.check(row in open(outcome.reports("csv")[0]).read(), "cost per read in the CSV report")
    verdict.check("reading of the counters" not in open(outcome.reports("txt")[0]).read(), "it is said twice")


def check_turns(verdict, scratch, papi, how):
    """Counters that take turns: the share of the time, and an error that holds the true value; one that has a constant rate has none."""
    if len(os.sched_getaffinity(0)) < 2:
        print("note: counters that take turns need two processors")
        return
    program = build(scratch, "turns", how)
    counter = iter(range(100))

    def attempt():
        outcome = run(program, scratch.file("turns-run-%d" % next(counter)), papi, "turns", 1, OMPP_MULTIPLEX="1",
                      OMPP_CTR1="PAPI_LD_INS", OMPP_CTR2="PAPI_TOT_CYC")
        verdict.equal(outcome.status, 0, "turns: exit status")
        profile = outcome.profile()
        qualities = {m["quality"] for m in profile.metric_rows if m.get("use") == "column"}
        verdict.equal(qualities, {"sampled"}, "turns: quality")
        return compare_turns(profile, fakepapi.report(outcome)[0].get("Multiplexing    ", ""))

    verdict.timed(attempt)


def compare_turns(profile, line):
    shares = dict(re.findall(r"(\w+) ([0-9.]+)% of the time", line))
    errors = dict(re.findall(r"(\w+) [0-9.]+% of the time \+-([0-9.]+)%", line))
    relations = []
    for name, share in (("PAPI_LD_INS", 75), ("PAPI_TOT_CYC", 25)):
        wanted, counted = (fakepapi.at_root(profile, name, use) for use in ("wanted", "counted"))
        relations += [(abs(float(shares.get(name, -1)) - share) < 8, "turns: share of %s: %r, wanted %d" % (name, line, share)),
                      (wanted > 0 and abs(counted / wanted - share / 100) < 0.08, "turns: %s: %d of %d ns" % (name, counted, wanted))]
    pages, error = fakepapi.counted(profile, "PAPI_LD_INS"), fakepapi.at_root(profile, "PAPI_LD_INS", "error")
    relations += [(2 < float(errors.get("PAPI_LD_INS", 0)) < 20, "turns: error of a changing rate: %r" % line),
                  (float(errors.get("PAPI_TOT_CYC", 99)) < 2, "turns: error of a constant rate: %r" % line),
                  (abs(pages - PAGES) < 3 * error + 50, "turns: %d pages +- %d, in truth %d" % (pages, error, PAGES))]
    return [text for good, text in relations if not good], len(relations)


def check_no_turns(verdict, program, scratch, papi):
    outcome = run(program, scratch.file("no-turns"), papi, OMPP_MULTIPLEX="1", OMPP_CTR1="PAPI_LD_INS")
    verdict.check(any("OMPP_MULTIPLEX" in m and "has no effect" in m for m in outcome.messages()), "no turns: %s" % outcome.messages())
    verdict.equal({m["quality"] for m in outcome.profile().metric_rows if m.get("use") == "column"}, {"hardware"}, "no turns: quality")
    verdict.check("Multiplexing    " not in fakepapi.report(outcome)[0], "no turns: header")


REFUSED = [
    ("conflict", "PAPI_TOT_CYC", "cannot be counted together with the counters before it (OMPP_MULTIPLEX=1 lets them take turns)"),
    ("forbidden", "PAPI_TOT_INS", "not permitted (perf_event_paranoid is "),
    ("off", "perf::TASK-CLOCK", "PAPI knows no event of this name; its component perf_event is off: a processor that the fake does not know"),
    ("right", "PAPI_LD_INT", "PAPI knows no event of this name; nearest that work here: PAPI_LD_INS"),
]


def check_refusals(verdict, program, scratch, papi):
    for mode, event, words in REFUSED:
        outcome = run(program, scratch.file("refused-" + mode), papi, mode, OMPP_CTR1="PAPI_LD_INS", OMPP_CTR2="PAPI_L3_TCM", OMPP_CTR3=event)
        said = [m for m in outcome.messages() if event + " is not counted" in m]
        verdict.check(said and words in said[0], "%s: %s" % (mode, outcome.messages()))
        if outcome.reports("xml"):
            reasons = [c.get("reason", "") for c in outcome.profile().coverage if c.get("subject") == "counter " + event]
            verdict.check(len(reasons) == 1 and words in reasons[0], "%s: Coverage: %s" % (mode, reasons))


def check_judgement(verdict, program, scratch, papi):
    """pmu.py's branch: right counts are found right, wrong ones are not."""
    counters = {"OMPP_CTR1": fakepapi.INSTRUCTIONS, "OMPP_CTR2": fakepapi.CYCLES}
    for threads in (1, 2, 4):
        outcome = run(program, scratch.file("judged-%d" % threads), papi, "right", threads, **counters)
        verdict.equal(fakepapi.broken_relations(outcome.profile(), threads), [], "right counts, T=%d" % threads)
        verdict.check("IPC" in fakepapi.report(outcome)[0].get("Derived         ", ""), "right counts: no IPC")
    skewed = run(program, scratch.file("skewed"), papi, "skewed", 2, **counters)
    verdict.check(fakepapi.broken_relations(skewed.profile(), 2), "skewed counts are found right")


def check_serial(verdict, scratch, papi):
    """Without a parallel region the sum in the table of parallel regions is 0, and Coverage says where the counts are."""
    program = scratch.file("serial")
    source = scratch.file("serial.c")
    with open(source, "w") as out:
        out.write("int main(void)\n{\n#pragma pomp inst begin(all)\n    static volatile char a[1 << 22];\n"
                  "    for (int i = 0; i < 1 << 22; i += 4096) a[i] = 1;\n#pragma pomp inst end(all)\n    return 0;\n}\n")
    harness.build(source, program, "opari")
    outcome = run(program, scratch.file("serial-run"), papi, OMPP_CTR1="PAPI_LD_INS")
    notes = [c for c in outcome.profile().coverage if "table of parallel regions" in c.get("subject", "")]
    verdict.equal(len(notes), 1, "serial: a line in Coverage")
    verdict.check(fakepapi.counted(outcome.profile(), "PAPI_LD_INS", "USER REGION") >= 1000, "serial: the flat profile has the counts")


def main():
    scratch, verdict = harness.Scratch("fake"), harness.Verdict("counters of a fake PAPI")
    papi = fakepapi.build(scratch)
    how = harness.sources()[0]
    program = build(scratch, "work", how)
    probe = run(program, scratch.file("probe"), papi, OMPP_DATA_BACKEND="page-faults")
    if any("OMPP_DATA_BACKEND" in m for m in probe.messages()):
        harness.skip("the fake counts page faults, which are refused here: %s" % probe.messages()[0])
    check_many(verdict, program, scratch, papi)
    check_cost(verdict, program, scratch, papi)
    check_calls(verdict, scratch, how, papi)
    check_turns(verdict, scratch, papi, how)
    check_no_turns(verdict, program, scratch, papi)
    check_refusals(verdict, program, scratch, papi)
    check_judgement(verdict, program, scratch, papi)
    check_serial(verdict, scratch, papi)
    verdict.finish(scratch)


main()
