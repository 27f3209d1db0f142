#!/usr/bin/env python3
"""
OMPP_MEMORY too small, and regions and tasks that are nested too deeply: what is measured and what Coverage says is missing add up to
what the program has executed, no name is empty, no end of a region is told as a mismatch, and nothing says that times are complete.
"""

import os
import sys

import harness

SOURCE = os.path.join(harness.HERE, "room.c")
MANY = 100   # times all constructs
DEEP = 1000  # regions inside one another
LIMITS = ("1k", "300k", "400k")
ENTRIES, TASKS = "region entries", "task executions"
UNTIMED = " without a time of their own"
# kind of nesting: (type of region, its executions)
NESTED = {"regions": ("USER REGION", DEEP), "teams": ("PARALLEL", DEEP + 2), "groups": ("TASKGROUP", DEEP), "tasks": ("TASKEXEC", DEEP),
          "functions": ("USER REGION", None)}


def executions(profile, kind=None):
    """Of regions of a type; None: of all but those that a task is when it runs."""
    regions = [r for r in profile.find(kind) if kind is not None or "TASKEXEC" not in r.type]
    return sum(profile.total("execC", regions).values())


def told(profile, kind, subject):
    return sum(int(c["count"]) for c in profile.coverage if c["kind"] == kind and c["subject"] == subject)


def check_report(verdict, outcome, title, ranks=0):
    verdict.equal((outcome.status, outcome.out), (0, "done\n" * ranks) if ranks else (3, "done\n"), title + ": status and output")
    profile = outcome.profile()
    for defect in profile.defects():
        verdict.check(False, "%s: %s" % (title, defect))
    found = harness.execute([harness.command("ompp-report"), "check", *outcome.reports()], outcome.folder)
    verdict.equal(found.status, 0, title + ": ompp-report check: " + found.out[-400:])
    for entry in profile.coverage:
        verdict.check(entry["kind"] != "mismatch", "%s: %s" % (title, entry))
        verdict.check(not entry.get("subject", "-").startswith(":") and entry.get("reason", "-"), "%s: empty name: %s" % (title, entry))
    for region in profile.find("USER REGION"):
        verdict.check(region.name, title + ": a region without a name")
    return profile


def check_full(verdict, outcome, wanted, regions, title, ranks, outlined):
    """wanted, regions: entries and tasks, and the number of regions, of the same program with enough room; outlined: functions that the compiler made
    count as dropped, too."""
    profile = check_report(verdict, outcome, title, ranks)
    with open(outcome.reports("txt")[0], encoding="utf-8") as text:
        text = text.read()
    dropped = told(profile, "dropped", ENTRIES), told(profile, "dropped", TASKS)
    found = executions(profile) + dropped[0], executions(profile, "TASKEXEC") + dropped[1]
    if outlined:
        verdict.check(found[0] >= wanted[0] and found[1] == wanted[1], "%s: entries and tasks: found %s, wanted %s" % (title, found, wanted))
    else:
        verdict.equal(found, wanted, title + ": entries and tasks, measured and dropped")
    if dropped[0]:
        verdict.check("set a larger OMPP_MEMORY: no room for %d %s" % (dropped[0], ENTRIES) in outcome.err, "%s: stderr: %s" % (title, outcome.err[-300:]))
        verdict.check("Caution: %s dropped: %d" % (ENTRIES, dropped[0]) in text, title + ": no caution")
        # Where only the nodes of call paths found no room, no region is missing.
        missing = len(profile.find()) < regions
        verdict.check(told(profile, "dropped", "regions") > 0 or not missing, title + ": no word of regions")
    if dropped[1] and "ompp Tasks" in text:
        verdict.check("Not in the table: %d %s that found no room" % (dropped[1], TASKS) in text, title + ": table of tasks")
    verdict.check("times are complete" not in outcome.err, title + ": stderr: " + outcome.err[-300:])
    return sum(dropped)


def test_full(verdict, scratch, how, program, ranks=0):
    front = [harness.command("ompp"), "--"] if how == "gomp" else []
    for mode in ("", "virtual"):
        wanted, regions, lost = None, 0, 0
        for limit in ("64M",) + LIMITS:
            title = "%s %s %s %s" % (how, os.path.basename(program), limit, mode)
            outcome = harness.run((front + [program])[0], scratch.file(title.replace(" ", "-"), "x")[:-2], 2, ranks,
                                  args=(front + [program, "many", str(20 * MANY if how == "gomp" else MANY)])[1:], OMPP_MEMORY=limit, OMPP_CAUSAL=mode)
            if wanted is None:
                profile = check_report(verdict, outcome, title, ranks)
                wanted, regions = (executions(profile), executions(profile, "TASKEXEC")), len(profile.find())
                verdict.equal([c for c in profile.coverage if c["kind"] == "dropped"], [], title + ": dropped")
            else:
                lost += check_full(verdict, outcome, wanted, regions, title, ranks, how == "ompt" and program.endswith("functions"))
        verdict.check(lost > 0, "%s %s: all limits were large enough" % (how, mode))


def test_deep(verdict, scratch, how, program, kind):
    title = "%s, nested %s" % (how, kind)
    front = [harness.command("ompp"), "--"] if how == "gomp" else []
    outcome = harness.execute(["sh", "-c", 'ulimit -s 200000; exec "$@"', "sh", *front, program, kind, str(DEEP)], scratch.file(title.replace(" ", "-"), "x")[:-2],
                              OMP_STACKSIZE="200M")
    profile = check_report(verdict, outcome, title)
    region, count = NESTED[kind]
    if count is None:
        found = {name: sum(profile.total("execC", profile.find(region, name=name)).values()) for name in ("even", "odd")}
        verdict.equal(found, {"even": DEEP // 2, "odd": DEEP // 2}, title + ": executions")
    else:
        verdict.equal(sum(profile.total("execC", harness.of_type(profile, region)).values()), count, title + ": executions")
    if kind != "groups":  # the same region inside itself needs no depth
        verdict.check(told(profile, "loss", (TASKS if kind == "tasks" else ENTRIES) + UNTIMED) > 0, "%s: Coverage: %s" % (title, profile.coverage))
    verdict.equal([c for c in profile.coverage if c["kind"] == "dropped"], [], title + ": dropped")


def main():
    verdict, scratch = harness.Verdict("room"), harness.Scratch("room")
    for how in harness.sources() + harness.plain_sources():
        program = scratch.file(how, "room")
        compiled = "opari" if how == "gomp" else how
        instrument, flags = (False, ["-DOMPP_OFF", "-I" + os.path.join(harness.SOURCE, "include")]) if how == "gomp" else (True, [])
        harness.build(SOURCE, program, compiled, flags=("-O0", "-g", *flags), instrument=instrument)
        test_full(verdict, scratch, how, program)
        for kind in NESTED:
            if kind == "functions":
                if how != "gomp":
                    functions = scratch.file(how, "functions")
                    harness.build(SOURCE, functions, compiled, flags=("-O0", "-g", "-finstrument-functions"))
                    test_deep(verdict, scratch, how, functions, kind)
                    test_full(verdict, scratch, how, functions)
            elif how != "gomp" or kind != "regions":
                test_deep(verdict, scratch, how, program, kind)
    program = scratch.file("mpi", "room-mpi")
    harness.build(SOURCE, program, "opari", mpi=True, flags=("-O0", "-g", "-DMPI"))
    test_full(verdict, scratch, "opari", program, 2)
    verdict.finish(scratch)


main()
