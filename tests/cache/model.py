#!/usr/bin/env python3
"""
Misses of the model against valgrind's cachegrind with the same caches: six programs, two that are blocked and one of local variables, gcc
and clang. Counts by structure are those of a run without caches.
"""

import os
import re
import shutil
import xml.etree.ElementTree as ElementTree

import caches
from caches import harness, memory

PROGRAMS = "rows columns triad gather list stencil product blocked local".split()
CACHES = ("32768,8,64", "262144,8,64")
# of cachegrind's misses; both count the same accesses but for the stack, which hits, and the C library
TOLERANCE, LEAST = 0.01, 300


def cachegrind(program, name, folder):
    """Misses of data, of L1 and of the last level."""
    words = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--D1=" + CACHES[0], "--LL=" + CACHES[1],
             "--cachegrind-out-file=/dev/null", program, name]
    said = harness.execute(words, folder).err
    return [int(re.search(title + r"\s+misses:\s+([\d,]+)", said).group(1).replace(",", "")) for title in ("D1", "LLd")]


def counts(outcome):
    """Loads and stores by structure."""
    profile = outcome.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    names = {o.get("id"): name for name, o in memory.objects(profile).items()}
    return {names.get(k, ""): v[:4] for k, v in memory.sums(profile).items()}


def same_counts(verdict, scratch, program, title):
    """Where caches are simulated, each structure has the loads and stores that it has else."""
    found = {}
    for mode in ("off", "curves", "model"):
        folder = scratch.file("%s-counts-%s" % (title, mode))
        found[mode] = counts(harness.run(program, folder, 1, args=("local",), OMPP_CACHE=mode))
        verdict.equal(found[mode], found["off"], "%s: counts, %s" % (title, mode))
    for name in ("local::wide", "deep::v"):
        verdict.check(name + " [stack]" in found["off"], "%s: %s of %s" % (title, name, sorted(found["off"])))


def main():
    if not shutil.which("valgrind"):
        harness.skip("no valgrind")
    scratch, verdict = harness.Scratch("cache-model"), harness.Verdict("cache-model")
    source = os.path.join(caches.HERE, "programs.c")
    machine = caches.describe(scratch, "machine", "L1 32k 8 64", "L2 256k 8 64")
    for title, compiler in memory.compilers("gcc", "clang"):
        flags = ("-O1", "-fno-unroll-loops") + (("-fno-vectorize", "-fno-slp-vectorize") if title == "clang" else ())
        plain, program = scratch.file("plain-" + title), scratch.file("hooks-" + title)
        harness.execute([compiler, *flags, source, "-o", plain], scratch.path)
        memory.build(compiler, source, program, *flags)
        start = cachegrind(plain, "nothing", scratch.path)
        same_counts(verdict, scratch, program, title)
        for name in PROGRAMS:
            found = caches.simulate(program, scratch.file(title + name), "model", (name,), OMPP_CACHE_MACHINE=machine)
            verdict.equal(found.out, harness.execute([plain, name], scratch.path).out, name + ": result")
            expected = [all_of - before for all_of, before in zip(cachegrind(plain, name, scratch.path), start)]
            row = found.rows["all", "(all data)"]
            for level in (1, 2):
                wanted, got = expected[level - 1], caches.misses(row, level)
                print("%-5s %-8s L%d: %d, cachegrind %d" % (title, name, level, got, wanted))
                verdict.check(abs(got - wanted) <= TOLERANCE * wanted + LEAST,
                              "%s %s: L%d misses %d, cachegrind has %d" % (title, name, level, got, wanted))
    verdict.finish(scratch)


main()
