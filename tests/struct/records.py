#!/usr/bin/env python3
"""Loops and inlined calls that ompp-struct finds in a program, against what the compiler has recorded of them. By hand, for the tables in
docs/structure.md.

usage: records.py [-v] [--inlined] BINARY SOURCES RECORDS...

SOURCES is the folder with the sources. RECORDS are what gcc has written with -fopt-info-inline-loop-vec-optimized-missed=FILE, or clang
with -fsave-optimization-record (*.opt.yaml). Only records of a line with "for (...)" or "while (...)" count. "Gone" are loops that were
unrolled completely or became a call of the library, and that the code has no more.

--inlined: calls, by the line that makes them and the name that is called, in files of SOURCES. A recorded call is "gone" that addr2line
names at no address of the code.
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


def bare(name):
    """A function's name without what is around it: "std::max<int>(int const&, int const&)" is "max"."""
    name = re.sub(r"/\d+$|\.(constprop|isra|part|cold|localalias)\b.*|\[(abi:|with ).*|^(virtual|constexpr|static) ", "", name)
    at = name.find("operator")
    if at >= 0 and not re.match(r"\w", name[at + 8:at + 9] or "("):
        return re.match(r"operator *(\(\)|\[\]|[^\w\s(]+?)(?=[(<]|$)|operator.*", name[at:]).group(0).replace(" ", "")
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    name = re.sub(r"\(.*", "", name)
    return re.split(r"::|[ *&]", name)[-1]


def demangled(names):
    done = subprocess.run(["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, universal_newlines=True, check=True)
    return dict(zip(names, done.stdout.splitlines()))


def recorded_calls(paths):
    """{(base name, line, called)}"""
    found = set()
    for path in paths:
        text = open(path, errors="replace").read()
        if path.endswith(".yaml"):
            for part in text.split("\n...\n"):
                place = re.search(r"DebugLoc: *\{ *File: *'?([^',]*)'?, *Line: *(\d+)", part)
                called = re.search(r"Callee: *'?([^'\n]*)", part)
                if place and called and re.search(r"--- !Passed\nPass: *(always-)?inline", part):
                    found.add((os.path.basename(place.group(1)), int(place.group(2)), called.group(1)))
            continue
        for m in re.finditer(r"^(.*?):(\d+):\d+: optimized: *Inlin(?:ed|ing) (.*?)/\d+ into ", text, re.M):
            found.add((os.path.basename(m.group(1)), int(m.group(2)), m.group(3)))
    names = demangled(sorted({called for _, _, called in found}))
    return {(file, line, bare(names[called])) for file, line, called in found}


def printed_calls(binary):
    done = subprocess.run([TOOL, "--no-cache", binary], stdout=subprocess.PIPE, universal_newlines=True, check=True)
    return {(os.path.basename(m.group(2)), int(m.group(3)), bare(m.group(1)))
            for m in re.finditer(r"^ *inlined (.*?)  (.*):(\d+)  \d+ bytes", done.stdout, re.M)}


def calls_in_code(binary):
    """What addr2line says of each fourth byte of the text."""
    head = re.search(r"\.text +PROGBITS +(\w+) \w+ (\w+)", subprocess.run(["readelf", "-SW", binary], stdout=subprocess.PIPE, universal_newlines=True).stdout)
    first, size = int(head.group(1), 16), int(head.group(2), 16)
    done = subprocess.run(["addr2line", "-a", "-f", "-C", "-i", "-e", binary], input="\n".join(hex(a) for a in range(first, first + size, 4)),
                          stdout=subprocess.PIPE, universal_newlines=True, check=True)
    found = set()
    for part in re.split(r"^0x", done.stdout, flags=re.M)[1:]:
        lines = part.splitlines()[1:]
        for i in range(0, len(lines) - 3, 2):
            place = re.match(r"(.*):(\d+)", lines[i + 3])
            if place:
                found.add((os.path.basename(place.group(1)), int(place.group(2)), bare(lines[i])))
    return found


def compare_calls(binary, sources, paths):
    own = lambda calls: {call for call in calls if call[0] in sources}
    recorded, found, code = (own(calls) for calls in (recorded_calls(paths), printed_calls(binary), calls_in_code(binary)))
    left = recorded & (code | found)
    if verbose:
        for call in sorted(left - found):
            print("missing: %s:%d %s" % call)
        for call in sorted(found - recorded - code):
            print("neither recorded nor in the code: %s:%d %s" % call)
    print("%d inlined calls recorded, %d gone, %d found (%.1f %%); of %d that addr2line names, %.1f %%; %d printed, %.1f %% recorded, "
          "%.1f %% recorded or named" % (len(recorded), len(recorded - left), len(left & found), 100 * len(left & found) / max(len(left), 1),
                                         len(code), 100 * len(code & found) / max(len(code), 1), len(found),
                                         100 * len(found & recorded) / max(len(found), 1),
                                         100 * len(found & (recorded | code)) / max(len(found), 1)))


def main():
    words = [w for w in sys.argv[1:] if w not in ("-v", "--inlined")]
    if len(words) < 3:
        sys.exit(__doc__)
    if "--inlined" in sys.argv:
        return compare_calls(words[0], texts(words[1]), words[2:])
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
