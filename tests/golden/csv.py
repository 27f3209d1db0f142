#!/usr/bin/env python3
"""The CSV report of every saved profile has the numbers of its text report with six digits, in ompP's blocks."""

import glob
import os
import re
import subprocess
import sys

SOURCE = os.environ.get("abs_top_srcdir", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
REPORT = os.path.join(os.environ.get("abs_top_builddir", "."), "ompp-report")
BLOCKS = ["header", "region overview", "ompp callgraph", "flat region profiles", "callgraph region profiles",
          "overhead analysis report", "parallel regions sorted by wallclock time", "overheads for parallel region",
          "overheads for whole program"]
failed = []


def say(text):
    failed.append(text)
    print("FAIL: " + text)


def output(*words):
    return subprocess.run([REPORT, *words], stdout=subprocess.PIPE, check=True, universal_newlines=True,
                          env=dict(os.environ, TZ="UTC0", LC_ALL="C.UTF-8")).stdout.split("\n")


def text_tables(lines):
    """(section, region, header words, rows of words) of the flat and callgraph profiles."""
    tables, section, region = [], "", ""
    for line in lines:
        title = re.fullmatch(r"----     (.*?)     -+", line)
        if title:
            section = title[1]
        elif section.startswith(("ompP Flat", "ompP Callgraph Region")):
            heading = re.match(r"(?:\[[+=]\d\d\] )?(R\d{5}) ", line)
            if heading:
                region = heading[1]
            elif re.match(r"( RANK)? TID", line):
                tables.append((section[5:9], region, line.split(), []))
            elif line and tables and re.match(r" +(\d+|SUM|oth)( |$)", line):
                tables[-1][3].append(line.split())
    return tables


def csv_tables(lines):
    tables, region, kind = [], "", ""
    for line in lines:
        begin = re.fullmatch(r"##BEG (R\d{5}) (flat|callgraph) profile", line)
        if begin:
            region, kind = begin[1], begin[2].capitalize()[:4]
        elif region and re.match(r"(RANK,)?TID,", line):
            tables.append((kind, region, line.split(","), []))
        elif region and re.match(r"(\d+|SUM|oth)(,|$)", line):
            tables[-1][3].append([w for w in line.split(",") if w])
        elif line.startswith("##END R"):
            region = ""
    return tables


def check_brackets(name, lines):
    """Blocks nest, end as they began, and stand in ompP's order."""
    open_blocks, seen = [], []
    for line in lines:
        if line.startswith("##BEG "):
            block = line[6:].replace(" separator=,", "")
            open_blocks.append(block)
            seen.append(block)
        elif line.startswith("##END ") and (not open_blocks or open_blocks.pop() != line[6:]):
            say("%s: %s does not close its block" % (name, line))
    if open_blocks or [b for b in seen if b in BLOCKS] != BLOCKS:
        say("%s: blocks %s" % (name, seen))


def numbers(line):
    return [float(w) for w in re.findall(r"\d+\.\d+", line)]


def near(text, csv):
    """The same numbers: percentages of the text have two digits, or one or three."""
    return len(text) == len(csv) and all(abs(t - c) <= 0.0500001 for t, c in zip(text, csv))


def compare(name, text, csv, what, text_lines, csv_lines):
    if len(text_lines) != len(csv_lines):
        return say("%s: %s: %d lines in the text, %d in the CSV" % (name, what, len(text_lines), len(csv_lines)))
    for a, b in zip(text_lines, csv_lines):
        if not near(numbers(a), numbers(b)):
            say("%s: %s:\n  %s\n  %s" % (name, what, a, b))


def between(lines, begin, end):
    start = next(i for i, line in enumerate(lines) if line.startswith(begin))
    return lines[start + 1:next((i for i, line in enumerate(lines) if i > start and line.startswith(end)), len(lines))]


def check_whatif():
    """Gains as they follow from what was observed, computed here from the tables of docs/causal.md and tests/golden/make-profiles.py."""
    rows = {}
    for line in between(output("csv", os.path.join(SOURCE, "tests", "golden", "whatif.xml")), "Speed-up,Share", "##END"):
        cells = line.split(",")
        rows[cells[9], float(cells[0])] = float(cells[2])
    run = 10000 - 800  # ms, without delays
    # The loop: 8600 ms of work in all; 2150 ms of them in the 5000 ms for which it was followed. There 24 % were gained.
    loop = 24 * (8600 / run) / (2150 / 5000)
    for (region, speedup), gain in ((("R00007", 100), loop), (("R00007", 50), loop / 2), (("R00002", 25), 4.7), (("R00005", 100), 20)):
        if abs(rows.get((region, float(speedup)), -1) - gain) > 1e-3:
            say("what-if: %s faster by %d %% gains %s, not %f" % (region, speedup, rows.get((region, float(speedup))), gain))


def check(path):
    name = os.path.basename(path)
    text, csv = output("show", "--digits=6", path), output("csv", path)
    check_brackets(name, csv)
    a, b = text_tables(text), csv_tables(csv)
    if a != b:
        first = next((p for p in zip(a, b) if p[0] != p[1]), (len(a), len(b)))
        say("%s: tables differ:\n  %s\n  %s" % (name, *first))
    plain = [re.sub(r" +\[.*| [A-Z ]{8} ( [ |] )*( \|-| \+-)R\d{5}.*", "", line)
             for line in between(text, "  " + "Inclusive  (%)".rjust(18), "----") if line]
    compare(name, text, csv, "callgraph", plain, [re.sub(r",\d+,(\[|R).*", "", line) for line in between(csv, "Inclusive,", "##END")])
    compare(name, text, csv, "each region", [line for line in between(text, "Overheads wrt. each", "Overheads wrt") if line[:1] == "R"],
            between(csv, ",Total", "##END"))
    whole = [line for line in between(text, "Overheads wrt. whole", "----") if line[:1] == "R" or "SUM" in line]
    compare(name, text, csv, "whole program", whole, between(between(csv, "##BEG overheads for whole", "##END ompp") , ",Total", "##END"))
    total = between(csv, ",Type,Wallclock,(%)", "##END")[-1].split(",")
    if total[0] != "SUM" or total[2] != "" or len(total) != 4:
        say("%s: the sum of wallclocks is %s" % (name, total))


def main():
    profiles = sorted(glob.glob(os.path.join(SOURCE, "tests", "golden", "*.xml")))
    for path in profiles:
        check(path)
    check_whatif()
    print("%d profiles compared" % len(profiles))
    sys.exit(1 if failed or not profiles else 0)


main()
