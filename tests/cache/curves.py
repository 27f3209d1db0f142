#!/usr/bin/env python3
"""Miss curves against the reuse distances of the same accesses, all of them, and rate, bursts, ranks and threads."""

import os

import caches
from caches import harness, memory

SIZES = ["%d%s" % (1 << k % 10, "kM"[k // 10]) for k in range(19)]
SHORT = "rows columns triad gather list stencil product blocked".split()
MEAN = 0.01  # of the error of the miss ratio over all sizes


def exact(scratch, source):
    """The program with gcc's own hooks and brute force behind them."""
    program, flags = scratch.file("exact"), ["-O1", "-g", "-I", os.path.join(harness.SOURCE, "src")]
    object_file = scratch.file("exact.o")
    for words in (["gcc", *flags, "-fsanitize=thread", "-c", source, "-o", object_file],
                  ["gcc", *flags, object_file, os.path.join(caches.HERE, "exact.c"),
                   os.path.join(harness.SOURCE, "src", "cache", "ompp_reuse.c"), "-o", program]):
        done = harness.execute(words, scratch.path)
        if done.status != 0:
            harness.skip("cannot build: " + done.err[-500:])
    return program


def truth(program, name, folder):
    words = next(line for line in harness.execute([program, name], folder).err.splitlines() if line.startswith("exact")).split()
    return [int(word) / int(words[1]) for word in words[2:]]


def curve(row):
    references = row["loads"] + row["stores"]
    return [None if row["misses " + size] is None else row["misses " + size] / references for size in SIZES]


def errors(found, wanted):
    return [abs(a - b) for a, b in zip(found, wanted) if a is not None]


def told(verdict, title, rows):
    """What regions and structures have adds up to all data, or to less where some cannot be told."""
    leaves = [row for (region, name), row in rows.items() if region != "all" and name != "(all data)"]
    for size in SIZES:
        values = [row["misses " + size] for row in leaves]
        known, whole = sum(v for v in values if v is not None), rows["all", "(all data)"]["misses " + size]
        verdict.check(whole is None or known <= whole and (None in values or known == whole), "%s: sum at %s: %s of %s" % (title, size, known, whole))


def few_lines(verdict, scratch, compiler, title):
    """Of structures with few lines, or seldom met, what cannot be told is left out, and what is told is right."""
    program = scratch.file("few-" + title)
    memory.build(compiler, os.path.join(caches.HERE, "few.c"), program, "-O1")
    rows = caches.simulate(program, scratch.file("alike"), "curves", ("alike",)).rows
    told(verdict, "alike", rows)
    for k in range(10):
        found = curve(rows["all", "m%d" % k])
        verdict.check(None not in found[2:8], "m%d: known up to 128 KiB: %s" % (k, found))
        verdict.check(all(f is None or abs(f - 0.125) < 0.05 for f in found[2:13]), "m%d: one of 8: %s" % (k, found))
    rows = caches.simulate(program, scratch.file("once"), "curves", ("once",)).rows
    told(verdict, "once", rows)
    for name in "hot", "seldom":
        found = curve(rows["all", name])
        verdict.check(all(f is None or f < 0.01 for f in found[4:]), "%s fits 16 KiB: %s" % (name, found))
    verdict.check(None not in curve(rows["all", "hot"])[4:8], "hot is known: %s" % curve(rows["all", "hot"]))


def main():
    scratch, verdict = harness.Scratch("cache-curves"), harness.Verdict("cache-curves")
    source = os.path.join(caches.HERE, "programs.c")
    judge = exact(scratch, source)
    for title, compiler in memory.compilers("gcc"):
        program = scratch.file(title)
        memory.build(compiler, source, program, "-O1")
        for name in SHORT:
            run = caches.simulate(program, scratch.file(name), "curves", (name,), OMPP_CACHE_RATE="8")
            wrong = errors(curve(run.rows["all", "(all data)"]), truth(judge, name, scratch.path))
            print("%-8s mean error %.4f, largest %.4f, sizes %d" % (name, sum(wrong) / len(wrong), max(wrong), len(wrong)))
            verdict.check(len(wrong) == len(SIZES) and sum(wrong) / len(wrong) <= MEAN, "%s: errors %s" % (name, wrong))
        few_lines(verdict, scratch, compiler, title)
        # what is short is followed as a whole, and exact
        run = caches.simulate(program, scratch.file("whole"), "curves", ("rows",))
        wrong = errors(curve(run.rows["all", "(all data)"])[:11], truth(judge, "rows", scratch.path)[:11])
        verdict.check(max(wrong) < 0.0005, "rows: exact, %s" % wrong)
        verdict.check("One of 64 lines was followed" in caches.text_of(run), "the rate is told: " + caches.text_of(run)[-3000:])
        run = caches.simulate(program, scratch.file("model"), "model", ("rows",))
        verdict.check("ompp Caches" in caches.text_of(run), "the model of this machine")
    verdict.finish(scratch)


main()
