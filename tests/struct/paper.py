#!/usr/bin/env python3
"""
Samples of programs whose hot loops the source does not show where they run: in functions of templates that the compiler has inlined
(paper.cc: the C++ library's, and expression templates), and loops that copy arrays, which the compiler has made (paper.f90). The first are
attributed to their source and to the calls that were inlined; the others are named as the compiler's.

usage: paper.py [CASE...]
"""

import itertools
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

SECONDS = "0.5"
MADE = "made by the compiler"


def tags(name):
    return {m.group(1): number for number, line in enumerate(open(os.path.join(HERE, name)), 1) for m in re.finditer(r"[/!] @(\w+)", line)}


def samples(profile):
    """[(ns, regions from the innermost outwards)] of each line that was sampled."""
    which, index = profile.metrics["sampled_time"]
    found = []
    for node in profile.tree:
        own = sum(values[index] for (_, s), values in node.values.items() if s == which)
        chain, up = [], node
        while up is not None and up.region is not None:
            chain.append(up.region)
            up = up.caller
        if own:
            found.append((own, chain))
    return found


def share(found, within, holds):
    """Of the time below a function, also an inlined one, the part for whose chain holds() is true; and the part of all time that this function has."""
    inside = [(own, chain) for own, chain in found if any(r.type in ("FUNCTION", "INLINED") and re.search(within, r.name) for r in chain)]
    total = sum(own for own, _ in inside)
    return sum(own for own, chain in inside if holds(chain)) / max(total, 1), total / max(sum(own for own, _ in found), 1)


def loop_in(chain, file, line=None, name=None):
    """A loop of a file among the parts of the functions of a chain."""
    return any(r.type == "SOURCE LOOP" and re.search(file, r.file) and (line is None or r.begin == line) and
               (name is None or (r.name == name if not name else (r.name or "").startswith(name))) for r in chain)


def inlined(chain, name, line):
    return any(r.type == "INLINED" and re.search(name, r.name) and os.path.basename(r.file) == "paper.cc" and r.begin == line for r in chain)


def run(verdict, scratch, title, program, case):
    outcome = harness.run(harness.command("ompp"), scratch.fresh(title + case), 1, args=("--", program, case, SECONDS))
    if not verdict.equal(outcome.status, 0, "%s %s: status; stderr: %s" % (title, case, outcome.err[-300:])):
        return None, ""
    profile = outcome.profile()
    verdict.profile(profile, title + " " + case)
    shown = harness.execute([harness.command("ompp-report"), "show", "--full", "--by=callee", outcome.reports()[0]], outcome.folder).out
    return samples(profile), shown


def judge(verdict, title, found, within, holds):
    part, of_all = share(found, within, holds)
    verdict.chance(of_all > 0.4, "%s: %s has %.2f of the time" % (title, within, of_all))
    verdict.chance(part > 0.75, "%s: %.2f of the time of %s is attributed as wanted: %s" % (
        title, part, within, [(own, [(r.type, r.name, os.path.basename(r.file), r.begin) for r in chain]) for own, chain in found if not holds(chain)][:3]))


def below(shown, function):
    """The rows of what the function calls and of its loops, in ompp-report show --by=callee."""
    rows = [row.groups() for row in re.finditer(r"^ *[\d.]+ +[\d.]+ +[\d.]+  ( *)(\S.*)$", shown, re.M)]
    for i, (depth, text) in enumerate(rows):
        if re.search(r"\b%s\b" % function, text):
            return [text for _, text in itertools.takewhile(lambda row: len(row[0]) > len(depth), rows[i + 1:])]
    return []


def attempt(verdict, scratch, title, program, case, within, holds, made=None):
    """made: whether the report says of the function's loop that the compiler has made it; None: it may."""
    found, shown = run(verdict, scratch, title, program, case)
    if found:
        judge(verdict, "%s %s" % (title, case), found, within, holds)
        said = any("made by the compiler" in row for row in below(shown, within))
        verdict.chance(made is None or said == made, "%s %s: said in the report: %s" % (title, case, not made))


def cxx(verdict, scratch, wanted):
    line = tags("paper.cc")
    assign = tags("paper.h")["assign"]
    cases = {
        "accumulate": ("total", lambda c: loop_in(c, "stl_numeric.h$") and inlined(c, "accumulate", line["accumulate"])),
        "count": ("matches", lambda c: loop_in(c, "stl_algo(base)?.h$") and inlined(c, "count_if", line["count"])),
        "expression": ("combine", lambda c: loop_in(c, "paper.h$", assign) and inlined(c, "operator=", line["expression"])),
        "sort": ("order", lambda c: loop_in(c, "stl_(algo|algobase|heap).h$")),
    }
    for compiler in (harness.COMPILERS["opari"].replace("gcc", "g++"), harness.COMPILERS["ompt"].replace("clang", "clang++")):
        if not shutil.which(compiler):
            print("note: no " + compiler)
            continue
        for level in ("-O2", "-O3"):
            title = compiler + " " + level
            program = scratch.file(title.replace(" ", ""), "paper")
            done = harness.execute([compiler, "-std=c++14", level, "-g", os.path.join(HERE, "paper.cc"), "-o", program], scratch.path)
            if not verdict.equal(done.status, 0, "%s: build: %s" % (title, done.err[-300:])):
                continue
            for case, (within, holds) in cases.items():
                if wanted and case not in wanted:
                    continue
                verdict.tried(lambda v: attempt(v, scratch, title, program, case, within, holds))


def fortran(verdict, scratch, wanted):
    line = tags("paper.f90")
    cases = {
        "argument": ("row_to_library", lambda c: loop_in(c, "paper.f90$", line["argument"], MADE + ": copy of an argument")),
        "overlap": ("shifted", lambda c: loop_in(c, "paper.f90$", line["overlap"], MADE)),
        "endless": ("relaxed", lambda c: loop_in(c, "paper.f90$", line["endless"], "") and loop_in(c, "paper.f90$", None, MADE)),
        "loop": ("summed", lambda c: loop_in(c, "paper.f90$", line["loop"]) and not loop_in(c, "paper.f90$", None, MADE)),
    }
    if not shutil.which("gfortran"):
        print("note: no gfortran")
        return
    for level in ("-O0", "-O2", "-O3"):
        title = "gfortran " + level
        program = scratch.file(title.replace(" ", ""), "paper")
        for source, output in (("paper_library.f90", ["-c", "-o", program + ".o"]), ("paper.f90", [program + ".o", "-o", program])):
            done = harness.execute(["gfortran", level, "-g", os.path.join(HERE, source), *output], os.path.dirname(program))
            verdict.equal(done.status, 0, "%s: build: %s" % (title, done.err[-300:]))
        for case, (within, holds) in cases.items():
            if wanted and case not in wanted:
                continue
            verdict.tried(lambda v: attempt(v, scratch, title, program, case, within, holds, case != "loop"))


def main():
    if not os.path.exists(os.path.join(harness.BUILD, ".libs", "libompp-unwind.so")):
        harness.skip("built without Zydis (Debian package: libzydis-dev)")
    verdict, scratch, wanted = harness.Verdict("paper"), harness.Scratch("paper"), sys.argv[1:]
    cxx(verdict, scratch, wanted)
    fortran(verdict, scratch, wanted)
    verdict.finish(scratch)


main()
