#!/usr/bin/env python3
"""Accesses to pages that another thread touched first, per structure and region, and the same numbers in text, CSV and XML; the lines
of the header as the paper on data address ranges has them."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

PART, THREADS = 1024, 4
# Loads, stores, loads of another's pages, stores to them.
WANTED = {"serial": (4 * PART, 4 * PART, 3 * PART, 0), "own": (4 * PART, 4 * PART, 0, 0), "crossed": (4 * PART, 4 * PART, 4 * PART, 0),
          "again": (0, PART, 0, 0)}


def chosen(values):
    return tuple(values[i] for i in (memory.LOADS, memory.STORES, memory.FOREIGN_LOADS, memory.FOREIGN_STORES))


def numbers(cells):
    return [int(c.replace(".", "")) for c in cells]


def in_text(path):
    """Rows of the first table of the section ompp Data, and the lines of the header for each structure."""
    with open(path) as f:
        text = f.read()
    section = text[text.index("ompp Data"):]
    rows = [line.split() for line in section[section.index(" structure"):].split("\n\n")[0].splitlines()[1:]]
    return {r[0]: chosen(numbers(r[-8:])) for r in rows if r[0] in WANTED}, text


def in_csv(path):
    with open(path) as f:
        text = f.read()
    block = text[text.index("##BEG ompp data\n"):text.index("##END ompp data\n")].splitlines()
    rows = [line.split(",") for line in block[3:]]
    parts = {}
    for r in rows:
        if r[0] != "all":
            parts[r[1]] = [a + b for a, b in zip(parts.get(r[1], [0] * 8), numbers(r[2:]))]
    return {r[1]: chosen(numbers(r[2:])) for r in rows if r[0] == "all" and r[1] in WANTED}, {n: chosen(v) for n, v in parts.items()}, text


def check(verdict, scratch, name, compiler):
    program = scratch.file(name)
    memory.build(compiler, os.path.join(memory.HERE, "foreign.c"), program, "-O1")
    run = harness.run(program, scratch.file("text-" + name), THREADS)
    profile = run.profile()
    verdict.profile(profile, name)
    profile.root = ElementTree.parse(profile.path).getroot()
    verdict.equal({s: chosen(memory.counts(profile, s)) for s in WANTED}, WANTED, name + ": XML")
    rows, text = in_text(run.reports("txt")[0])
    verdict.equal(rows, WANTED, name + ": text")
    at = memory.objects(profile)["serial"].get("address")
    header = "Data Address    : %s\nData Size       : 32768 (0x8000)\nData Name       : serial\nData Start Offs.: 0\nData End   Offs.: 0\n"
    verdict.check(any(header % a in text for a in (at, hex(int(at, 0)))), name + ": lines of the header")
    run = harness.run(program, scratch.file("csv-" + name), THREADS, OMPP_OUTFORMAT="CSV")
    rows, parts, text = in_csv(run.reports("csv")[0])
    verdict.equal(rows, WANTED, name + ": CSV")
    verdict.equal({s: parts.get(s) for s in WANTED}, WANTED, name + ": CSV, sums over regions")
    verdict.check("Data Name,serial\nData Start Offs.,0\nData End   Offs.,0\n" in text, name + ": lines of the CSV header")


def main():
    scratch, verdict = harness.Scratch("foreign"), harness.Verdict("foreign")
    for name, compiler in memory.compilers("gcc", "clang"):
        check(verdict, scratch, name, compiler)
    verdict.finish(scratch)


main()
