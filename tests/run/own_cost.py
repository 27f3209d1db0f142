#!/usr/bin/env python3
"""
Own cost: what the report says that measuring took, against the processor time that the program needs more than without ompp; also with
a clock that is slower than it was when these figures were tried, so that no constant can be right. And the caution where it is much.
"""

import os
import re

import harness

SOURCE = os.path.join(harness.HERE, "own_cost.c")
NEAR = 0.35      # of the difference
LITTLE = 0.05    # of the run: no difference that could be compared
ROUNDS = 5
KINDS = ("atomic", "critical", "lock", "task", "function")

# clock_gettime that takes longer.
SLOW = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t) { return (int)syscall(SYS_clock_gettime, clock, t); }
"""


def processor_time(words, folder, **changes):
    """s of the process, and of nothing else."""
    os.makedirs(folder, exist_ok=True)
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        out = os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.execvpe(words[0], words, harness.environment(OMP_NUM_THREADS=1, OMPP_SAMPLE_HZ=0, OMPP_CALLPATH="site", OMPP_OVERWRITE=1, OMPP_QUIET=1, **changes))
    _, status, used = os.wait4(pid, 0)
    if status:
        raise harness.Failure("%s: status %s" % (words, status))
    return used.ru_utime + used.ru_stime


def least(words, folder, **changes):
    return min(processor_time(words, folder, **changes) for _ in range(ROUNDS))


def own(folder):
    """s of all nodes, and the text of the report."""
    xml = open(os.path.join(folder, "r.xml")).read()
    return sum(map(int, re.findall(r'<times [^>]*own-ns="(\d+)"', xml))) / 1e9, open(os.path.join(folder, "r")).read()


def test(verdict, scratch, plain, programs, kind, title, **changes):
    program = programs[kind == "function"]

    def attempt():
        folder = scratch.file(title.replace(" ", "-"), "x")[:-2]
        without = least([plain, kind], folder, **{k: v for k, v in changes.items() if k != "LD_PRELOAD"})
        measured = least([program, kind], folder, OMPP_REPORTFILE="r", **changes)
        predicted, text = own(folder)
        said = "%s: %.3f s without ompp, %.3f s with, %.3f s told" % (title, without, measured, predicted)
        print(said)
        if kind == "work":
            verdict.check("Caution: measuring took" not in text, said + ": caution")
            return ([said] if max(predicted, measured - without) > LITTLE * without + 0.02 else []), 1
        verdict.check(re.search(r"^Caution: measuring took .*\(.*\)", text, re.M), said + ": no caution")
        return ([said] if abs(predicted - (measured - without)) > NEAR * (measured - without) else []), 1

    verdict.timed(attempt)


def main():
    verdict, scratch = harness.Verdict("own_cost"), harness.Scratch("own_cost")
    if "opari" not in harness.sources():
        harness.skip("no gcc with opari2")
    flags = ("-O2", "-g")
    plain, measured, functions = (scratch.file("bin", name) for name in ("plain", "measured", "functions"))
    harness.build(SOURCE, plain, "opari", flags=flags, instrument=False)
    harness.build(SOURCE, measured, "opari", flags=flags)
    harness.build(SOURCE, functions, "opari", flags=flags + ("-finstrument-functions",))
    slow, code = scratch.file("bin", "slow.so"), scratch.file("bin", "slow.c")
    with open(code, "w") as file:
        file.write(SLOW)
    if harness.execute([harness.COMPILERS["opari"], "-shared", "-fPIC", code, "-o", slow], scratch.path).status:
        raise harness.Failure("cannot build slow.so")
    for kind in KINDS + ("work",):
        test(verdict, scratch, plain, (measured, functions), kind, kind)
    for kind in ("atomic", "task"):
        test(verdict, scratch, plain, (measured, functions), kind, kind + " slow", LD_PRELOAD=slow, OMPP_CLOCK="gettime")
    verdict.finish(scratch)


main()
