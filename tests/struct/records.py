#!/usr/bin/env python3
"""Loops that ompp-struct finds in a program, against what the compiler has recorded of them. By hand, for the table in docs/structure.md.

usage: records.py [-v] BINARY SOURCES RECORDS...

SOURCES is the folder with the sources. RECORDS are what gcc has written with -fopt-info-loop-vec-optimized-missed=FILE, or clang with
-fsave-optimization-record (*.opt.yaml). Only records of a line with "for (...)" or "while (...)" count. "Gone" are loops that were
unrolled completely or became a call of the library, and that the code has no more.
"""
import os
import re
import subprocess
import sys

TOOL = os.path.join(os.environ.get("abs_top_builddir", "."), "ompp-struct")
KEYWORD = re.compile(r"\b(for|while|do)\b|\bgoto\b")
BEGIN = re.compile(r"(?i)([^}]*\bfor *\((?! *; *; *\))|[^}]*\bwhile *\(|\s*(\w+ *: *)?do\b *(\w+ *=|while))")  # with a condition
GONE = re.compile(r"completely unrolled|library call|Unrolled loop completely|FullyUnrolled|turned into (a )?(mem|loop)", re.I)
verbose = "-v" in sys.argv


def texts(folder):
    """{base name: lines} of all sources below a folder; names that several files have are left out."""
    found, twice = {}, set()
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hpp", ".f90", ".F90", ".f")):
                twice |= {name} if name in found else set()
                found[name] = open(os.path.join(where, name), errors="replace").read().splitlines()
    return {name: lines for name, lines in found.items() if name not in twice}


def records(paths):
    """{(base name, line): [text]} of records of loops."""
    found = {}
    for path in paths:
        text = open(path, errors="replace").read()
        if path.endswith(".yaml"):
            for part in text.split("\n...\n"):
                place = re.search(r"DebugLoc: *\{ *File: *'?([^',]*)'?, *Line: *(\d+)", part)
                if place and re.search(r"Pass: *(loop|licm|indvars)", part) and re.search(r"\bloop\b|Loop|Unroll|Vector", part):
                    found.setdefault((os.path.basename(place.group(1)), int(place.group(2))), []).append(part)
            continue
        for m in re.finditer(r"^(.*?):(\d+):\d+: (?:missed|optimized|note): *(.*)$", text, re.M):
            if re.search(r"\bloop\b", m.group(3), re.I):
                found.setdefault((os.path.basename(m.group(1)), int(m.group(2))), []).append(m.group(3))
    return found


def printed(binary):
    done = subprocess.run([TOOL, "--no-cache", "--loops", binary], stdout=subprocess.PIPE, universal_newlines=True, check=True)
    return {(os.path.basename(m.group(1)), int(m.group(2))) for m in re.finditer(r"^\s*loop  (.*):(\d+)(?:-\d+)?  ", done.stdout, re.M)}


def main():
    words = [w for w in sys.argv[1:] if w != "-v"]
    if len(words) < 3:
        sys.exit(__doc__)
    sources, found, recorded = texts(words[1]), printed(words[0]), records(words[2:])
    text = lambda place: sources[place[0]][place[1] - 1] if place[1] <= len(sources.get(place[0], [])) else ""
    counted = {p: r for p, r in recorded.items() if BEGIN.match(text(p))}
    kinds = {"exact": [], "gone": [], "near": [], "missing": []}
    for place, what in sorted(counted.items()):
        near = [n for n in range(place[1] - 3, place[1] + 4) if (place[0], n) in found and (place[0], n) not in counted]
        kind = "exact" if place in found else "gone" if any(map(GONE.search, what)) else "near" if near else "missing"
        kinds[kind].append(place)
        if verbose and kind in ("near", "missing"):
            print("%s: %s:%d %s" % (kind, place[0], place[1], text(place).strip()), near or "")
    own = [p for p in found if p[0] in sources]
    right = [p for p in own if p in recorded or KEYWORD.search(text(p))]
    if verbose:
        for place in sorted(set(own) - set(right)):
            print("other line: %s:%d %s" % (place[0], place[1], text(place).strip()))
    left = len(counted) - len(kinds["gone"])
    print("%d loops recorded, %d gone, %d exact (%.1f %%), %d within 3 lines, %d missing; %d printed, %.1f %% on a recorded line or a keyword" % (
        len(counted), len(kinds["gone"]), len(kinds["exact"]), 100 * len(kinds["exact"]) / max(left, 1), len(kinds["near"]),
        len(kinds["missing"]), len(own), 100 * len(right) / max(len(own), 1)))


main()
