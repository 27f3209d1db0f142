#!/usr/bin/env python3
"""
What a program does before its first parallel region, and in a program that has none, is counted where the user asked for it: with options
of "ompp --", which the program's environment does not have, and in programs that kinst-ompp has linked. Without a report there is a line.
"""

import os
import shutil
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import harness  # noqa: E402
import memory  # noqa: E402

SOURCE = os.path.join(memory.HERE, "lone.c")
FAULTS, WATCHED = "page faults", "breakpoints"


def build(scratch, title, compiler, *flags, before=()):
    program = scratch.file(title.replace(" ", "-"))
    done = harness.execute([*before, compiler, "-g", "-O1", *flags, SOURCE, "-o", program], scratch.path)
    if done.status != 0:
        raise harness.Failure("cannot build %s: %s" % (program, done.err[-1500:]))
    return program


def outside(profile, source, name):
    """The first two values of a structure at the root of thread 0."""
    number = next((m.get("set") for m in profile.root.find("metrics") if m.get("source") == source), None)
    wanted, roots = memory.objects(profile)[name].get("id"), {n.get("id") for n in profile.root.find("nodes") if n.get("region") is None}
    for node in profile.root.find("nodes"):
        for values in node.findall("values"):
            if node.get("id") in roots and (values.get("set"), values.get("object"), values.get("location")) == (number, wanted, "0"):
                return [int(v) for v in values.text.split()[:2]]
    return None


def check(verdict, scratch, title, words, writes=11, **settings):
    """A run with two back ends; one that is not permitted here is left out."""
    folder = scratch.file("run-" + title.replace(" ", "-"), "x")
    outcome = harness.execute(words, os.path.dirname(folder), OMP_NUM_THREADS=2, **settings)
    verdict.equal((outcome.status, outcome.out), (3, "done\n"), title + ": the program's status and output")
    profile = outcome.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    refused = [m for m in outcome.messages() if "OMPP_DATA_BACKEND=" in m]
    for source, backend, name, wanted in ((FAULTS, "page-faults", "pages", [10, 10]), (WATCHED, "breakpoints", "flag", [writes, writes])):
        if any("=" + backend in m for m in refused):
            print("note: %s: %s" % (title, refused))
        else:
            verdict.equal(outside(profile, source, name), wanted, "%s: %s outside regions" % (title, name))


def check_children(verdict, lines, scratch, ompp, program):
    """With --children the program itself is measured as without, and so is what it starts."""
    said, reports = lines("children, nothing asked", [ompp, "--children", "--", program])
    verdict.check(len(said) == 1 and "no report" in said[0] and reports == 0, "children, nothing asked: %s, %d reports" % (said, reports))
    said, reports = lines("children", [ompp, "--children", "--ctr1=none_such", "--", program])
    verdict.equal(reports, 1, "children: the program itself: %s" % said)
    script = "%s >&2; %s; exit $?" % (program, program)
    folder = os.path.dirname(scratch.file("script", "x"))
    # A shell that ends by _exit, as dash does, leaves its profile.
    outcome = harness.execute([ompp, "--children", "--ctr1=none_such", "--", "sh", "-c", script], folder, OMPP_JOB_DIR=folder)
    names = sorted(os.path.basename(r).split(".")[0] for r in outcome.reports("txt"))
    verdict.equal((outcome.status, names[-2:]), (3, [os.path.basename(program)] * 2), "children of a script: %s" % names)


def main():
    scratch, verdict = harness.Scratch("lone"), harness.Verdict("lone")
    ompp, data = harness.command("ompp"), {"OMPP_DATA": "flag,pages", "OMPP_DATA_BACKEND": "page-faults,breakpoints"}
    options = ["--data=flag,pages", "--data-backend=page-faults,breakpoints"]
    for compiler in [c for c in harness.COMPILERS.values() if shutil.which(c)] or harness.skip("no compiler"):
        program = build(scratch, compiler + " openmp", compiler, "-fopenmp")
        check(verdict, scratch, compiler + " openmp options", [ompp, *options, "--", program], 10)
        check(verdict, scratch, compiler + " openmp apart", [ompp, *[w for o in options for w in o.split("=")], "--", program], 10)
        check(verdict, scratch, compiler + " openmp environment", [ompp, "--", program], 10, **data)
    program = build(scratch, "serial", compiler)
    check(verdict, scratch, "serial options", [ompp, *options, "--", program])
    check(verdict, scratch, "serial environment", [ompp, "--", program], **data)
    linked = build(scratch, "linked", compiler, before=[harness.command("kinst-ompp")])
    check(verdict, scratch, "serial linked", [linked], **data)

    def lines(title, words, **settings):
        outcome = harness.execute(words, os.path.dirname(scratch.file(title.replace(" ", "-") + "-run", "x")), **settings)
        verdict.equal((outcome.status, outcome.out), (3, "done\n"), title + ": the program's status and output")
        return outcome.messages(), len(outcome.reports("txt"))

    said, reports = lines("no samples", [ompp, "--sample=off", "--", program])
    verdict.check(len(said) == 1 and "no report" in said[0] and reports == 0, "no samples: %s, %d reports" % (said, reports))
    said, reports = lines("nothing asked", [ompp, "--", program])
    verdict.check(len(said) + reports == 1, "nothing asked: %s, %d reports" % (said, reports))
    check_children(verdict, lines, scratch, ompp, program)
    verdict.equal(lines("linked, nothing asked", [linked]), ([], 0), "linked, nothing asked: silence")
    verdict.equal(lines("a counter", [linked], OMPP_CTR1="none_such")[1], 1, "a counter is asked for: a report")
    said = lines("papi", [linked], OMPP_DATA="flag", OMPP_DATA_BACKEND="papi", OMPP_CTR1="none_such")[0]
    present = os.path.exists(os.path.join(harness.BUILD, ".libs", "libompp-papi.so"))
    verdict.check(not present or any("restrict to addresses" in m for m in said), "papi: why its back end is not there: %s" % said)
    verdict.equal(harness.execute([ompp, "--data", "--", program], scratch.path).status, 2, "an option without its value")
    library = os.path.join(harness.BUILD, ".libs", "libompp.so")
    if os.path.exists(library):
        verdict.equal(lines("inherited", [program], LD_PRELOAD=library, **data), ([], 0), "what inherits the environment is left alone")
    verdict.finish(scratch)


main()
