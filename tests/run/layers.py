#!/usr/bin/env python3
"""
The program's own PMPI layer: functions MPI_x that call PMPI_x, in the program, in a library that it brings, or preloaded by its user; in C,
C++, and for MPI's Fortran. It is called as without ompp, and what it calls of MPI is measured, each call once; one line of Coverage says
so. Calls of PMPI_x of a program without such functions are left alone.
"""

import os
import shutil
import sys

import harness

HERE, RANKS = harness.HERE, 2
COMPILERS = {"gcc": ("gcc", "g++"), "clang": (harness.COMPILERS["ompt"], harness.COMPILERS["ompt"].replace("clang", "clang++"))}
FIND = {"next": ("-DNEXT=\"\"", "-DHANDLE=RTLD_NEXT"), "next-profiling": ("-DNEXT=\"P\"", "-DHANDLE=RTLD_NEXT"),
        "default-profiling": ("-DNEXT=\"P\"", "-DHANDLE=RTLD_DEFAULT")}
# The layer calls MPI_Ibarrier and MPI_Wait in MPI_Barrier.
COUNTS = {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 10, "MPI_Allreduce": 10, "MPI_Ibarrier": 5, "MPI_Wait": 5,
          "MPI_Finalize": 1}


def launchers():
    for name in ("openmpi", "mpich"):
        if shutil.which("mpirun." + name) and shutil.which("mpicc." + name):
            yield name, ["mpirun." + name] + (["--oversubscribe", "--allow-run-as-root"] if name == "openmpi" else [])
        else:
            print("note: not tested with %s" % name)


class Case:
    """Programs of one MPI and compiler, in one folder."""

    def __init__(self, verdict, folder, family, launcher, compiler):
        self.verdict, self.folder, self.family, self.launcher, self.compiler = verdict, folder, family, launcher, compiler
        os.makedirs(folder)

    def compile(self, words, language="cc", kinst=False, level="-O1"):
        c, cxx = COMPILERS[self.compiler]
        words = ["mpi%s.%s" % (language, self.family), "-g", level, *words]
        done = harness.execute(([harness.command("kinst-ompp")] if kinst else []) + words, self.folder, OMPI_CC=c, MPICH_CC=c, OMPI_CXX=cxx,
                               MPICH_CXX=cxx)
        if done.status:
            raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))

    def run(self, name, words, **changes):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        return harness.execute([*self.launcher, "-n", str(RANKS), *words], folder, OMP_NUM_THREADS=1, **changes)

    def judge(self, title, plain, measured, counts, layer):
        title = "%s, %s, %s" % (self.family, self.compiler, title)
        same = [(o.status, sorted(line for line in o.out.splitlines() if line)) for o in (plain, measured)]
        self.verdict.equal(same[1], same[0], title + ": result: " + measured.err[-300:])
        self.verdict.equal(measured.messages(), [], title + ": messages")
        try:
            profile = measured.profile()
        except harness.Failure as failure:
            self.verdict.check(False, "%s: %s" % (title, failure))
            return
        self.verdict.profile(profile, title)
        if "MPI_Barrier" not in counts: # the program calls PMPI_Barrier four times
            counts = {**counts, "MPI_Barrier": 4 if "the program" in layer else {}}
        for name, count in counts.items():
            found = profile.total("execC", profile.find("MPI", name=name))
            wanted = count if isinstance(count, dict) else {rank: count for rank in range(RANKS)}
            self.verdict.equal({rank: n for (rank, _), n in found.items()}, wanted, "%s: %s" % (title, name))
        lines = [c["subject"] for c in profile.coverage if c["kind"] == "mpi-layer"]
        self.verdict.equal(lines, [layer] if layer else [], title + ": Coverage")

    def both(self, title, words, own, counts, layer, language="cc", preload=None):
        """Without ompp, by ompp --, and built by kinst-ompp. own: what the layer adds to the command."""
        name = title.replace(" ", "-").replace(",", "")
        path = os.path.join(self.folder, name)
        run_path = ["-Wl,-rpath," + self.folder]
        self.compile([*words, *own, *run_path, "-o", path], language)
        changes = {"LD_PRELOAD": preload} if preload else {}
        plain = self.verdict.unmeasured(title, lambda: self.run(name + ".plain", [*env(changes), path]))
        if not plain:
            return
        measured = self.run(name + ".ompp", [*env(changes), harness.command("ompp"), "--", path])
        self.judge(title + ", ompp", plain, measured, counts, layer)
        self.compile([*words, *own, *run_path, "-o", path + ".kinst"], language, kinst=True)
        self.judge(title + ", kinst-ompp", plain, self.run(name + ".kinst-run", [*env(changes), path + ".kinst"]), counts, layer)


def env(changes):
    return ["env", *("%s=%s" % pair for pair in changes.items())] if changes else []


def source(name):
    return os.path.join(HERE, name)


def in_c(case):
    case.compile(["-c", source("layers_own.c"), "-o", "own.o"])
    harness.execute(["ar", "rcs", "libown.a", "own.o"], case.folder)
    # A library whose name begins as those of MPI do.
    case.compile(["-shared", "-fPIC", source("layers_own.c"), "-o", "libmpi_own.so"])
    program, library = [source("layers.c")], "libmpi_own.so"
    case.both("in the program", program, ["own.o"], COUNTS, "the program")
    case.both("in an archive", program, ["-L.", "-l:libown.a"], COUNTS, "the program")
    case.both("in a library", program, ["-L.", "-lmpi_own"], COUNTS, library)
    case.both("preloaded", program, [], COUNTS, library, preload=os.path.join(case.folder, library))
    case.both("behind MPI's library", program, ["-lmpi" if case.family == "openmpi" else "-lmpich", "-L.", "-lmpi_own"],
              {"MPI_Allreduce": 10, "MPI_Barrier": 5}, None)


def by_loader(case):
    """Layers that ask the loader, layers in front of one another, a rank that never comes back from MPI_Init."""
    program, library = [source("layers.c")], "libmpi_own.so"
    case.compile(["-shared", "-fPIC", source("layers_own.c"), "-o", library])
    for name, flags in FIND.items():
        own = "lib%s.so" % name
        case.compile(["-shared", "-fPIC", *flags, source("layers_own.c"), "-o", own, "-ldl"], level="-O0")
        case.both("in a library, " + name, program, ["-L.", "-l" + name], COUNTS, own)
        case.both("in the program, " + name, program, [*flags, source("layers_own.c"), "-ldl"], COUNTS, "the program")
        case.both("preloaded, " + name, program, [], COUNTS, own, preload=os.path.join(case.folder, own))
    # Two of them: what the first asks the loader for is in the second.
    case.both("preloaded, next, and in a library", program, ["-L.", "-lmpi_own"], {**COUNTS, "MPI_Comm_size": 20}, "libnext.so, " + library,
              preload=os.path.join(case.folder, "libnext.so"))
    counts = {"MPI_Init": 1, "MPI_Comm_split": 1, "MPI_Comm_size": 1, "MPI_Finalize": 1, "MPI_Comm_rank": {0: 2, 1: 1},
              "MPI_Allreduce": {0: 10}, "MPI_Barrier": {0: 5}}
    case.compile(["-shared", "-fPIC", source("layers_server.c"), "-o", "libserver.so"])
    case.both("a rank of its own, in the program", program, [source("layers_server.c")], {**counts, "MPI_Barrier": {0: 9}}, "the program")
    case.both("a rank of its own, in a library", program, ["-L.", "-lserver"], counts, "libserver.so")


def in_cxx(case):
    case.compile(["-shared", "-fPIC", "-x", "c++", source("layers_own.c"), "-o", "libcxx.so"], "cxx")
    case.both("in C++", ["-x", "c++", source("layers_own.c"), "-x", "c", source("layers.c")], [], COUNTS, "the program", "cxx")
    case.both("in a library in C++", [source("layers.c")], ["-L.", "-lcxx"], COUNTS, "libcxx.so")


def without(case):
    path = os.path.join(case.folder, "without")
    case.compile([source("layers.c"), "-o", path])
    plain = case.run("without.plain", [path])
    measured = case.run("without.ompp", [harness.command("ompp"), "--", path])
    case.judge("no layer", plain, measured, {"MPI_Allreduce": 10, "MPI_Barrier": 5}, None)


def in_fortran(case):
    c_counts = {"MPI_Allreduce": 10, "MPI_Comm_size": 10, "MPI_Ibarrier": 5, "MPI_Wait": 5, "MPI_Finalize": 1, "MPI_Init": 1, "MPI_Comm_rank": 1}
    f_counts = {"MPI_Allreduce": 10, "MPI_Barrier": 5, "MPI_Finalize": 1, "MPI_Init": 1, "MPI_Comm_rank": 1}
    case.compile(["-shared", "-fPIC", source("layers_own.c"), "-o", "libown_c.so"])
    for name, flags in (("mpif.h", []), ("f08", ["-DF08"])):
        form = {"mpif.h": "_", "f08": "_f08_"}[name]
        forms = ["-DFORM=" + form, "-DBUFFERS=" + form]
        if case.family == "mpich" and name == "f08":
            forms = ["-DFORM=_f08_", "-DBUFFERS=_f08ts_", "-DNEXT"]
        own = "libown_%s.so" % name[:3]
        case.compile(["-shared", "-fPIC", *forms, source("layers_fortran.c"), "-o", own])
        case.compile(["-c", "-fPIC", *forms, source("layers_fortran.c"), "-o", own + ".o"])
        program = [*flags, source("layers.F90")]
        case.both(name + ", in a library", program, ["-L.", "-l:" + own], f_counts, own, "fort")
        case.both(name + ", in the program", program, [own + ".o", "-ldl"], f_counts, "the program", "fort")
        # MPICH's mpif.h calls the functions of C: the layer is asked. Its mpi_f08 does so for calls with buffers.
        asked = case.family == "mpich" and name == "mpif.h"
        case.both(name + ", in a library of C", program, ["-Wl,--no-as-needed", "-L.", "-lown_c"], c_counts if asked else f_counts,
                  "libown_c.so", "fort")


def main():
    verdict, scratch = harness.Verdict("layers"), harness.Scratch("layers")
    parts = {"c": in_c, "loader": by_loader, "cxx": in_cxx, "without": without, "fortran": in_fortran}
    for family, launcher in launchers():
        for compiler, names in COMPILERS.items():
            if not shutil.which(names[0]):
                print("note: not tested with " + names[0])
                continue
            for name, part in parts.items():
                if len(sys.argv) > 1 and not {name, family, compiler} >= set(sys.argv[1:]):
                    continue
                if name in ("loader", "fortran") and compiler != "gcc":  # nothing in them depends on it
                    continue
                if name == "fortran" and not shutil.which("mpifort." + family):
                    print("note: not tested with mpifort." + family)
                    continue
                case = Case(verdict, os.path.join(scratch.path, family, compiler, name), family, launcher, compiler)
                try:
                    part(case)
                except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
                    verdict.check(False, "%s, %s, %s: %s" % (family, compiler, name, failure))
    verdict.finish(scratch)


main()
