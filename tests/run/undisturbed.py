#!/usr/bin/env python3
"""
What measurement leaves as it is in the program's threads: floating-point flags, traps and rounding, whatever is measured, and numbers
of the text and XML that agree; signal handlers that interrupt the first event; small stacks.
"""

import os
import sys

import harness

SOURCE = os.path.join(harness.HERE, "undisturbed.c")
FLAGS = ("-O1", "-g", "-Wl,--no-as-needed", "-lm")
NO_TRAPS, ALL_TRAPS, NEAREST, DOWN, UP, ZERO = "0", "0x3d", "0", "0x400", "0x800", "0xc00"  # of x86
CAUSAL = ({}, {"OMPP_CAUSAL": "virtual"}, {"OMPP_CAUSAL": "delay"})
MICROSECONDS = (20, 50, 100, 200, 400, 700, 1000, 1500, 2000, 3000, 5000)


def run(scratch, words, title, args, **settings):
    return harness.run(words[0], scratch.file(title, "x")[:-2], 2, args=[*words[1:], *args], OMPP_OUTFORMAT="text,xml", **settings)


def same_numbers(verdict, done, title):
    """The text as the program's process has written it, and as ompp-report makes it of the XML."""
    for path in done.reports("txt"):
        shown = harness.execute([harness.command("ompp-report"), "show", path[:-len("txt")] + "xml"], done.folder).out
        with open(path) as file:
            verdict.equal(shown.splitlines(), file.read().splitlines(), title + ": text and XML")


def test_floats(verdict, scratch, how, words, plain):
    for traps, rounding in ((ALL_TRAPS, NEAREST), (ALL_TRAPS, UP), (NO_TRAPS, DOWN), (NO_TRAPS, ZERO)):
        args = ("floats", traps, rounding)
        wanted = run(scratch, plain, how + "-plain-floats", args)
        verdict.equal((wanted.status, wanted.out), (0, "4400, 0 wrong\n"), how + ": the OpenMP library itself")
        for settings in CAUSAL + ({"OMPP_DUMP_INTERVAL": "0.1", "OMPP_CHECKPOINT": "0.1"},):
            title = "-".join((how, *args, *settings.values()))
            done = run(scratch, words, title, args, **settings)
            verdict.equal((done.status, done.out), (wanted.status, wanted.out), title + ": " + done.err[-300:])
            verdict.check(done.reports(), title + ": no report: " + done.err[-300:])
            same_numbers(verdict, done, title)


def test_first(verdict, scratch, how, words):
    for what, status in (("measure", 5), ("exit", 4), ("jump", 6)):
        for us in MICROSECONDS:
            title = "%s-%s-%d" % (how, what, us)
            done = run(scratch, words, title, ("first", what, str(us)))
            verdict.equal(done.status, status, title + ": " + done.err[-300:])


def test_stack(verdict, scratch, how, words, plain):
    for size in ("16384", "24576", "65536"):
        wanted = run(scratch, plain, how + "-plain-stack", ("stack", size))
        if wanted.status != 0:
            print("note: %s: too small a stack without measurement, too: %s" % (how, size))
            continue
        for settings in CAUSAL:
            title = "-".join((how, "stack", size, *settings.values()))
            done = run(scratch, words, title, ("stack", size), **settings)
            verdict.equal((done.status, done.out), (0, wanted.out), title + ": " + done.err[-300:])
            verdict.check(done.reports(), title + ": no report")


def main():
    verdict, scratch = harness.Verdict("undisturbed"), harness.Scratch("undisturbed")
    x86 = os.uname().machine == "x86_64"
    for how in harness.sources():
        program, plain = scratch.file(how, "kinst", "undisturbed"), scratch.file(how, "plain", "undisturbed")
        include = "-I" + os.path.join(harness.SOURCE, "include")
        harness.build(SOURCE, program, how, flags=(*FLAGS, include))
        harness.build(SOURCE, plain, how, flags=(*FLAGS, include), instrument=False)
        ompp = [harness.command("ompp"), "--", plain]
        for title, words in ((how, [program]), (how + "-ompp", ompp)):
            if x86:
                test_floats(verdict, scratch, title, words, [plain])
            test_first(verdict, scratch, title, words)
            test_stack(verdict, scratch, title, words, [plain])
    verdict.finish(scratch)


sys.exit(main())
