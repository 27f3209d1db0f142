#!/usr/bin/env python3
"""
One run for each event source: OpenMP by OMPT, OPARI2 and libgomp, MPI of each family, functions, ompp.h, loads and stores, counters,
causal profiling. The program's result and all counts are exact. The tests of one source go further; this one shows in seconds whether
each source measures at all.

By hand: sources.py [NAME...], such as "OMPT"
"""

import collections
import os
import shutil
import sys
import xml.etree.ElementTree as ElementTree

import harness

sys.path.insert(0, os.path.join(harness.SOURCE, "tests", "memory"))
import memory  # noqa: E402

# What sources.c does: rounds, elements of grid, threads of a team.
TIMES, N, THREADS, RANKS = 3, 100, 2, 2
CONSTRUCTS = ("PARALLEL", "LOOP", "CRITICAL", "BARRIER", "SINGLE")
FAULTS, PAGES, SLACK = "perf::PAGE-FAULTS", 500, 16  # pages that pages.c touches in its single; stacks and our records take some more

# needs: programs without which the source cannot be tested. build: the compiler with its options. launch: what stands before the program.
Case = collections.namedtuple("Case", "name needs build launch ranks source settings check")


def openmp(verdict, profile, title, ranks=1):
    places = [(rank, tid) for rank in range(ranks) for tid in range(THREADS)]
    for kind in CONSTRUCTS:
        verdict.equal(profile.total("execC", profile.find(kind)), dict.fromkeys(places, TIMES), "%s: %s" % (title, kind))


def mpi(verdict, profile, title):
    openmp(verdict, profile, title, RANKS)
    calls = profile.find("MPI", name="MPI_Allreduce")
    for column, value in (("execC", TIMES), ("inV", TIMES * 8 * (RANKS - 1))):
        verdict.equal(profile.total(column, calls), {(rank, 0): value for rank in range(RANKS)}, "%s: %s" % (title, column))


def user_regions(**counts):
    def check(verdict, profile, title):
        found = {r.name: sum(profile.total("execC", [r]).values()) for r in profile.find("USER REGION")}
        verdict.equal(found, counts, title + ": user regions")
    return check


def loads_and_stores(verdict, profile, title):
    profile.root = ElementTree.parse(profile.path).getroot()
    found = memory.counts(profile, "grid")
    verdict.equal((found[memory.LOADS], found[memory.STORES]), (TIMES * N + 1, TIMES * N), title + ": loads and stores of grid")


def page_faults(verdict, profile, title):
    counters = profile.metrics[FAULTS][0]
    found = sum(values[0] for node in profile.nodes_of(profile.find("SINGLE")) for (_, which), values in node.values.items() if which == counters)
    verdict.check(PAGES <= found <= PAGES + SLACK, "%s: %d page faults, wanted %d" % (title, found, PAGES))


def causal(verdict, profile, title):
    if verdict.check(profile.whatif is not None, title + ": no what-if part"):
        verdict.equal([(p.name, p.visits) for p in profile.whatif.points], [("unit", TIMES)], title + ": visits of progress points")


def cases():
    gcc, clang, kinst, ompp = harness.COMPILERS["opari"], harness.COMPILERS["ompt"], harness.command("kinst-ompp"), [harness.command("ompp"), "--"]
    api = ["-DUSE_API", "-I" + os.path.join(harness.SOURCE, "include")]
    opari = shutil.which(os.environ.get("OPARI2", "opari2")) or "opari2"

    def case(name, needs, build, check, launch=(), ranks=0, source=os.path.join(harness.HERE, "sources.c"), **settings):
        return Case(name, needs, build, launch, ranks, source, settings, check)

    yield case("OMPT", [clang], [kinst, "--with=ompt", clang], openmp)
    yield case("OPARI2", [gcc, opari], [kinst, "--with=opari", gcc], openmp)
    yield case("libgomp", [gcc], [gcc], openmp, ompp)
    for family in ("openmpi", "mpich"):
        compiler, launcher = (os.environ.get("%s_%s" % (what, family), "no " + family) for what in ("mpicc", "mpirun"))
        yield case(family, [gcc, compiler, launcher], [compiler, "-DUSE_MPI"], mpi, [launcher, ompp], RANKS)
    yield case("functions", [gcc, opari], [kinst, gcc, "-finstrument-functions"], user_regions(main=1, step=TIMES))
    yield case("ompp.h", [gcc, opari], [kinst, gcc, *api], user_regions(unit=TIMES))
    yield case("loads and stores", [gcc], [kinst, "--memory", gcc], loads_and_stores, OMPP_DATA="grid")
    yield case("counters", [gcc, opari], [kinst, gcc], page_faults, OMPP_CTR1=FAULTS,
               source=os.path.join(harness.SOURCE, "tests", "counter", "pages.c"))
    yield case("causal", [gcc, opari], [kinst, gcc, *api], causal, OMPP_CAUSAL="virtual")


def test(verdict, scratch, case):
    program = scratch.file(case.name, "program")
    done = harness.execute([*case.build, "-fopenmp", "-O1", "-g", case.source, "-o", program], os.path.dirname(program),
                           OMPI_CC=harness.COMPILERS["opari"], MPICH_CC=harness.COMPILERS["opari"])
    if not verdict.equal(done.status, 0, "%s: build: %s" % (case.name, done.err[-1500:])):
        return
    words = [*case.launch, program]
    if case.ranks:
        launcher, before = case.launch
        words = [launcher, *harness.launcher_options(launcher), "-n", str(case.ranks), *before, program]
    outcome = harness.execute(words, os.path.dirname(program), OMP_NUM_THREADS=THREADS, **case.settings)
    said = outcome.messages()
    if case.name == "counters" and any("not counted" in line or "no counters" in line for line in said):
        print("note: not tested: counters: %s" % said[0])
        return
    wanted = "" if case.name == "counters" else "%d %d\n" % (TIMES * (N - 1), TIMES * (THREADS + 10) * max(case.ranks, 1))
    verdict.equal((outcome.status, outcome.out, said), (0, wanted, []), case.name + ": status, output, messages")
    profile = outcome.profile()
    verdict.profile(profile, case.name)
    case.check(verdict, profile, case.name)


def main():
    verdict, scratch = harness.Verdict("sources"), harness.Scratch("sources")
    for case in cases():
        missing = [name for name in case.needs if not shutil.which(name)]
        if missing:
            print("note: not tested: %s: %s is not here" % (case.name, missing[0]))
        elif not sys.argv[1:] or case.name in sys.argv[1:]:
            try:
                test(verdict, scratch, case)
            except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
                verdict.check(False, "%s: %s" % (case.name, failure))
    verdict.finish(scratch)


main()
