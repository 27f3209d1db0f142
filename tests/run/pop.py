#!/usr/bin/env python3
"""
Serialisation and transfer efficiency, by virtual clocks: equal to those by hand of programs in which ranks or threads wait for each
other, or move data, for a known part of the run; with 1, 2 and 4 of them; the same in all forms of the report.
usage: pop.py [openmp|mpi|forms]...
"""

import json
import os
import re
import sys

import harness

SOURCE = os.path.join(harness.HERE, "pop.c")
NEAR = 0.1  # a busy machine holds up a thread now and then
FULL = dict(OMPP_EFFICIENCY="full", OMPP_SUMMARY="off")


def show(*words):
    return harness.execute([harness.command("ompp-report"), *words], ".").out


def told_by(out):
    """[(work, moved, length)] of each thread, the first one of rank 0 first."""
    rows = sorted(re.findall(r"^(\d+) (\d+) work (\S+) moved (\S+) of (\S+)$", out, re.M))
    return [tuple(float(v) for v in row[2:]) for row in rows]


def longest_chain(case, told):
    """Seconds of work that follows other work: what the program takes when nothing else takes time."""
    works = [work for work, _, _ in told]
    if case in ("ring", "turns"):  # one after the other
        return sum(works)
    if case == "late" and len(works) > 1:  # first rank 0, then the others
        return works[0] + max(works[1:])
    return max(works)


def by_hand(case, out, run, duration, begins):
    """
    {name: (least, most)} of the run, from what each thread says that it worked. What it does before and after that is in `communication`
    too. begins: of each rank, in seconds; others wait for the last one, if they have not more to do before.
    """
    told = told_by(out)
    most = run["communication"] * duration
    ideal = most - max(work for work, _, _ in told) + longest_chain(case, told)
    later = ideal + max(begins) - min(begins)
    useful = sum(work for work, _, _ in told) / len(told) / duration
    if case == "leave":
        return dict(parallel=(useful, useful))
    return dict(transfer=(ideal / duration, later / duration), serialisation=(most / later, most / ideal))


def scenarios(case, out, duration):
    """{scenario: gain by hand} that the case was built for."""
    told = told_by(out)
    if case == "turns":  # without the lock, each thread works at the same time as the others
        return {"uncontended-locks": (longest_chain(case, told) - max(work for work, _, _ in told)) / duration}
    if case == "moving":  # nothing is waited for
        return {"uncontended-locks": 0, "ideal-network": sum(moved for _, moved, _ in told) / len(told) / duration}
    if case == "tiny":
        return {"uncontended-locks": 0, "no-runtime-cost": max(moved for _, moved, _ in told) / duration}
    return {"uncontended-locks": 0}


def wrong_values(case, out, report):
    found = json.loads(show("show", "--json", report))
    run = found["efficiency"][0]
    duration = found["duration_ns"] / 1e9
    begins = [int(ns) / 1e9 for ns in re.findall(r'<rank [^>]*begin-epoch-ns="(\d+)"', open(report).read())]
    for name, (least, most) in by_hand(case, out, run, duration, begins).items():
        if not least - NEAR <= run.get(name, -1) <= most + NEAR:
            yield "%s is %s, by hand from %.3f to %.3f" % (name, run.get(name), least, most)
    ideal = {g["scenario"]: g for g in found["ideal"]}
    for name, value in scenarios(case, out, duration).items():
        if name not in ideal or not ideal[name]["low"] - NEAR <= value <= ideal[name]["high"] + NEAR:
            yield "%s: %s, by hand %.3f" % (name, ideal.get(name), value)
    network = ideal.get("ideal-network")
    if found["ranks"] > 1 and not (network and network["high"] <= 1 - run["mpi_transfer"] + NEAR):  # MPI starts as it did
        yield "ideal network: %s, transfer %.3f" % (network, run["mpi_transfer"])


def check_products(verdict, where, report):
    run = json.loads(show("show", "--json", report))["efficiency"][0]
    for level in ("", "mpi_", "openmp_"):
        product = run[level + "serialisation"] * run[level + "transfer"]
        verdict.check(abs(product - run[level + "communication"]) <= 1e-6,
                      "%s%s%f is no product of the others, %f" % (where, level, run[level + "communication"], product))


def check_runs(verdict, scratch, program, title, cases, shapes):
    for case in cases:
        for threads, ranks in shapes:
            where = "%s, %s, %d threads on %d ranks: " % (title, case, threads, ranks)

            def attempt():
                outcome = harness.run(program, scratch.fresh(title, "%s-%d-%d" % (case, threads, ranks)), threads, ranks=ranks, args=[case], **FULL)
                if outcome.status != 0:
                    raise harness.Failure("%sstatus %s: %s" % (where, outcome.status, outcome.err[-300:]))
                check_products(verdict, where, outcome.reports()[0])
                return [where + text for text in wrong_values(case, outcome.out, outcome.reports()[0])], 1

            verdict.timed(attempt)


def openmp(verdict, scratch):
    for how in harness.sources():
        program = scratch.file(how, "pop")
        harness.build(SOURCE, program, how)
        check_runs(verdict, scratch, program, how, ("turns", "ramp"), ((1, 0), (2, 0), (4, 0)))
        check_runs(verdict, scratch, program, how, ("tiny",), ((2, 0), (4, 0)))


def mpi(verdict, scratch):
    harness.mpirun()
    program = scratch.file("mpi", "pop")
    harness.build(SOURCE, program, harness.sources()[0], mpi=True, flags=["-O0", "-g", "-DUSE_MPI"])
    check_runs(verdict, scratch, program, "mpi", ("ring", "late", "moving", "leave"), ((1, 1), (1, 2), (1, 4)))
    check_runs(verdict, scratch, program, "mpi", ("ramp",), ((2, 2),))


def forms(verdict, scratch):
    """The same numbers in XML, CSV, JSON and text; without clocks there are none."""
    how = harness.sources()[0]
    program = scratch.file("forms", "pop")
    harness.build(SOURCE, program, how)
    outcome = harness.run(program, scratch.file("full", "x")[:-2], 2, args=["turns"], **FULL)
    path = outcome.reports()[0]
    run = json.loads(show("show", "--json", path))["efficiency"][0]
    text, csv, xml = show("show", path), show("csv", path), open(path).read()
    wanted = "%.2f = %.2f x %.2f   communication = serialisation x transfer" % (run["communication"], run["serialisation"], run["transfer"])
    verdict.check(wanted in text, "text lacks " + wanted)
    verdict.check("(serialisation %.2f x transfer %.2f)" % (run["serialisation"], run["transfer"]) in text, "summary lacks them")
    summary = show("summary", path).strip()
    verdict.check(summary and summary in text and len(summary.splitlines()) <= 15, "ompp-report summary: " + summary)
    rows = [line.split(",") for line in re.search(r"##BEG ompp efficiency\n(.*?)\n##END", csv, re.S)[1].split("\n")]
    for column, name in (("serialisation", "serialisation"), ("transfer", "transfer"), ("MPI transfer", "mpi_transfer")):
        verdict.check(abs(float(rows[1][rows[0].index(column)]) - run[name]) < 1e-5, "CSV: " + column)
        verdict.check(abs(float(re.search(r'<efficiency [^>]*\b%s="([^"]*)"' % name.replace("_", "-"), xml)[1]) - run[name]) < 1e-5, "XML: " + name)
    verdict.check("ompp What-if" not in text and "ompp what-if" not in csv, "gains of regions were not asked for")
    verdict.equal(harness.execute([harness.command("ompp-report"), "check", path], ".").status, 0, "check")
    outcome = harness.run(program, scratch.file("basic", "x")[:-2], 2, args=["turns"])
    verdict.check("transfer" not in json.loads(show("show", "--json", outcome.reports()[0]))["efficiency"][0], "without clocks")


def main():
    verdict, scratch = harness.Verdict("pop"), harness.Scratch("pop")
    for name in sys.argv[1:] or ("openmp", "mpi", "forms"):
        {"openmp": openmp, "mpi": mpi, "forms": forms}[name](verdict, scratch)
    verdict.finish(scratch)


main()
