#!/usr/bin/env python3
"""
Source with what was measured beside it (annotate.c): processor time, loads and stores, waiting, constructs; against the XML. A run that
counts nothing has no columns for it. And what a run had no time to look up is looked up when the report is shown.
"""

import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

LOST = ("BARRIER", "TASK", "UTASK", "TASKWAIT")  # all of their time, but for tasks that ran in it
SOURCE = os.path.join(HERE, "annotate.c")


def annotated(verdict, title, outcome, *options):
    """(titles, {line: (own sec, [counts], reg. sec, region, wait %)})."""
    done = harness.execute([harness.command("ompp-report"), "annotate", "--full", *options, outcome.reports()[0], SOURCE], outcome.folder)
    verdict.equal(done.status, 0, title + ": status: " + done.err)
    head, *lines = done.out.splitlines()
    counts = (len(head) - len("line") - 2 - 41) // 14
    text, rows = open(SOURCE).read().splitlines(), {}
    for line in lines:
        own, share, numbers, region_time, region, wait, number, rest = re.fullmatch(
            r"(.{9}) (.{6})(.{%d}) (.{9}) (.{8})(.{6}) *(\d+)  (.*)" % (14 * counts), line).groups()
        verdict.equal(rest, text[int(number) - 1], "%s: text of line %s" % (title, number))
        rows[int(number)] = (float(own.strip() or 0), [int(numbers[14 * i:14 * i + 14].strip() or 0) for i in range(counts)],
                             float(region_time.strip() or 0), region.strip(), float(wait.strip() or 0))
    verdict.equal(sorted(rows), list(range(1, len(text) + 1)), title + ": lines")
    return head.split(), rows


def phases(profile, line):
    """(ns of all threads in the regions that begin on a line, ns of these in barriers, waiting for tasks and making them; the longest region)."""
    whole = barriers = 0
    regions = {}
    for node in profile.nodes:
        if node.region is None or node.region.begin != line:
            continue
        for of in node.phases.values():
            time = sum(p.time for p in of.values())
            whole += time
            regions[node.region.type] = regions.get(node.region.type, 0) + time
            barriers += sum(p.time - p.task for name, p in of.items() if name in ("exitbar", "startup", "shutdown") or node.region.type in LOST)
    return whole, barriers, max(regions, key=regions.get, default="")


def check(verdict, scratch, how, counts):
    title = how + (", loads" if counts else "")
    program = scratch.file(title.replace(", ", "-"), "annotate")
    os.makedirs(os.path.dirname(program), exist_ok=True)
    words = [harness.command("kinst-ompp"), "--with=" + how, *(["--memory"] if counts else []), harness.COMPILERS[how], "-fopenmp", "-g", "-O1", SOURCE, "-o", program]
    done = harness.execute(words, os.path.dirname(program))
    if not verdict.equal(done.status, 0, title + ": build: " + done.err[-500:]):
        return
    outcome = harness.run(program, scratch.file(title.replace(", ", "-") + "-run", "x")[:-2], 2, **({"OMPP_SAMPLE_HZ": "0"} if counts else {}))
    verdict.equal((outcome.status, outcome.out), (0, "1\n"), title + ": result")
    profile = outcome.profile()
    verdict.profile(profile, title)
    head, rows = annotated(verdict, title, outcome)
    named = [harness.execute([harness.command("ompp-report"), "annotate", outcome.reports()[0], name], outcome.folder) for name in (SOURCE, "annotate.c")]
    verdict.equal((named[1].status, named[1].out), (0, named[0].out), title + ": a source that is named alone is read where it was compiled")
    verdict.equal("loads" in head and "stores" in head, counts, title + ": titles: %s" % head)
    begin, _ = harness.labels(SOURCE)
    for label, name in (("parallel", "PARALLEL"), ("loop", "LOOP"), ("barrier", "BARRIER"), ("taskgroup", "TASKGRP"), ("task", "TASKEXEC"), ("taskwait", "TASKWAIT")):
        _, _, seconds, region, wait = rows[begin[label]]
        whole, waits, longest = phases(profile, begin[label])
        if not whole and label.startswith("task"):
            continue  # the source of events does not tell of it
        verdict.check(region == name or longest[:8] == region, "%s: %s: construct %s, not %s" % (title, label, region, name))
        verdict.check(waits > 0 or not label.startswith("task") or (label, how) == ("task", "ompt"), "%s: %s: nothing was lost" % (title, label))  # OMPT does not tell how long making tasks takes
        verdict.check(abs(seconds - whole / 1e9) <= 0.006, "%s: %s: %.2f s, in the XML %d ns" % (title, label, seconds, whole))
        verdict.check(abs(wait - 100 * waits / max(whole, 1)) <= 0.06, "%s: %s: waiting %.1f %%, in the XML %d of %d ns" % (title, label, wait, waits, whole))
    verdict.equal(rows[begin["barrier"]][4], 100.0, title + ": a barrier is waiting throughout")
    own = sum(row[0] for row in rows.values())
    verdict.check(counts or own > 0.1, "%s: %.2f s of processor time at lines" % (title, own))
    if counts:
        at = head.index("loads") - 4
        loads, stores = rows[begin["loop"]][1][at:at + 2]
        verdict.check(1000 <= loads < 1200 and 1000 <= stores < 1200, "%s: %d loads, %d stores of the loop" % (title, loads, stores))
        verdict.check(rows[begin["barrier"]][1][at] < 50, title + ": %d loads of a barrier" % rows[begin["barrier"]][1][at])


def late(verdict, scratch, how):
    """No time to look anything up: ompp-report does it, and says no more that it was missing."""
    program = scratch.file(how + "-late", "annotate")
    harness.build(SOURCE, program, how, flags=("-O1", "-g"))
    run = scratch.file(how + "-late-run", "x")[:-2]
    outcome = harness.run(program, run, 2, OMPP_RESOLVE_SECONDS="0.000001", OMPP_CALLPATH="site")
    text = open(outcome.reports("txt")[0]).read()
    if "OMPP_RESOLVE_SECONDS" not in text:
        print("note: %s: there was time" % how)
        return
    shown = harness.execute([harness.command("ompp-report"), "show", "--full", outcome.reports()[0]], outcome.folder).out
    verdict.check("OMPP_RESOLVE_SECONDS)" not in shown, how + ": late: " + shown[:2000])
    verdict.check(re.search(r"annotate\.c:\d+ spin|spin annotate\.c", shown) and "annotate.c:" not in text[text.index("ompp Samples"):], how + ": late: samples have functions and lines")
    rows = annotated(verdict, how + ", late", outcome)[1]
    verdict.check(sum(row[0] for row in rows.values()) > 0.1, how + ": late: lines have time")
    shutil.move(program, program + ".moved")
    shown = harness.execute([harness.command("ompp-report"), "show", "--full", outcome.reports()[0]], outcome.folder).out
    verdict.check("OMPP_RESOLVE_SECONDS)" in shown, how + ": without the program the report is as it was")


def main():
    verdict, scratch = harness.Verdict("annotate"), harness.Scratch("annotate")
    for how in harness.sources():
        for counts in (False, True):
            check(verdict, scratch, how, counts)
        late(verdict, scratch, how)
    verdict.finish(scratch)


main()
