#!/usr/bin/env python3
"""
Call paths of MPI calls and of parallel regions: each chain of functions, and how often it was gone through, against what the program
has counted itself. Its callers look alike on the stack. The callgraph tells places apart, and only those.
"""

import collections
import os
import re

import harness

SOURCE = os.path.join(harness.HERE, "callpaths.c")


def chain_of(node):
    """Names of the functions above a node, from the outermost on."""
    names = []
    while node.caller is not None:
        node = node.caller
        if node.region is not None and node.region.type == "FUNCTION":
            names.insert(0, node.region.name)
    return names


def chains(profile, kind, name):
    found = collections.Counter()
    for node in profile.nodes:
        if node.region is not None and node.region.type == kind and node.region.name == name:
            for place, count in node.visits.items():
                found[place, tuple(chain_of(node))] += count
    return found


def check(verdict, title, outcome, kind, name, places):
    if not verdict.equal(outcome.status, 0, title + ": status; stderr: " + outcome.err[-300:]):
        return
    profile = harness.ompp_profile.Profile(outcome.reports()[0])
    verdict.equal({r.function for r in profile.regions if (r.type, r.name) == (kind, name)}, {"target"}, title + ": function of the region")
    expected = collections.Counter()
    for line in outcome.out.splitlines():
        count, text = re.fullmatch(r"(\d+) ?(.*)", line).groups()
        # "step" calls each function, and is called by it
        names = [part for function in text.split(">")[1:] for part in (function, "step")]
        expected[tuple(["step", *names, "target"])] += int(count)
    for place in places:
        found = {names[names.index("main") + 1:] if "main" in names else names: count
                 for (where, names), count in chains(profile, kind, name).items() if where == place}
        verdict.equal(found, dict(expected), "%s: chains of thread %s" % (title, place))


def main():
    verdict, scratch = harness.Verdict("callpaths"), harness.Scratch("callpaths")
    for how in harness.sources():
        for flags in (("-O0", "-g"), ("-O3", "-g"), ("-O2", "-g", "-fno-omit-frame-pointer")):
            title = "%s %s" % (how, " ".join(flags))
            program = scratch.file(how + "-omp" + "".join(flags), "callpaths")
            harness.build(SOURCE, program, how, flags=flags)
            outcome = harness.run(program, os.path.dirname(program), 2, args=("500",), OMPP_CALLPATH="full")
            check(verdict, title, outcome, "PARALLEL", "", ((0, 0), (0, 1)))
            if not harness.mpirun():
                continue
            program = scratch.file(how + "-mpi" + "".join(flags), "callpaths")
            harness.build(SOURCE, program, how, mpi=True, flags=(*flags, "-DMPI"))
            outcome = harness.run(program, os.path.dirname(program), 1, 2, args=("20000",), OMPP_CALLPATH="full")
            check(verdict, title + " MPI", outcome, "MPI", "MPI_Barrier", ((0, 0), (1, 0)))
    verdict.finish(scratch)


main()
