#!/usr/bin/env python3
"""
Instructions of our libraries per OpenMP construct and thread (tasks: per task), for each source of events, with 1, 2 and 4 threads
(make bench), without call paths, and of outermost regions with them. Two timer reads of 10 instructions are included where the construct has a begin and an end. Asserts
nothing.

usage: threads.py [CONSTRUCT...]
"""

import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
import harness

CONSTRUCTS = ("parallel", "parallel-for", "for", "barrier", "single", "critical", "task")
THREADS = (1, 2, 4)
SHORT, LONG = 500, 1500  # the difference of two runs: start and end do not count
LIBRARIES = os.path.join(harness.BUILD, ".libs")


def ours(path):
    """Instructions in our libraries but those of the report, from a file of callgrind: cost lines, added up by object."""
    names, total, mine, is_call = {}, 0, False, False
    with open(path) as lines:
        for line in lines:
            match = re.match(r"c?ob=\((\d+)\)(?: (.*))?", line)
            if match:
                names.setdefault(match.group(1), match.group(2))
                if line.startswith("ob="):
                    mine = re.search(r"/libompp(?!-report|-names)", names[match.group(1)] or "")
            elif line.startswith("calls="):
                is_call = True
            elif line[0] in "0123456789+*-":
                total += 0 if is_call or not mine else int(line.split()[1])
                is_call = False
    return total


def instructions(folder, program, preload, construct, times, threads, callpath):
    output = os.path.join(folder, "callgrind.out")
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + output, program, construct, str(times)]
    outcome = harness.execute(words, folder, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive", OMPP_OVERWRITE="1", OMPP_SAMPLE_HZ="0",
                              OMPP_CALLPATH=callpath, LD_PRELOAD=":".join(preload))
    if outcome.status != 0:
        raise harness.Failure("callgrind: " + outcome.err[-500:])
    return ours(output)


def main():
    if not shutil.which("valgrind"):
        return print("threads: valgrind is not installed")
    scratch = harness.Scratch("threads")
    constructs = sys.argv[1:] or CONSTRUCTS
    print("instructions per construct and thread | " + " | ".join(constructs))
    for how in harness.sources() + harness.plain_sources():
        program = scratch.file(how, "bench_constructs")
        harness.build(os.path.join(HERE, "bench_constructs.c"), program, "opari" if how == "gomp" else how,
                      flags=("-O2", "-g"), instrument=how != "gomp")
        preload = [os.path.join(LIBRARIES, name) for name in ("libompp.so", "libompp-gomp.so")] if how == "gomp" else []
        for threads in THREADS:
            for callpath, what in (("site", constructs), ("full", [c for c in constructs if c.startswith("parallel")])):
                cells = []
                for construct in what:
                    long, short = [instructions(os.path.dirname(program), program, preload, construct, n, threads, callpath) for n in (LONG, SHORT)]
                    cells.append("%.0f" % ((long - short) / (LONG - SHORT) / (1 if construct == "task" else threads)))
                print("%s, %d threads%s | %s" % (how, threads, ", call paths" if callpath == "full" else "", " | ".join(cells)), flush=True)
    scratch.done(True)


main()
