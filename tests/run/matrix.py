#!/usr/bin/env python3
"""
The message matrix: what each rank has sent to each other one, by blocking, non-blocking and persistent calls, on communicators with other
numbers for the ranks. Equal to what the program counts itself, for each MPI, in XML, CSV, JSON and in the page.
"""

import json
import os
import re
import xml.etree.ElementTree as ElementTree

import harness

SOURCE = os.path.join(harness.HERE, "matrix.c")


def show(*words):
    return harness.execute([harness.command("ompp-report"), *words], ".").out


def in_xml(path):
    return sorted(tuple(int(e.get(name, -1)) for name in ("from", "to", "messages", "bytes")) for e in ElementTree.parse(path).iter("message"))


def check(verdict, title, outcome):
    wanted = sorted(tuple(int(n) for n in line) for line in re.findall(r"^(\d+) (\d+) (\d+) (\d+)$", outcome.out, re.M))
    reports = outcome.reports()
    if not verdict.check(outcome.status == 0 and wanted and reports, "%s: status %s: %s" % (title, outcome.status, outcome.err[-300:])):
        return
    path = reports[0]
    verdict.equal(in_xml(path), wanted, title + ": XML")
    section = re.search(r"##BEG ompp messages\nFrom,To,Messages,Bytes\n(.*?)##END", show("csv", path), re.S)
    verdict.equal(section and sorted(tuple(int(n) for n in line.split(",")) for line in section[1].split()), wanted, title + ": CSV")
    found = json.loads(show("show", "--json", path))
    verdict.equal(sorted((m["from"], m["to"], m["messages"], m["bytes"]) for m in found.get("messages", [])), wanted, title + ": JSON")
    verdict.equal(harness.execute([harness.command("ompp-report"), "check", path], ".").status, 0, title + ": check")
    verdict.profile(outcome.profile(), title)


def main():
    verdict, scratch = harness.Verdict("matrix"), harness.Scratch("matrix")
    for name, launcher, programs in harness.builds_of_each_mpi(scratch, SOURCE):
        os.environ["MPIRUN"] = launcher
        for ranks in (1, 2, 4):
            for rounds in ((1,) if ranks < 4 else (1, 50)):
                title = "%s, %d ranks, %d rounds" % (name, ranks, rounds)
                folder = scratch.file(name, "%d-%d" % (ranks, rounds), "x")[:-2]
                check(verdict, title, harness.run(programs["measured"], folder, 1, ranks=ranks, args=[str(rounds)], OMPP_SUMMARY="off"))
        folder = scratch.file(name, "off", "x")[:-2]
        outcome = harness.run(programs["measured"], folder, 1, ranks=2, OMPP_DISABLE_MPI="1", OMPP_SUMMARY="off")
        for path in outcome.reports():
            verdict.equal(in_xml(path), [], name + ": MPI is not measured")
    verdict.finish(scratch)


main()
