#!/usr/bin/env python3
"""
What measurement leaves as it is in the program's threads: floating-point flags, traps and rounding, whatever is measured, and numbers
of the text and XML that agree; signal handlers that interrupt the first event; small stacks; threads that end late.
"""

import os
import re
import shutil
import sys

import harness

SOURCE = os.path.join(harness.HERE, "undisturbed.c")
FLAGS = ("-O1", "-g", "-Wl,--no-as-needed", "-lm")
NO_TRAPS, ALL_TRAPS, NEAREST, DOWN, UP, ZERO = "0", "0x3d", "0", "0x400", "0x800", "0xc00"  # of x86
CAUSAL = ({}, {"OMPP_CAUSAL": "virtual"}, {"OMPP_CAUSAL": "delay"})
TOGETHER = 4 * (0, 1, 2, 5, 10, 20, 40)  # microseconds, about, between signals
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


def test_ranks(verdict, scratch, how):
    program, plain = scratch.file(how, "kinst", "ranks"), scratch.file(how, "plain", "ranks")
    for output, instrument in ((program, True), (plain, False)):
        harness.build(SOURCE, output, how, mpi=True, flags=(*FLAGS, "-DWITH_MPI", "-I" + os.path.join(harness.SOURCE, "include")),
                      instrument=instrument)
    for traps, rounding in ((ALL_TRAPS, NEAREST), (NO_TRAPS, UP)):
        args = ("floats", traps, rounding)
        wanted = harness.run(plain, scratch.file(how + "-plain-ranks", "x")[:-2], 2, ranks=2, args=args)
        verdict.equal((wanted.status, wanted.out), (0, 2 * "4400, 0 wrong\n"), how + ": MPI itself")
        for settings in CAUSAL:
            title = "-".join((how, "ranks", *args, *settings.values()))
            done = harness.run(program, scratch.file(title, "x")[:-2], 2, ranks=2, args=args, OMPP_OUTFORMAT="text,xml", **settings)
            verdict.equal((done.status, done.out), (wanted.status, wanted.out), title + ": " + done.err[-300:])
            verdict.check(done.reports(), title + ": no report: " + done.err[-300:])
            same_numbers(verdict, done, title)


def test_first(verdict, scratch, how, words):
    for what, status in (("measure", 5), ("exit", 4), ("jump", 6)):
        for us in MICROSECONDS:
            title = "%s-%s-%d" % (how, what, us)
            done = run(scratch, words, title, ("first", what, str(us)))
            verdict.equal(done.status, status, title + ": " + done.err[-300:])


def test_together(verdict, scratch, how, words):
    """Several threads come at once, with signals: each is measured once, and has its mask and its state of cancellation."""
    for what in ("measure", "jump"):
        for number, us in enumerate(TOGETHER):
            title = "%s-together-%s-%d-%d" % (how, what, number, us)
            done = run(scratch, words, title, ("together", what, str(us)))
            said = re.fullmatch(r"(\d+), 0 wrong\n", done.out)
            if not verdict.check(done.status == 0 and said, "%s: status %d, says '%s': %s" % (title, done.status, done.out, done.err[-300:])):
                continue
            if what == "measure":
                profile = done.profile()
                found = profile.total("execC", profile.find("USER REGION", name="together"))
                verdict.equal(sorted(found.values()), [int(said.group(1)) // 4] * 4, title + ": counts by thread")


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


DESTRUCTOR = """
#include <cstdio>
static long total;
struct mine { long n = 0; ~mine() {
#pragma omp critical
    total += n; } };
static thread_local mine my;
int main()
{
#pragma omp parallel num_threads(3)
    my.n++;
    std::printf("done\\n");
    return 3;
}
"""


def test_destructor(verdict, scratch, how):
    """Destructors of thread-local objects run after the end of measurement, in threads that the OpenMP library ends, and use OpenMP."""
    compiler = harness.COMPILERS[how].replace("clang", "clang++").replace("gcc", "g++")
    if not shutil.which(compiler):
        return
    source, program, plain = (scratch.file(how + "-destructor", name) for name in ("program.cc", "kinst", "plain"))
    with open(source, "w") as file:
        file.write(DESTRUCTOR)
    words = [compiler, "-fopenmp", "-g", source, "-o"]
    for front, output in (([harness.command("kinst-ompp"), "--with=" + how], program), ([], plain)):
        done = harness.execute([*front, *words, output], os.path.dirname(source))
        verdict.equal(done.status, 0, "%s: built: %s" % (how, done.err[-300:]))
    for title, run_words in ((how, [program]), (how + "-ompp", [harness.command("ompp"), "--", plain])):
        done = harness.run(run_words[0], scratch.file(title + "-destructor-run", "x")[:-2], 3, args=run_words[1:])
        verdict.equal((done.status, done.out), (3, "done\n"), title + ": destructors of threads: " + done.err[-300:])


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
            test_together(verdict, scratch, title, words)
            test_first(verdict, scratch, title, words)
            test_stack(verdict, scratch, title, words, [plain])
        test_destructor(verdict, scratch, how)
        if x86 and shutil.which(os.environ.get("MPICC", "mpicc")) and shutil.which(os.environ.get("MPIRUN", "mpirun")):
            test_ranks(verdict, scratch, how)
    verdict.finish(scratch)


sys.exit(main())
