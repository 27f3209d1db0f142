#!/usr/bin/env python3
"""The paper's table at a smaller size: loads of a in the main loop, exactly n * n / threads each, in the report's layout."""

import os
import re
import shutil
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

EXAMPLE = os.path.join(harness.SOURCE, "examples", "matvec")
N = 240
HEADER = r"Data Address    : 0x[0-9a-f]+\nData Size       : %d \(0x%X\)\nData Name       : a\nData Start Offs.: 0\nData End   Offs.: 0\n"


def grouped(value):
    return "{:,}".format(value).replace(",", ".")


def check_text(verdict, path, title, threads):
    text, size = open(path).read(), 8 * N * N
    verdict.check(re.search(HEADER % (size, size), text), title + ": header lines of the data range")
    table = re.search(r"^R\d{5} matvec\.\w+ \(\d+-\d+\) LOOP\n( TID .*)\n((?: +\d.*\n)+) SUM (.*)\n", text, re.M)
    if not verdict.check(table, title + ": no table of the loop"):
        return
    column = table.group(1).split().index("loads(a)")
    rows = [row.split()[column] for row in table.group(2).splitlines()]
    verdict.equal(rows, [grouped(N * N // threads)] * threads, title + ": rows")
    verdict.equal(table.group(3).split()[column - 1], grouped(N * N), title + ": sum")
    verdict.check(len(table.group(1)) == len(table.group(2).splitlines()[0]), title + ": columns are not aligned")


def check(verdict, outcome, title, threads):
    profile = outcome.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    loop = memory.region_of(profile, "LOOP")
    per_thread = memory.counts(profile, "a", loop, by_thread=True)
    for values in per_thread.values():
        verdict.equal(values[:4], [N * N // threads, 0, 8 * N * N // threads, 0], title + ": a in the loop")
    verdict.equal(len(per_thread), threads, title + ": threads that read a")
    verdict.equal(memory.counts(profile, "a")[:2], [N * N, 0], title + ": a in the program")
    everything = memory.counts(profile, None)
    verdict.check(everything[memory.STORES] >= N * N + N, title + ": all data has the initialisation, too")
    check_text(verdict, outcome.reports("txt")[0], title, threads)


def plain_result(compiler, source, scratch, flags):
    program = scratch.file("plain-" + compiler)
    harness.execute([compiler, "-fopenmp", "-O2", *flags, source, "-o", program], scratch.path)
    return harness.execute([program], scratch.path).out


def by_make(verdict, scratch):
    """The commands of the README; another size is another program."""
    folder = scratch.file("example")
    shutil.copytree(EXAMPLE, folder)
    for name, compiler in memory.compilers("gcc", "clang", "gfortran"):
        target, variable = ("run-fortran", "FC") if name == "gfortran" else ("run", "CC")
        for n in (40, 80):
            words = ["make", "N=%d" % n, target, "%s=%s" % (variable, compiler), "KINST=%s --memory" % harness.command("kinst-ompp")]
            done = harness.execute(words, folder)
            title = " ".join(words[:3])
            verdict.equal(done.status, 0, "%s: %s" % (title, done.err[-300:]))
            sums = [line.split() for line in done.out.split("\n") if line.startswith(" SUM")]
            verdict.check(sums and sums[-1][-2] == grouped(n * n), "%s %s: %s" % (title, name, done.out[-600:]))


def main():
    scratch, verdict = harness.Scratch("matvec"), harness.Verdict("matvec")
    for name, compiler in memory.compilers("gcc", "clang", "gfortran"):
        source = os.path.join(EXAMPLE, "matvec." + ("f90" if name == "gfortran" else "c"))
        flags = ("-DN=%d" % N,) + (("-cpp",) if name == "gfortran" else ())
        expected = plain_result(compiler, source, scratch, flags)
        for level in ("-O0", "-O2", "-O3"):
            program = scratch.file("%s%s" % (name, level))
            memory.build(compiler, source, program, level, *flags)
            for threads in (1, 4):
                title = "%s %s T=%d" % (name, level, threads)
                run = harness.run(program, scratch.file("run-" + title.replace(" ", "")), threads)
                verdict.equal((run.status, run.out), (0, expected), title + ": result")
                check(verdict, run, title, threads)
    by_make(verdict, scratch)
    verdict.finish(scratch)


main()
