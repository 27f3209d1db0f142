#!/usr/bin/env python3
"""
Threads of the program's own: no row has more time than the run, whichever threads have shared it, and no share of the callgraph is
above 100 %, whichever threads were outside of parallel regions.
"""

import re

import harness

SOURCE = harness.os.path.join(harness.HERE, "own_threads.c")
RUNS = 5  # threads come and go differently each time


def check_report(verdict, outcome, title):
    verdict.equal((outcome.status, outcome.out), (0, "done\n"), title + "status and output")
    found = harness.execute([harness.command("ompp-report"), "check", *outcome.reports()], outcome.folder)
    verdict.equal(found.status, 0, title + "ompp-report check: " + found.out[-400:])
    with open(outcome.reports("txt")[0], encoding="utf-8") as text:
        graph = text.read().split("ompP Callgraph  ")[1].split("ompP Flat Region Profile")[0]
    rows = [(float(a), float(b)) for a, b in re.findall(r"^ +[\d.]+ \( *([\d.]+)%\) +[\d.]+ \( *([\d.]+)%\)", graph, re.M)]
    verdict.check(rows and all(share <= 100.05 for row in rows for share in row), title + "shares: %s" % rows)
    verdict.check(abs(sum(own for _, own in rows) - 100) < 0.5, title + "exclusive shares add up to 100: %s" % rows)


def main():
    verdict, scratch = harness.Verdict("own_threads"), harness.Scratch("own_threads")
    for how in harness.sources() + harness.plain_sources():
        program = scratch.file(how, "teams")
        harness.build(SOURCE, program, "opari" if how == "gomp" else how, instrument=how != "gomp")
        front = [harness.command("ompp"), "--"] if how == "gomp" else []
        for n in range(RUNS):
            outcome = harness.execute([*front, program], scratch.file("run-%s-%d" % (how, n), "x")[:-2])
            check_report(verdict, outcome, "%s, teams, run %d: " % (how, n))
    program = scratch.file("mpi", "messages")
    harness.build(SOURCE, program, "opari", mpi=True, flags=("-O0", "-g", "-DMPI"), instrument=False)
    outcome = harness.execute([harness.command("ompp"), "--", program], scratch.file("run-mpi", "x")[:-2])
    check_report(verdict, outcome, "messages: ")
    profile = outcome.profile()
    verdict.equal(sum(profile.total("recvC", profile.find(kind="MPI", name="MPI_Recv")).values()), 3, "messages: receives")
    verdict.finish(scratch)


main()
