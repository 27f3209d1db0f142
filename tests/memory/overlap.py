#!/usr/bin/env python3
"""Structures that share bytes or names: parts named from outside, the same variable twice, names that the source uses, too."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <vector>
struct cell { int id; double val[4]; };
struct cell cells[8];
namespace geo { struct K { static volatile long hits[4]; }; }
volatile long geo::K::hits[4];
double *dyn;
struct cell *const all = cells;
std::vector<double> gv;
int main(int argc, char **)
{
    dyn = (double *)malloc(10 * sizeof *dyn);
#pragma pomp inst data(dyn, 10 * sizeof *dyn, "dyn")
    volatile double *d = dyn;
    for (int i = 0; i < 10; i++) d[i] = i;
    for (int i = 0; i < 8; i++) {
        volatile struct cell *c = &cells[i];
        c->id = i;
        for (int k = 0; k < 4; k++) c->val[k] = k;
    }
    for (int i = 0; i < 6; i++) geo::K::hits[i % 4] = i;
    if (argc > 1) {
#pragma pomp inst data(cells, sizeof cells, "around")
        volatile struct cell *c = &cells[4];
        for (int k = 0; k < 4; k++) c->val[k] = k;
    }
#pragma omp parallel
    { }
    gv.resize(3);
    puts("done");
}
"""


def run(scratch, program, title, names, args=(), **more):
    outcome = harness.run(program, scratch.file("run-" + title), 2, args=args, OMPP_DATA=names, **more)
    profile = outcome.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    stores = {name: memory.counts(profile, name)[memory.STORES] for name in memory.objects(profile)}
    return outcome, stores, {c.get("subject", ""): c.get("reason", "") for c in profile.coverage}


def parts(verdict, scratch, program):
    for title, names in (("inner-first", "cells[4].val[1:2],cells"), ("inner-last", "cells,cells[4].val[1:2]")):
        _, stores, coverage = run(scratch, program, title, names)
        verdict.equal((stores["cells"], stores["cells[4].val[1:2]"]), (38, 2), title)
        verdict.check(not any("cells" in c for c in coverage), title + ": nothing to say")
        _, stores, coverage = run(scratch, program, title + "-around", names, ("x",))
        verdict.equal((stores["cells"], stores["cells[4].val[1:2]"], stores["around"]), (38, 4, 2), title + ": named around it later")
        verdict.check("around" in coverage.get("data structure cells", ""), title + ": a hidden one is said: %s" % coverage)


def nothing_left(verdict, scratch, program):
    """All bytes of a structure belong to its parts, each of which has some."""
    for title, names in (("parts-last", "cells,cells[:3],cells[3:5]"), ("parts-first", "cells[:3],cells[3:5],cells")):
        _, stores, coverage = run(scratch, program, title, names)
        verdict.equal((stores["cells"], stores["cells[:3]"], stores["cells[3:5]"]), (0, 15, 25), title)
        verdict.check("parts" in coverage.get("data structure cells", ""), title + ": nothing is left, and said: %s" % coverage)


def twice(verdict, scratch, program):
    outcome, stores, coverage = run(scratch, program, "twice", "hits,geo::K::hits")
    verdict.equal({s: n for s, n in stores.items() if s != "dyn"}, {"hits": 6}, "the same variable twice: one structure")
    verdict.check("the same as hits" in coverage.get("OMPP_DATA: geo::K::hits", ""), "the same variable twice is said: %s" % coverage)


def shared_name(verdict, scratch, program):
    _, stores, coverage = run(scratch, program, "shared", "dyn")
    verdict.equal(stores, {"dyn": 10, "OMPP_DATA:dyn": 1}, "a name of the source is its own")
    verdict.check("OMPP_DATA:dyn" in coverage, "a name of the source: said")


def refused(verdict, scratch, program):
    wanted = {"nothing": "no variable", "cells[60]": "out of bounds", "main": "is a function", "printf": "is a function",
              "cells.id": "needs an index", "gv": "a container"}
    _, stores, coverage = run(scratch, program, "refused", ",".join(wanted))
    for name, word in wanted.items():
        verdict.check(word in coverage.get("OMPP_DATA: " + name, ""), "%s: the reason is not in Coverage: %s" % (name, coverage))


def counted(verdict, scratch, program):
    """Names by their last parts; columns of structures in evaluators; what was counted outside regions."""
    outcome, stores, _ = run(scratch, program, "counted", "K::hits", OMPP_EVAL1="stores(K::hits)+1", OMPP_EVAL2="bytes(K::hits)")
    verdict.equal(stores["K::hits"], 6, "a name by its last parts")
    verdict.check(any("OMPP_EVAL2" in m and "stores(name)" in m for m in outcome.messages()), "bytes(): %s" % outcome.messages())
    text = open(outcome.reports("txt")[0]).read()
    sums = [line.split() for line in text.split("\n") if line.startswith(" SUM")]
    verdict.equal(sums[0][-1] if sums else None, "1.00", "a structure in an evaluator")
    outside = next((line for line in text.split("\n") if line.startswith("Outside Regions")), "")
    verdict.check("stores(K::hits) 6" in outside and "stores(dyn) 10" in outside, "outside regions: '%s'" % outside)


def main():
    scratch, verdict = harness.Scratch("overlap"), harness.Verdict("overlap")
    for name, compiler in memory.compilers("g++", "clang++"):
        source, program = scratch.file("overlap.cc"), scratch.file("overlap-" + name)
        with open(source, "w") as f:
            f.write(SOURCE)
        memory.build(compiler, source, program, "-O1")
        for test in (parts, nothing_left, twice, shared_name, refused, counted):
            test(verdict, harness.Scratch("overlap-" + name), program)
    verdict.finish(scratch)


main()
