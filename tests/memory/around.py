#!/usr/bin/env python3
"""A variable around an OpenMP region is counted for by its name on each thread, and as another thread's on all but one; so is a variable
of the region's own, on its thread."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

N = 1000
LOADS, STORES = (memory.LOADS, memory.FOREIGN_LOADS), (memory.STORES, memory.FOREIGN_STORES)


def sums(profile, name):
    """Loads, foreign loads, stores, foreign stores of all structures whose name begins so."""
    of, every = memory.objects(profile), memory.sums(profile)
    found = [every[o.get("id")] for key, o in of.items() if name in key and o.get("id") in every]
    return tuple(sum(values[k] for values in found) for k in LOADS + STORES)


def main():
    scratch, verdict = harness.Scratch("around"), harness.Verdict("around")
    for name, compiler in memory.compilers("gcc", "clang"):
        for level in ("-O2", "-O3"):
            program = scratch.file(name + level)
            memory.build(compiler, os.path.join(memory.HERE, "around.c"), program, level, "-g")
            for threads in (1, 2, 4):
                title = "%s %s, %d threads" % (name, level, threads)
                run = harness.run(program, scratch.file("run %s" % title), threads)
                verdict.equal((run.status, run.out), (0, "%d\n" % (5 + threads * (5 * N + 997))), title + ": output")
                profile = run.profile()
                profile.root = ElementTree.parse(profile.path).getroot()
                verdict.equal(sums(profile, "::shared [stack]"), (1 + threads * N, (threads - 1) * N, 1, 0), title + ": shared")
                if name == "clang":  # gcc's debug information does not always have such a variable's place
                    loads, _, stores, foreign = sums(profile, "::own [stack]")
                    verdict.equal((loads, foreign), (threads, 0), title + ": own")
                    verdict.check(threads * N <= stores <= threads * (N + 4), "%s: own: %d stores" % (title, stores))
    verdict.finish(scratch)


main()
