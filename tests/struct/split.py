#!/usr/bin/env python3
"""Debug information in files of its own (-gsplit-dwarf): the same as without, from .dwo files, beside the program, packed; missing ones.

usage: split.py [-v]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("abs_top_builddir", ".")
GCC, CLANG = os.environ.get("TEST_GCC", "gcc"), os.environ.get("TEST_CLANG", "clang")
HAVE = (("nests.c", GCC), ("nests.c", CLANG), ("nests.cc", GCC.replace("gcc", "g++")), ("nests.f90", "gfortran"))
FLAGS = (["-O3", "-gdwarf-4"], ["-O3", "-gdwarf-5"], ["-O0", "-gdwarf-5", "-gz"], ["-O2", "-gdwarf-4", "-ffunction-sections"])
PACKERS = ("llvm-dwp-19", "llvm-dwp", "dwp")  # each fails for some compiler
verbose, failed = "-v" in sys.argv, []


def run(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, **options)


def printed(binary):
    done = run(os.path.join(BUILD, "ompp-struct"), "--no-cache", binary)
    if "without Zydis" in done.stdout:
        print("SKIP: built without Zydis (Debian package: libzydis-dev)")
        sys.exit(77)
    return re.sub(r", in [0-9.]+ s|^slowest.*\n", "", done.stdout, flags=re.M)


def check(good, what, more=""):
    print("%s: %s" % ("ok" if good else "FAIL", what))
    if not good:
        failed.append(what)
        print(more)


def same(what, one, two):
    differing = [pair for pair in zip(one.splitlines(), two.splitlines()) if pair[0] != pair[1]]
    check(one == two, what, "\n".join("  %s\n  %s" % pair for pair in differing[:3 if not verbose else 1000]))


def compile_both(work, source, compiler, flags):
    """Programs with and without: of two files, the second one without loops. \\return whether the compiler can."""
    for name, split in (("whole", []), ("split", ["-gsplit-dwarf"])):
        for text, to in ((source, "%s-a.o" % name), ("opaque.c", "%s-b.o" % name)):
            done = run(compiler if text == source else GCC, *flags, *split, "-c", os.path.join(HERE, text), "-o", to, cwd=work)
            if done.returncode:
                return False
        if run(compiler, "%s-a.o" % name, "%s-b.o" % name, "-o", name, cwd=work).returncode:
            return False
    return True


def pack(work):
    """\\return what has packed the .dwo files, or None."""
    for packer in filter(shutil.which, PACKERS):
        try:
            if run(packer, "-e", "split", "-o", "split.dwp", cwd=work, timeout=3).returncode == 0:
                return packer
        except subprocess.TimeoutExpired:
            pass
    return None


def compare(work, source, compiler, flags):
    what = "%s %s" % (compiler, " ".join(flags))
    if not compile_both(work, source, compiler, flags):
        return print("note: not compiled: " + what)
    split, whole = os.path.join(work, "split"), printed(os.path.join(work, "whole"))
    check("loop  " in whole and not re.search(r"^not found", whole, re.M), what + ": loops")
    same(what + ": .dwo files", whole, printed(split))
    away = os.path.join(work, "away")
    os.makedirs(away)
    names = [name for name in os.listdir(work) if name.endswith(".dwo")]
    packer = pack(work)
    for name in names:
        os.rename(os.path.join(work, name), os.path.join(away, name))
    if packer:
        same("%s: packed by %s" % (what, packer), whole, printed(split))
        os.remove(split + ".dwp")
    shutil.copy(split, away)
    same(what + ": moved with the program", whole, printed(os.path.join(away, "split")))
    lost = printed(split)
    missing = re.findall(r"^not found: .* of (\d+) units, as (\S+): not found$", lost, re.M)
    check(len(missing) == 1 and missing[0][0] == "2" and missing[0][1].endswith(".dwo") and "main  " in lost, what + ": missing", lost)
    for name in names:
        shutil.copy(os.path.join(away, [other for other in names if other != name][0]), os.path.join(work, name))
    check("units, as %s" % work in printed(split) and ": of another build" in printed(split), what + ": of another build")


PROGRAM = """
static inline double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] / (s + 1); return s; }
double x[1000];
__attribute__((noinline)) double work(int i) { x[i % 1000] = i; return sum(x, 1000); }
int main(void)
{
    double s = 0;
    for (int i = 0; i < 30000; i++) s += work(i);
    for (int i = 0; i < 30000; i++) s += work(i + 1);
    return s < 0;
}
"""


def report(work):
    """The report of a run: the inlined call, or one line that says what is missing. Paths that differ in loops alone are one."""
    with open(os.path.join(work, "program.c"), "w") as file:
        file.write(PROGRAM)
    run(GCC, "-O2", "-g", "-gsplit-dwarf", "-c", "program.c", cwd=work)
    run(GCC, "program.o", "-o", "program", cwd=work)
    texts = []
    for name in ("there", "gone"):
        if name == "gone":
            os.remove(os.path.join(work, "program.dwo"))
        done = run(os.path.join(BUILD, "ompp"), "--appname=" + name, "--", "./program", cwd=work)
        found = [file for file in os.listdir(work) if file.startswith(name) and file.endswith(".ompp.txt")]
        check(done.returncode == 0 and len(found) == 1, "a report: " + name, done.stderr)
        texts.append(open(os.path.join(work, found[0])).read() if found else "")
    if "threads without samples" in texts[0]:
        return print("note: no samples here")
    said = [[line for line in text.splitlines() if ".dwo" in line] for text in texts]
    xml = [os.path.join(work, name) for name in os.listdir(work) if name.startswith("there") and name.endswith(".xml")][0]
    profile = open(xml).read()
    check(re.search(r'type="INLINED"[^>]* name="sum"', profile) is not None, "report: an inlined call", profile[:3000])
    rows = [line.split(",") for line in run(os.path.join(BUILD, "ompp-report"), "csv", xml).stdout.splitlines() if line.startswith("path,")]
    paths = [tuple(row[3:]) for row in rows]
    check(any("work" in path[0] for path in paths) and len(paths) == len(set(paths)), "report: each path once", str(rows))
    check(not said[0] and len(said[1]) == 1 and "program.dwo" in "".join(texts[1].split()), "report: one line of what is missing", texts[1])


def main():
    for source, compiler in HAVE:
        for flags in FLAGS:
            if not shutil.which(compiler) or (source != "nests.c" and flags[1] == "-gdwarf-4" and flags[0] == "-O2"):
                continue
            with tempfile.TemporaryDirectory() as work:
                compare(work, source, compiler, flags)
    with tempfile.TemporaryDirectory() as work:
        report(work)
    return 1 if failed else 0


sys.exit(main())
