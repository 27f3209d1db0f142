#!/usr/bin/env python3
"""
User regions through ompp.h: exact counts for nesting, recursion, scopes, exceptions, tasks and names made at run time; begins and ends
that do not match give one warning, and times still add up. Without ompp the header does nothing.
"""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))

import harness  # noqa: E402

FOLDER = os.path.join(harness.SOURCE, "tests", "user")
INCLUDE = "-I" + os.path.join(harness.SOURCE, "include")

COUNTS = {
    "deep": "1001", "scoped": "1", "turn": "6", "described": "1", "around": "1", "inside": "T", "in task": "3", "twice": "3",
    "crossing in": "1", "crossing out": "1", "first": "1", "second": "1", "handed over": "1", "mine": "1", "left open": "1",
    "switched": "1",
}
CXX_COUNTS = {"thrown": "6", "inner": "6", "tried": "6", "caught": "3", "instance 1": "1", "instance 2": "2", "outer": "1", "lost": "1"}
NAMES = 100


def compiler(how, cxx):
    name = harness.COMPILERS[how]
    return name.replace("clang", "clang++").replace("gcc", "g++") if cxx else name


def build(how, source, output, *flags, cxx=False, instrument=True):
    words = [harness.command("kinst-ompp"), "--with=" + how] if instrument else []
    words += [compiler(how, cxx), "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fopenmp", "-pthread", *flags, INCLUDE, source, "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))


def check_counts(verdict, profile, counts, threads, title):
    for name, wanted in counts.items():
        regions = profile.find("USER REGION", name=name)
        verdict.equal(len(regions), 1, "%s: regions called %s" % (title, name))
        found = sum(profile.total("execC", regions).values())
        verdict.equal(found, eval(wanted, {"T": threads}), "%s: executions of %s" % (title, name))


def mismatches(profile):
    return {(c["subject"], c.get("reason", "")): int(c["count"]) for c in profile.coverage if c["kind"] == "mismatch"}


def check_places(verdict, profile, source, title):
    begin, _ = harness.labels(source)
    for label in begin:
        for region in profile.find("USER REGION", name=label):
            if label != "described":
                verdict.equal((os.path.basename(region.file), region.begin), (os.path.basename(source), begin[label]), title + ": " + label)


def test_c(verdict, scratch, how, cxx):
    source, title = os.path.join(FOLDER, "regions.c"), "%s%s" % (how, " as C++" if cxx else "")
    program = scratch.file(title, "regions")
    build(how, source, program, *(("-x", "c++") if cxx else ()), cxx=cxx)
    for threads in (1, 2, 4):
        outcome = harness.run(program, scratch.file(title, str(threads)), threads)
        verdict.equal((outcome.status, outcome.out), (0, "%d\n" % (1005 + threads)), title + ": result")
        messages = outcome.messages()
        verdict.equal(len([m for m in messages if "not open" in m or "outer one" in m]), 1, title + ": warnings %s" % messages)
        profile = outcome.profile()
        verdict.profile(profile, title)
        check_counts(verdict, profile, COUNTS, threads, "%s T=%d" % (title, threads))
        check_places(verdict, profile, source, title)
        verdict.equal(profile.total("execC", profile.find("USER REGION", name="unseen")), {}, title + ": a region while measurement is off")
        made = [r for r in profile.find("USER REGION") if r.name.startswith("name ")]
        verdict.equal(len(made), NAMES, title + ": names made at run time")
        verdict.equal(sum(profile.total("execC", made).values()), NAMES, title + ": executions of these")
        found = mismatches(profile)
        # Ended by others: crossing out by its parallel region, second by first. Not open: crossing in inside the region, crossing
        # out, second, never begun, handed over in another thread.
        verdict.equal(sum(n for (what, _), n in found.items() if what.startswith("regions ended")), 2, title + ": unclosed %s" % found)
        verdict.equal(sum(n for (what, _), n in found.items() if what.startswith("ends of")), 5, title + ": unopened %s" % found)
        verdict.equal(found.get(("ends of regions that were not open", "never begun")), 1, title + ": names the one never begun")


def test_many(verdict, scratch, how):
    """More names than any table has room for."""
    profile = harness.run(os.path.join(scratch.path, how, "regions"), scratch.file(how, "many"), 2, args=["many"]).profile()
    check_counts(verdict, profile, COUNTS, 2, how + ": many names")
    made = [r for r in profile.find("USER REGION") if r.name.startswith("name ")]
    counts = set(sum(profile.total("execC", [r]).values()) for r in made)
    verdict.equal((len(made), counts), (20 * NAMES, {1}), how + ": many names, executed once")


def test_cxx(verdict, scratch, how):
    source, title = os.path.join(FOLDER, "regions.cc"), how + " C++"
    program = scratch.file(title, "regions")
    build(how, source, program, cxx=True)
    outcome = harness.run(program, scratch.file(title, "1"), 1)
    verdict.equal((outcome.status, outcome.out), (0, "101\n"), title + ": result")
    profile = outcome.profile()
    verdict.profile(profile, title)
    check_counts(verdict, profile, CXX_COUNTS, 1, title)
    check_places(verdict, profile, source, title)
    verdict.equal(mismatches(profile), {("regions ended by the end of an outer one", "lost"): 1}, title + ": coverage")


def test_without(verdict, scratch, how):
    """The plain program: without library, without header's functions, measured by the launcher, or linked statically."""
    source, off = os.path.join(FOLDER, "regions.c"), scratch.file("without", "off.o")
    program = scratch.file("without", how)
    build(how, source, program, "-fno-openmp", "-Wno-unknown-pragmas", instrument=False)
    outcome = harness.run(program, scratch.file("without", how + "-plain"), 1)
    verdict.equal((outcome.status, outcome.out, outcome.reports()), (0, "1006\n", []), how + ": plain program")
    folder = scratch.file("without", how + "-launched", "x")
    outcome = harness.execute([harness.command("ompp"), "--", program], os.path.dirname(folder))
    check_counts(verdict, outcome.profile(), {"deep": "1001", "turn": "6"}, 1, how + ": plain program, launched")
    build(how, source, off, "-c", "-DOMPP_OFF", "-fno-openmp", "-Wno-unknown-pragmas", "-Wno-unused", instrument=False)
    if shutil.which("nm"):
        symbols = harness.execute(["nm", off], os.path.dirname(off)).out
        verdict.check("ompp_" not in symbols and "POMP" not in symbols, how + ": OMPP_OFF leaves nothing: " + symbols)


def test_disabled(verdict, scratch, how, program):
    outcome = harness.run(program, scratch.file("disabled", how), 2, OMPP_DISABLE_USER_REGION="1")
    profile = outcome.profile()
    verdict.equal(profile.find("USER REGION"), [], "OMPP_DISABLE_USER_REGION")
    verdict.equal(mismatches(profile), {}, "OMPP_DISABLE_USER_REGION: coverage")


def main():
    verdict, scratch = harness.Verdict("regions"), harness.Scratch("regions")
    for how in harness.sources():
        test_c(verdict, scratch, how, False)
        if shutil.which(compiler(how, True)):
            test_c(verdict, scratch, how, True)
            test_cxx(verdict, scratch, how)
        test_many(verdict, scratch, how)
        test_without(verdict, scratch, how)
        test_disabled(verdict, scratch, how, os.path.join(scratch.path, how, "regions"))
    verdict.finish(scratch)


main()
