#!/usr/bin/env python3
"""
Size of pages, and time to write them, by the number of call paths and ranks: in proportion, and below 20 MB. usage: size.py [--table]
"""

import os
import subprocess
import sys

import page
from page import harness

MOST = 20 << 20   # bytes of a page
RATIO = 40        # what ten times the call paths may take at most; a quadratic step takes 100
ENOUGH = 0.1      # s: below it a time is not compared
SIZES = ((10, 10, 1), (1000, 300, 1), (10000, 3000, 1), (100000, 3000, 1), (100, 100, 1000))  # call paths, regions, ranks


def used(words):
    """User time of a process, s, and its most memory, MB."""
    done = subprocess.run([sys.executable, "-c", MEASURE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.environment(),
                          universal_newlines=True, timeout=harness.LIMIT)
    if done.returncode:
        raise harness.Failure("%s: %s" % (" ".join(words), done.stderr[-500:]))
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), int(memory) / 1024


# In a process of its own, since the most memory of children is that of the largest so far.
MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(r.ru_utime, r.ru_maxrss)
sys.exit(status)
"""


def main():
    verdict, scratch = harness.Verdict("html/size"), harness.Scratch("html-size")
    tool, times = harness.command("ompp-report"), {}
    for nodes, regions, ranks in SIZES:
        xml, html = scratch.file("%d.xml" % nodes), scratch.file("%d.html" % nodes)
        with open(xml, "w") as file:
            file.write(page.synthetic(nodes, regions, ranks))
        check, memory_to_read = used([tool, "check", xml])
        seconds, memory = used([tool, "html", xml, "-o", html])
        size, times[nodes, ranks] = os.path.getsize(html), seconds
        print("%6d call paths, %4d ranks: %5.2f s (reading and checking the XML %5.2f s), %4.0f MB of memory (%4.0f MB), page %6.2f MB, XML %6.2f MB" % (
            nodes, ranks, seconds, check, memory, memory_to_read, size / 1e6, os.path.getsize(xml) / 1e6))
        verdict.check(size <= MOST, "%d call paths: %d bytes" % (nodes, size))
        verdict.check(memory < 2 * memory_to_read + 64, "%d call paths: %.0f MB of memory, %.0f MB to read the XML" % (nodes, memory, memory_to_read))
        data = page.read(html)
        verdict.equal((len(data["tree"]["parent"]), len(data["rank"])), (nodes + 1, ranks), "%d call paths: what is in the page" % nodes)
    small, large = max(times[10000, 1], ENOUGH), times[100000, 1]
    verdict.check(large <= RATIO * small, "10,000 call paths: %.2f s, 100,000: %.2f s" % (small, large))
    if "--table" in sys.argv:
        return scratch.done(True)
    return verdict.finish(scratch)


if __name__ == "__main__":
    main()
