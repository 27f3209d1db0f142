#!/usr/bin/env python3
"""
Whose a barrier behind single is, in programs on libgomp, and where constructs stand beside inlined code. Each line of singles.c and
places.* names behind "//" what the report has there, and the report has nothing else.
"""

import collections
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

KINDS = "PARALLEL|LOOP|BARRIER|SINGLE"


def wanted(*names):
    """{(file, line): kind} of the lines with a kind behind "//"."""
    found = {}
    for name in names:
        with open(os.path.join(HERE, name)) as file:
            for number, line in enumerate(file, 1):
                kind = re.match(r"#pragma omp .* // (\w+)$", line)
                if kind:
                    found[name, number] = kind[1]
    return found


with open(os.path.join(HERE, "singles.c")) as source:
    NOWAIT = next(n for n, line in enumerate(source, 1) if "nowait // W" in line)  # the one that a barrier follows directly


def measure(verdict, scratch, title, words, source, *files):
    """The profile and the text of its report; sources: what the program finds of its source text as it ends, None = all."""
    folder = scratch.file(title.replace(" ", "_"), "x")[:-2]
    for name in (source, *files):
        shutil.copy(os.path.join(HERE, name), folder)
    program = os.path.join(folder, "program")
    done = harness.execute([*words, "-g", "-fopenmp", os.path.join(folder, source), "-o", program], folder)
    if done.status:
        raise harness.Failure("%s: %s" % (title, done.err[-800:]))
    if "no text" in title:
        for name in (source, *files):
            os.unlink(os.path.join(folder, name))
    outcome = harness.execute([harness.command("ompp"), "--", program], folder, OMP_NUM_THREADS=2, OMP_WAIT_POLICY="passive")
    verdict.equal((outcome.status, outcome.messages()), (0, []), title + ": " + outcome.err[-300:])
    verdict.profile(outcome.profile(), title)
    with open(outcome.reports("txt")[0]) as file:
        return outcome.profile(), file.read()


def is_waited(profile, region):
    return sum(profile.total("exitBarT", [region]).values()) > 0


def singles(verdict, scratch, title, words):
    profile, report = measure(verdict, scratch, title, words, "singles.c")
    found = {}
    for region in profile.find("SINGLE|BARRIER"):
        kind = "B" if region.type == "BARRIER" else "W" if is_waited(profile, region) else "S"
        found[os.path.basename(region.file), region.begin] = kind
    if "no text" in title:  # lines are those of the code, where parts may be several times
        count, lines = collections.Counter(found.values()), collections.Counter(wanted("singles.c").values())
        verdict.check(count["S"] == lines["S"] and count["B"] == lines["B"] and count["W"] >= lines["W"], "%s: %s" % (title, found))
        return
    verdict.equal(found, wanted("singles.c"), title)
    nowait = {r.begin for r in profile.find("SINGLE") if r.end > r.begin + 1 and is_waited(profile, r) and r.begin == NOWAIT}
    advice = {int(line): name for name, line in re.findall(r"'(\w+)' holds for\n *'SINGLE singles.c \((\d+)-", report)}
    verdict.equal((nowait, advice.pop(NOWAIT, "")), ({NOWAIT}, "WaitAtBarrier"), title + ": nowait, and a barrier behind it")
    verdict.equal(set(advice.values()), {"UnparallelizedInSingleRegion"}, title + ": advice")


def places(verdict, scratch, title, words):
    profile, _ = measure(verdict, scratch, title, words, "places.cc", "places.h")
    found = {(os.path.basename(r.file), r.begin): r.type for r in profile.find(KINDS)}
    lines = wanted("places.cc", "places.h")
    if "no text" in title:  # each in a function of ours; what the compiler knows is kept
        files = collections.Counter((name, kind) for (name, _), kind in found.items())
        verdict.equal({name for name, _ in files}, {"places.cc", "places.h"}, "%s: files of %s" % (title, found))
        verdict.check(files["places.h", "SINGLE"] == 1 and files["places.cc", "PARALLEL"] == 3, "%s: %s" % (title, found))
        return
    verdict.equal(found, lines, title)


def main():
    verdict, scratch = harness.Verdict("places"), harness.Scratch("places")
    if not harness.preloaded_sources():
        harness.skip("no gcc")
    gcc = harness.COMPILERS["opari"]
    for level in "O0", "O1", "Os", "O2", "O3", "O2 no text":
        singles(verdict, scratch, "single -" + level, [gcc, "-" + level[:2]])
    if not shutil.which("g++"):
        print("note: no g++ for places of inlined code")
    else:
        for level in "O1", "O2", "O3", "O3 no text":
            places(verdict, scratch, "places -" + level, ["g++", "-" + level[:2]])
    verdict.finish(scratch)


main()
