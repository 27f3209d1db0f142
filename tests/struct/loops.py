#!/usr/bin/env python3
"""Loops of programs whose source says where they begin: gcc, clang and gfortran, -O0 to -O3. Recall, precision, first lines.

usage: loops.py [-v]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(os.environ.get("abs_top_builddir", "."), "ompp-struct")
GCC, CLANG = os.environ.get("TEST_GCC", "gcc"), os.environ.get("TEST_CLANG", "clang")
FLAGS = (["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-O3", "-march=haswell", "-funroll-loops"], ["-O2", "-gdwarf-4", "-ffunction-sections"])
LEAST = 0.95
verbose = "-v" in sys.argv


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def tags(names):
    """{(file, line): tag} of the sources."""
    found = {}
    for name in names:
        for number, line in enumerate(open(os.path.join(HERE, name)), 1):
            tag = re.search(r"@(loop|do|array)\b", line)
            if tag and not line.startswith(("/*", "!", " *", "//")):
                found[name, number] = tag.group(1)
    return found


def loops(binary, names):
    """{(file, line): [text]} of what ompp-struct prints, of these files."""
    p = run(TOOL, "--no-cache", "--loops", binary)
    if p.returncode:
        print("FAIL: ompp-struct:", p.stderr)
        sys.exit(1)
    if "without Zydis" in p.stdout:
        print("SKIP: built without Zydis (Debian package: libzydis-dev)")
        sys.exit(77)
    found = {}
    for line in p.stdout.splitlines():
        m = re.match(r"\s*loop  (.*):(\d+)(-\d+)?  ", line)
        if m and os.path.basename(m.group(1)) in names:
            found.setdefault((os.path.basename(m.group(1)), int(m.group(2))), []).append(line.strip())
    return found


def compare(what, expected, found):
    """\\return [loops, found, exact, printed, right]"""
    good, exact, used = 0, 0, set()
    for (name, line), tag in sorted(expected.items()):
        if tag == "array":
            used |= {(name, line)}
            continue
        near = [n for n in range(line, line + (3 if tag == "do" else 1)) if (name, n) in found]
        used |= {(name, n) for n in near}
        exact += bool(near)
        near = near or [n for n in (line + 1, line + 2, line - 1) if (name, n) in found and (name, n) not in expected]
        good += bool(near)
        if verbose and (name, line) not in used and not any((name, n) in used for n in near):
            print("  %s: %s:%d %s" % (what, name, line, "is said to begin on %d" % near[0] if near else "is missing"))
        used |= {(name, n) for n in near}
    for place in sorted(set(found) - used):
        if verbose:
            print("  %s: %s:%d is none" % (what, *place), found[place])
    counted = sum(tag != "array" for tag in expected.values())
    return [counted, good, exact, len(found), len(set(found) & used)]


def chain_of(binary, address):
    """Lines of the calls from the outermost one to the address, which is the last."""
    p = run(TOOL, "--address=0x%x" % address, binary)
    lines = p.stdout.splitlines()
    calls = [int(re.search(r":(\d+)", line).group(1)) for line in lines if re.match(r"\s*inlined .*:\d", line)]
    last = re.match(r"\s*0x[0-9a-f]+  .*:(\d+)$", lines[-1]) if lines else None
    return calls + [int(last.group(1)) if last else 0]


def chains(binary, only="", pieces=8):
    """\return [addresses, those with the same inlined calls as addr2line says]"""
    addresses = []
    for line in run("nm", "-S", binary).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT" and not words[3].startswith("_start") and only in words[3]:
            low, size = int(words[0], 16), int(words[1], 16)
            addresses += range(low, low + size, max(size // pieces, 1))
    text = run("addr2line", "-a", "-i", "-e", binary, *map(hex, addresses)).stdout
    asked = same = 0
    for part in re.split(r"^0x", text, flags=re.M)[1:]:
        head, *places = part.splitlines()
        lines = [int(m.group(1)) if m else 0 for m in (re.search(r":(\d+)", place) for place in reversed(places))]
        mine = chain_of(binary, int(head, 16))
        if 0 in lines:
            continue  # code that the compiler has added
        asked += 1
        same += lines == mine
        if verbose and lines != mine:
            print("  %s: addr2line %s, ompp-struct %s" % (head.lstrip("0"), lines, mine))
    return [asked, same]


def main():
    sums, failed = {}, False
    places, ask = [0, 0], shutil.which("addr2line") and shutil.which("nm")
    have = [(["nests.c", "nests.h"], GCC), (["nests.c", "nests.h"], CLANG), (["nests.cc"], GCC.replace("gcc", "g++")),
            (["nests.cc"], CLANG.replace("clang", "clang++")), (["nests.f90"], "gfortran")]
    with tempfile.TemporaryDirectory() as work:
        binary, other = os.path.join(work, "nests"), os.path.join(work, "opaque.o")
        for names, compiler in have:
            if not shutil.which(compiler):
                print("note: no", compiler)
                continue
            run(GCC, "-O2", "-c", os.path.join(HERE, "opaque.c"), "-o", other)
            for flags in FLAGS:
                p = run(compiler, "-g", *flags, os.path.join(HERE, names[0]), other, "-o", binary)
                if p.returncode:
                    print("note: %s %s: %s" % (compiler, " ".join(flags), p.stderr.splitlines()[-1]))
                    continue
                what = "%s %s" % (compiler, " ".join(flags))
                if flags == ["-O2"] and ask:
                    places = [a + b for a, b in zip(places, chains(binary))]
                one = compare(what, tags(names), loops(binary, names))
                key = compiler
                sums[key] = [a + b for a, b in zip(sums.get(key, [0] * 5), one)]
                print("%-55s %2d loops, %2d found, %2d exact; %2d printed, %2d right" % (what, *one))
        if ask and shutil.which(have[2][1]):
            for function in ("gather", "sum"):
                run(have[2][1], "-O2", "-g", os.path.join(HERE, "calls.cc"), "-o", binary)
                asked, same = chains(binary, function, 40)
                print("inlined calls in %s: %d of %d as addr2line says" % (function, same, asked))
                failed |= asked == 0 or same < LEAST * asked
    for key, (n, good, exact, printed, right) in sums.items():
        recall, precision, lines = good / n, right / printed, exact / good
        print("%-12s recall %.3f, precision %.3f, first line exact %.3f" % (key, recall, precision, lines))
        failed |= min(recall, precision, lines) < LEAST
    if places[0]:
        print("inlined calls of an address: %d of %d as addr2line says" % (places[1], places[0]))
        failed |= places[1] < LEAST * places[0]
    if not sums:
        print("SKIP: no compilers")
        return 77
    return 1 if failed else 0


sys.exit(main())
