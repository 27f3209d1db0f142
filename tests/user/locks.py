#!/usr/bin/env python3
"""Locks are named by the variable that holds them: globals, statics, elements, members, shared libraries, PIE and not, C and C++."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))

import harness  # noqa: E402

FOLDER = os.path.join(harness.SOURCE, "tests", "user")
NEST = "bank[3].inner.deep[1]"
COUNTS = {"global": "1 + T", "row[1]": "2", "row[2]": "3", "bank[2].lock": "4", "in_function::own": "5", "in_library[1]": "6", NEST: "1"}
CXX_COUNTS = {"global": "1 + T", "geo::Map::lock": "2", "geo::guard.lock_": "3", "in_library[1]": "6"}
FORTRAN_COUNTS = {"store::guard": "T", "store::rows(1,2)": "4", "driver::own": "1"}
UNNAMED = ["7", "8"]  # on the heap and on the stack


def build(how, source, output, *flags, cxx=False):
    compiler = harness.COMPILERS[how]
    if cxx:
        compiler = compiler.replace("clang", "clang++").replace("gcc", "g++")
    words = [harness.command("kinst-ompp"), "--with=" + how, compiler, "-fopenmp", os.path.join(FOLDER, source), *flags, "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))


def executions(profile, regions):
    return sum(profile.total("execC", regions).values())


def check(verdict, profile, counts, threads, title, unnamed=UNNAMED):
    for name, wanted in counts.items():
        found = profile.find("LOCK", name=name)
        verdict.equal((len(found), executions(profile, found)), (1, eval(wanted, {"T": threads})), "%s: %s" % (title, name))
    found = sorted(executions(profile, [r]) for r in profile.find("LOCK", name=""))
    verdict.equal(found, [int(n) for n in unnamed], title + ": locks without variable")


def places(*sources):
    """name -> (file, line), from the comments behind the declarations."""
    found = {}
    for source in sources:
        for number, line in enumerate(open(os.path.join(FOLDER, source)), 1):
            if "/* @" in line:
                found[line.split("/* @")[1].split(" */")[0]] = (source, number)
    return found


def test(verdict, scratch, how, cxx, flags):
    title = "%s%s %s" % (how, " C++" if cxx else "", " ".join(flags))
    program = scratch.file(title.replace(" ", ""), "locks")
    source, library = "locks.cc" if cxx else "locks.c", os.path.join(os.path.dirname(program), "liblocks.so")
    build(how, "locks_lib.c", library, "-shared", "-fPIC", "-g")
    build(how, source, program, *flags, library, "-Wl,-rpath," + os.path.dirname(library), cxx=cxx)
    for threads in (1, 2, 4):
        outcome = harness.run(program, os.path.join(os.path.dirname(program), str(threads)), threads)
        verdict.equal((outcome.status, outcome.out), (0, "0\n"), title + ": result")
        profile = outcome.profile()
        verdict.profile(profile, title)
        if "-g" in flags:
            check(verdict, profile, CXX_COUNTS if cxx else COUNTS, threads, "%s T=%d" % (title, threads))
            for name, place in places(source, "locks_lib.c").items():
                for region in profile.find("LOCK", name=name):
                    verdict.equal((os.path.basename(region.file), region.begin), place, title + ": place of " + name)
            text = open(outcome.reports("txt")[0]).read()
            verdict.check("('global')" in text, title + ": the text names them")
        else:  # by symbol: the element is an offset
            named = {r.name.split("+")[0].split("::")[-1] for r in profile.find("LOCK")}
            verdict.check({"global", "row", "bank", "own", "in_library[1]"} <= named, "%s: names by symbol: %s" % (title, named))


def test_fortran(verdict, scratch):
    program = scratch.file("fortran", "locks")
    words = [harness.command("kinst-ompp"), "gfortran", "-g", "-fopenmp", os.path.join(FOLDER, "locks.f90"), "-o", program]
    done = harness.execute(words, os.path.dirname(program))
    if done.status:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
    for threads in (1, 2, 4):
        outcome = harness.run(program, os.path.join(os.path.dirname(program), str(threads)), threads)
        verdict.equal((outcome.status, outcome.out), (0, "0\n"), "Fortran: result")
        profile = outcome.profile()
        verdict.profile(profile, "Fortran")
        check(verdict, profile, FORTRAN_COUNTS, threads, "Fortran T=%d" % threads, [])
        for name, place in places("locks.f90").items():
            for region in profile.find("LOCK", name=name):
                verdict.equal((os.path.basename(region.file), region.begin), place, "Fortran: place of " + name)


def main():
    verdict, scratch = harness.Verdict("locks"), harness.Scratch("locks")
    for how in harness.sources():
        test(verdict, scratch, how, False, ("-g",))
        test(verdict, scratch, how, False, ("-g", "-O2", "-no-pie"))
        test(verdict, scratch, how, False, ("-O1",))
        if shutil.which(harness.COMPILERS[how].replace("clang", "clang++").replace("gcc", "g++")):
            test(verdict, scratch, how, True, ("-g",))
    if "opari" in harness.sources() and shutil.which("gfortran"):
        test_fortran(verdict, scratch)
    verdict.finish(scratch)


main()
