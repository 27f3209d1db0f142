#!/usr/bin/env python3
"""
Programs built with kinst-ompp, before their first event: they print the same and end in the same way as without us (hazards.c), the samples
of their initial thread are in the report, and without an event there is no report.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

OWN = "not available: samples to the end (the program has a handler for SIGPROF)"
# Case: ms of samples at least, and what Coverage says.
CASES = {"handler": (20, OWN), "query": (250, None), "killed": (None, None), "closes": (50, None), "processes": (400, None),
         "executes": (None, None), "masked": (80, "of the processor time, samples stand for"), "stacks": (500, None),
         "modules": (10, None), "library": (50, OWN), "parted": (None, None),
         "deep": (3300, "samples before the first event, for which others stand: ")}
SILENT = ["query", "processes", "executes", "library"]  # tried without an event, too
MODULE = "unsigned long work(unsigned long n){volatile unsigned long s=0;for(unsigned long i=0;i<n;i++)s+=i;return s;}\n"  \
    "#include <signal.h>\nvoid use(void (*handler)(int)){struct sigaction a={.sa_handler=handler};sigaction(SIGPROF,&a,0);}\n"


def text_of(path):
    """Without the breaks of its lines."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"\s+", " ", file.read())


def sampled(path):
    """ms that the samples of a text report stand for."""
    found = re.search(r"samples stand for ([0-9.]+) of", text_of(path))
    return 1000 * float(found.group(1)) if found else 0


def check(verdict, title, case, reports):
    least, coverage = CASES[case]
    if case == "parted" and len(reports) == 2:  # the child has none of its parent's
        child, parent = sorted(map(sampled, reports))
        verdict.chance(child <= 100 and 350 <= parent <= 500, "%s: %d and %d ms" % (title, child, parent))
    elif reports:
        verdict.chance(sampled(reports[0]) >= (least or 0), "%s: %d ms, wanted %s" % (title, sampled(reports[0]), least))
        with open(reports[0], encoding="utf-8") as file:
            long = [line for line in file.read().partition("ompp Samples")[2].splitlines() if len(line) > 80]
        verdict.equal(long, [], title + ": lines of more than 80 columns")
        verdict.check(not coverage or coverage in text_of(reports[0]), "%s: Coverage without '%s'" % (title, coverage))


def main():
    verdict, scratch, source = harness.Verdict("early"), harness.Scratch("early"), os.path.join(HERE, "hazards.c")
    how, module = harness.sources()[0], scratch.file("libevent-module.so")
    with open(module[:-2] + "c", "w", encoding="utf-8") as file:
        file.write(MODULE)
    harness.execute([harness.COMPILERS[how], "-O1", "-shared", "-fPIC", module[:-2] + "c", "-o", module], scratch.path)
    program, plain = scratch.file("built", "hazards"), scratch.file("unbuilt", "hazards")
    for path in (program, plain):
        harness.build(source, path, how, flags=("-O1", "-g", "-w"), instrument=path == program)
    files = {"modules": [module], "library": [module], "processes": [plain]}
    for case in sys.argv[1:] or CASES:
        words = [case, *files.get(case, [])]
        alone = verdict.unmeasured(case, lambda: harness.run(plain, scratch.file(case, "x")[:-2], 2, args=words), lambda outcome: True)
        for event in (case, "")[:1 + (case in SILENT)]:
            title = case + (", and an event" if event else "")
            def attempt(verdict):
                outcome = harness.run(program, scratch.fresh(title), 2, args=words, EVENT=event, OMPP_SAMPLE_HZ=250 if case == "deep" else 100)
                verdict.equal((outcome.status, outcome.out), (alone.status, alone.out), title + ": status, output")
                reports = outcome.reports("txt")
                wanted = 0 if not event or case == "killed" else 2 if case == "parted" else 1
                verdict.equal(len(reports), wanted, title + ": reports; " + outcome.err[-300:])
                check(verdict, title, case, reports)

            verdict.tried(attempt)
    verdict.finish(scratch)


main()
