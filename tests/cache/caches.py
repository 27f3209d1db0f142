"""What the tests of simulated caches share: a run with OMPP_CACHE, and its misses by region and structure."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "memory"))
import memory  # noqa: E402,F401
from memory import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def describe(scratch, name, *lines):
    """A file that describes a machine."""
    path = scratch.file(name + ".txt")
    with open(path, "w") as out:
        out.write("\n".join(lines) + "\n")
    return path


def rows_of(path):
    """The block ompp caches of a CSV report: numbers by column, by (region, structure)."""
    rows, titles, inside = {}, None, False
    with open(path) as report:
        for line in report.read().splitlines():
            if line.startswith("##"):
                inside = line == "##BEG ompp caches"
            elif inside and line.startswith("Region,"):
                titles = line.split(",")[2:]
            elif inside and titles:
                words = line.split(",")
                rows[tuple(words[:2])] = {t: int(w) if w else None for t, w in zip(titles, words[2:])}
    return rows


def simulate(program, folder, mode, args=(), threads=1, ranks=0, **changes):
    """Runs with simulated caches; the rows of the report."""
    outcome = harness.run(program, folder, threads, ranks=ranks, args=args, OMPP_CACHE=mode, OMPP_OUTFORMAT="csv,text", **changes)
    if outcome.status != 0 or len(outcome.reports("csv")) != 1:
        raise harness.Failure("%s %s: %d, %s" % (program, args, outcome.status, outcome.err[-800:]))
    outcome.rows = rows_of(outcome.reports("csv")[0])
    return outcome


def misses(row, level):
    return row["L%d-load-misses" % level] + row["L%d-store-misses" % level]


def text_of(outcome):
    with open(outcome.reports("txt")[0]) as report:
        return report.read()
