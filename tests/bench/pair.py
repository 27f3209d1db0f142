#!/usr/bin/env python3
"""
What measuring costs a real program: runs it without and with measurement in turn.

    tests/bench/pair.py --plain 'COMMAND' --measured 'COMMAND' [--pairs 9] [--event-ns 19] [--instructions]

Prints the median of the ratios of wall-clock and of CPU time with their 95 % interval (bootstrap over the pairs), and events x cost:
region executions in the profile times the cost of one (make bench prints it), as share of the program's CPU time. With
--instructions both run once more below callgrind (for commands without mpirun). Both commands run in a directory of their own.
"""
import argparse
import glob
import os
import random
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree


def run(command, folder):
    """(wall seconds, CPU seconds) of a command and its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(shlex.split(command), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit("%s: exit status %d\n%s" % (command, done.returncode, done.stderr.decode(errors="replace")[-400:]))
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interval(ratios):
    """95 % interval of the median, by resampling with a fixed seed."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[-51]


def executions(folder):
    """Region executions in the newest profile of a directory, all ranks and threads."""
    profiles = sorted(glob.glob(os.path.join(folder, "*.ompp.xml")), key=os.path.getmtime)
    if not profiles:
        sys.exit("the measured program has written no XML profile")
    return sum(int(t.get("visits", 0)) for t in ElementTree.parse(profiles[-1]).getroot().iter("times"))


def instructions(command, folder):
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + shlex.split(command)
    done = subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr.decode(errors="replace"))
    return int(found.group(1)) if found else None


def main():
    parser = argparse.ArgumentParser(description="Cost of measuring a real program.")
    parser.add_argument("--plain", required=True)
    parser.add_argument("--measured", required=True)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--event-ns", type=float, default=19, help="cost of one region execution in ns")
    parser.add_argument("--instructions", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        run(args.plain, folder), run(args.measured, folder)  # warm
        for k in range(args.pairs):
            one = run(args.plain, folder), run(args.measured, folder)
            pairs.append(one)
        for title, which in ("wall time", 0), ("CPU time", 1):
            ratios = [m[which] / p[which] for p, m in pairs]
            low, high = interval(ratios)
            print("%-12s %.3f  [%.3f, %.3f]  of %.3f s" % (title, statistics.median(ratios), low, high,
                                                           statistics.median(p[which] for p, _ in pairs)))
        n, cpu = executions(folder), statistics.median(p[1] for p, _ in pairs)
        print("events       %d region executions x %.0f ns = %.3f %% of CPU time" % (n, args.event_ns, 1e-7 * n * args.event_ns / cpu))
        if args.instructions:
            plain, measured = instructions(args.plain, folder), instructions(args.measured, folder)
            if plain and measured:
                print("instructions %d without, %d with: %+.2f %%" % (plain, measured, 100.0 * (measured - plain) / plain))


main()
