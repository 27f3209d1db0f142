#!/usr/bin/env python3
"""
OMPP_DISABLE_*: the construct is not in the report, everything else is as before, all rules of a report hold, and the time of the
construct belongs to what is around it.
"""

import os
import shutil

import harness

SOURCE = os.path.join(harness.HERE, "disable.c")
THREADS, NAP_NS = 2, 5000000
MOST_NS = 3  # of a call of ours that does nothing, with the call itself

# Prints ns of an atomic update, the least of some rounds.
ATOMICS = """
#include <omp.h>
#include <stdio.h>
int main(void)
{
    double least = 1e9;
    static double sum;
#pragma omp parallel
    sum = 0;
    for (int r = 0; r < 20; r++) {
        double t = omp_get_wtime();
        for (int i = 0; i < 200000; i++) {
#pragma omp atomic
            sum += 1;
        }
        t = (omp_get_wtime() - t) / 200000 * 1e9;
        if (t < least) least = t;
    }
    printf("%.2f\\n", least);
    return 0;
}
"""

# Variable -> types that it takes away, naps of the program inside them.
VARIABLES = {
    "LOOP": (("LOOP",), 2), "SECTIONS": (("SECTIONS",), 2), "SINGLE": (("SINGLE",), 1), "MASTER": (("MASTER",), 1),
    "CRITICAL": (("CRITICAL",), 2), "ATOMIC": (("ATOMIC",), 0), "FLUSH": (("FLUSH",), 0), "BARRIER": (("BARRIER",), 0),
    "LOCK": (("LOCK",), 2), "LOCKS": (("LOCK",), 2), "USER_REGION": (("USER REGION",), 2), "UNTIED": (("UTASK", "UTASKEXEC"), 0),
}
NOT_SEEN = {"opari": (), "ompt": ("ATOMIC", "FLUSH")}  # by this source at all: docs/openmp.md


def counts(profile):
    """{type: (regions, executions)}"""
    result = {}
    for region in profile.regions:
        regions, executions = result.get(region.type, (0, 0))
        result[region.type] = (regions + 1, executions + sum(profile.total("execC", [region]).values()))
    return result


def parents(profile, kinds):
    """(file line of the parallel region) around regions of these types."""
    found = set()
    for node in profile.nodes[1:]:
        if node.region.type in kinds:
            while node.region.type != "PARALLEL":
                node = node.parent
            found.add(node.region.begin)
    return found


def own_time(profile, lines):
    """Exclusive time of the parallel regions that begin on these lines."""
    return sum(p.time - p.child - p.task for node in profile.nodes[1:] if node.region.type == "PARALLEL" and node.region.begin in lines
               for phases in node.phases.values() for p in phases.values())


def test(verdict, scratch, how):
    program = scratch.file(how, "disable")
    harness.build(SOURCE, program, how, flags=("-O1", "-g", "-I" + os.path.join(harness.SOURCE, "include")))
    base = harness.run(program, scratch.file(how + "-base", "x")[:-2], THREADS).profile()
    verdict.profile(base, how)
    before = counts(base)
    for variable, (kinds, naps) in VARIABLES.items():
        title = "%s, OMPP_DISABLE_%s" % (how, variable)
        outcome = harness.run(program, scratch.file("%s-%s" % (how, variable), "x")[:-2], THREADS, **{"OMPP_DISABLE_" + variable: "1"})
        profile = outcome.profile()
        verdict.profile(profile, title)
        verdict.equal((outcome.status, outcome.out, outcome.messages()), (0, "%d\n" % THREADS, []), title + ": the program")
        if kinds[0] not in NOT_SEEN[how]:
            verdict.check(kinds[0] in before, title + ": the construct is not there without the variable")
        verdict.equal(counts(profile), {k: v for k, v in before.items() if k not in kinds}, title + ": regions and executions")
        lines = parents(base, kinds)
        if naps and kinds[0] in before:
            time = own_time(profile, lines)
            verdict.check(time >= naps * NAP_NS, "%s: the region around it has %d ns, %d naps of %d" % (title, time, naps, NAP_NS))
        text = open(profile.path[:-3] + "txt").read()
        for kind in kinds:
            name = "OMPP_DISABLE_LOCK" if variable == "LOCKS" else "OMPP_DISABLE_" + variable
            verdict.check("switched off: %s (%s)" % (kind, name) in text, "%s: Coverage does not say that %s is off" % (title, kind))


def workshare(verdict, scratch):
    fortran = shutil.which(os.environ.get("TEST_GFORTRAN", "gfortran"))
    if not fortran:
        print("note: WORKSHARE not tested: no gfortran")
        return
    program = scratch.file("fortran", "disable")
    words = [harness.command("kinst-ompp"), fortran, "-fopenmp", "-g", os.path.join(harness.HERE, "disable.f90"), "-o", program]
    done = harness.execute(words, os.path.dirname(program))
    if not verdict.equal(done.status, 0, "gfortran: " + done.err[-500:]):
        return
    for off in (False, True):
        settings = {"OMPP_DISABLE_WORKSHARE": "1"} if off else {}
        outcome = harness.run(program, scratch.file("workshare-%d" % off, "x")[:-2], THREADS, **settings)
        profile = outcome.profile()
        verdict.profile(profile, "OMPP_DISABLE_WORKSHARE")
        verdict.equal(outcome.out, "2000\n", "OMPP_DISABLE_WORKSHARE: the program")
        expected = {"PARALLEL": (1, THREADS)} if off else {"PARALLEL": (1, THREADS), "WORKSHARE": (1, THREADS)}
        verdict.equal(counts(profile), expected, "OMPP_DISABLE_WORKSHARE=%d: regions and executions" % off)


def cheap(verdict, scratch):
    """What is switched off costs a load, a branch and a return; what is left out at build costs nothing, and the report says so."""
    program, left_out = scratch.file("cheap", "atomics"), scratch.file("cheap", "left_out")
    source = scratch.file("cheap", "atomics.c")
    with open(source, "w") as file:
        file.write(ATOMICS)
    harness.build(source, program, "opari", flags=("-O2", "-g"))
    words = [harness.command("kinst-ompp"), "--disable=atomic", harness.COMPILERS["opari"], "-fopenmp", "-O2", source, "-o", left_out]
    verdict.equal(harness.execute(words, os.path.dirname(program)).status, 0, "kinst-ompp --disable=atomic")
    words[1] = "--disable=nothing"
    verdict.equal(harness.execute(words, os.path.dirname(program)).status, 2, "kinst-ompp --disable=nothing")

    def attempt():
        run = lambda name, path, **s: float(harness.run(path, scratch.file("cheap-" + name, "x")[:-2], 1, **s).out)
        off, none = run("off", program, OMPP_OVERWRITE="1", OMPP_DISABLE_ATOMIC="1"), run("none", left_out, OMPP_OVERWRITE="1")
        return (["switched off: %.1f ns a call" % ((off - none) / 2)] if (off - none) / 2 > MOST_NS else []), 1

    verdict.timed(attempt)
    text = open(os.path.join(scratch.path, "cheap-none", "left_out.1.ompp.txt")).read()
    verdict.check("switched off: ATOMIC (left out at build: kinst-ompp --disable)" in text, "Coverage does not say that ATOMIC is left out")
    verdict.check("ATOMIC: 1 region" not in text, "ATOMIC is there, left out at build")


def main():
    verdict, scratch = harness.Verdict("disable"), harness.Scratch("disable")
    sources = harness.sources()
    for how in sources:
        test(verdict, scratch, how)
    if "opari" in sources:
        workshare(verdict, scratch)
        cheap(verdict, scratch)
    verdict.finish(scratch)


main()
