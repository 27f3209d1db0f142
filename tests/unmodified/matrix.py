#!/usr/bin/env python3
"""
Every way to measure a program: {gcc, clang} x {Open MPI, MPICH, none} x {C, mpif.h, mpi, mpi_f08} x {preloaded, preloaded and stripped,
kinst-ompp}, each on one, two and four ranks. OpenMP is in C, compiled by either compiler; MPI is in the main program, in Fortran always by
the compiler that the MPI's modules are made for. Without MPI the languages are C and Fortran. Output and status are those without
measurement, and counts are exact: equal in all cells.

By hand: matrix.py [CELL...], such as gcc-openmpi-F08
"""

import concurrent.futures
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

COMPILERS = {"gcc": harness.COMPILERS["opari"], "clang": harness.COMPILERS["ompt"]}
LANGUAGES = ("C", "F77", "F90", "F08")
WAYS = ("preload", "stripped", "kinst")
# Executions per thread of a team of two, and per rank.
OPENMP = {"PARALLEL": 3, "LOOP": 3, "CRITICAL": 3, "BARRIER": 3, "SINGLE": 3}
MPI = {"MPI_Allreduce": 3, "MPI_Sendrecv": 3, "MPI_Barrier": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1}
# A column of a function, and its value on each rank of P; nothing when that is zero.
VALUES = {"MPI_Allreduce": ("inV", lambda P: 24 * (P - 1)), "MPI_Sendrecv": ("recvC", lambda P: 3)}


class Cell:
    def __init__(self, compiler, family, language):
        self.compiler, self.family, self.language = compiler, family, language
        self.name = "%s-%s-%s" % (compiler, family, language)

    def main_compiler(self):
        if self.family == "none":
            return COMPILERS[self.compiler] if self.language == "C" else os.environ.get("FC", "gfortran")
        return os.environ.get(("mpicc_" if self.language == "C" else "mpifc_") + self.family, "no")

    def ranks(self):
        return (0,) if self.family == "none" else (1, 2, 4)


def families():
    return [f for f in os.environ.get("mpi_families", "").split() if f != "other"]


def cells():
    for compiler in [c for c in COMPILERS if shutil.which(COMPILERS[c])]:
        yield Cell(compiler, "none", "C")
        yield Cell(compiler, "none", "Fortran")
        for family in families():
            for language in LANGUAGES:
                yield Cell(compiler, family, language)


def must(words, folder, **changes):
    done = harness.execute(words, folder, **changes)
    if done.status != 0:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))


def build(cell, program, instrument):
    """OpenMP by the cell's compiler, the rest by the wrapper of its MPI."""
    before = [harness.command("kinst-ompp")] if instrument else []
    folder, kernel, compiler = os.path.dirname(program), program + "-kernel.o", COMPILERS[cell.compiler]
    must([*before, compiler, "-fopenmp", "-O1", "-g", "-c", os.path.join(HERE, "kernel.c"), "-o", kernel], folder)
    library = ["-lgomp"]
    if cell.compiler == "clang":
        found = harness.execute([compiler, "-print-file-name=libomp.so"], folder).out.strip()
        library = [found, "-Wl,-rpath," + os.path.dirname(found)]
    source = os.path.join(HERE, "main.c" if cell.language == "C" else "main.F90")
    flags = ["-DUSE_MPI"] if cell.family != "none" and cell.language == "C" else ["-D" + cell.language]
    must([*before, cell.main_compiler(), "-O1", "-g", *flags, source, kernel, *library, "-o", program], folder,
         OMPI_CC=compiler, MPICH_CC=compiler)


def run(cell, program, folder, ranks, measured):
    os.makedirs(folder, exist_ok=True)
    words = [harness.command("ompp"), "--", program] if measured else [program]
    if ranks:
        launcher = os.environ["mpirun_" + cell.family]
        words = [launcher, *harness.launcher_options(launcher), "-n", str(ranks), *words]
    return harness.execute(words, folder, OMP_NUM_THREADS=2)


def check_counts(verdict, cell, profile, ranks, title):
    for kind, count in OPENMP.items():
        wanted = {(r, t): count for r in range(max(ranks, 1)) for t in range(2)}
        verdict.equal(profile.total("execC", profile.find(kind)), wanted, "%s: %s" % (title, kind))
    for name, count in MPI.items() if ranks else ():
        regions = profile.find("MPI", name=name)
        verdict.equal(profile.total("execC", regions), {(r, 0): count for r in range(ranks)}, "%s: %s" % (title, name))
        column, amount = VALUES.get(name, (None, lambda P: 0))
        wanted = {(r, 0): amount(ranks) for r in range(ranks) if amount(ranks)}
        if column:
            verdict.equal(profile.total(column, regions), wanted, "%s: %s of %s" % (title, column, name))


def test(verdict, scratch, cell):
    folder = scratch.file(cell.name, "x")[:-2]
    programs = {"preload": os.path.join(folder, "plain"), "stripped": os.path.join(folder, "stripped"), "kinst": os.path.join(folder, "kinst")}
    build(cell, programs["preload"], False)
    build(cell, programs["kinst"], True)
    must(["strip", "-o", programs["stripped"], programs["preload"]], folder)
    for ranks in cell.ranks():
        without = verdict.unmeasured("%s, %d ranks" % (cell.name, ranks),
                                     lambda: run(cell, programs["preload"], os.path.join(folder, "without-%d" % ranks), ranks, False),
                                     lambda outcome: (outcome.status, outcome.out.split()[:1]) == (0, [str(max(ranks, 1))]))
        if not without:
            continue
        for way in WAYS:
            title = "%s, %s, %d ranks" % (cell.name, way, ranks)
            outcome = run(cell, programs[way], os.path.join(folder, "%s-%d" % (way, ranks)), ranks, way != "kinst")
            verdict.equal((outcome.status, outcome.out), (without.status, without.out), title + ": result")
            verdict.equal(outcome.messages(), [], title + ": messages")
            profile = outcome.profile()
            verdict.profile(profile, title)
            check_counts(verdict, cell, profile, ranks, title)


def main():
    verdict, scratch = harness.Verdict("matrix"), harness.Scratch("matrix")
    chosen = [cell for cell in cells() if not sys.argv[1:] or cell.name in sys.argv[1:]]
    missing = [cell for cell in chosen if not shutil.which(cell.main_compiler())]
    for cell in missing:
        print("note: not tested without %s: %s" % (cell.main_compiler(), cell.name))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = {pool.submit(test, verdict, scratch, cell): cell for cell in chosen if cell not in missing}
        for future, cell in running.items():
            try:
                future.result()
            except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
                verdict.check(False, "%s: %s" % (cell.name, failure))
    verdict.finish(scratch)


main()
