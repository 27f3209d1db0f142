"""Fortran programs on MPI for tests: building one per binding, running it with and without measurement, reading its annotations."""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "run"))

import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BINDINGS = {"F77": "mpif.h", "F90": "use mpi", "F08": "use mpi_f08"}
COLUMNS = {"c": "execC", "i": "inV", "o": "outV", "r": "recvC", "s": "sendC", "l": "collC"}
OPTIMISE = {"F77": "-O0", "F90": "-O0", "F08": "-O2"}
FLAGS = ("-g", "-w", "-fallow-argument-mismatch", "-ffree-line-length-none")


def compiler():
    name = os.environ.get("MPIFC", "mpifort")
    if name == "no" or not shutil.which(name):
        harness.skip("no MPI Fortran compiler wrapper")
    return name


def build(source, program, binding, flags=(), instrument=False):
    words = [harness.command("kinst-ompp")] if instrument else []
    words += [compiler(), OPTIMISE[binding], *FLAGS, *flags, "-D" + binding, os.path.join(HERE, source), "-o", program]
    done = harness.execute(words, os.path.dirname(program))
    if done.status != 0 and re.search("gfortran.*not found|Cannot open module file|unrecognized", done.err):
        harness.skip("no Fortran compiler for MPI here: " + done.err.splitlines()[0])
    if done.status != 0:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))


def run(program, folder, ranks, measured, threads=1, **changes):
    if not measured:
        return harness.run(program, folder, threads, ranks, **changes)
    return harness.run(harness.command("ompp"), folder, threads, ranks, ("--", program), **changes)


def active_lines(source, binding):
    """(number, line) of what is compiled with -D<binding>: #ifdef, #ifndef, #else, #endif."""
    keep = []
    for number, line in enumerate(open(source), 1):
        word = line.split()
        if line.startswith("#if"):
            keep.append((word[0] == "#ifdef") == (word[1] == binding))
        elif line.startswith("#else"):
            keep[-1] = not keep[-1]
        elif line.startswith("#endif"):
            keep.pop()
        elif all(keep):
            yield number, line


def annotations(source, binding):
    """Line -> (code, function name, annotation), of lines with a call of MPI."""
    found = {}
    for number, line in active_lines(source, binding):
        if line.startswith(("#", "!")):
            continue
        match = re.match(r"(.*?\b(MPI_[A-Z][a-z]\w*)\s*\(.*?)\s*!# *(.*)", line)
        if match:
            found[number] = (match.group(1), match.group(2), match.group(3))
    return found


def expected(annotation, r, P):
    """Values of COLUMNS for rank r of P."""
    values = dict.fromkeys(COLUMNS, 0)
    values["c"] = 1
    for key, expression in re.findall(r"(\w)=(.*?)(?= \w=|$)", annotation):
        values[key] = int(eval(expression, {"r": r, "P": P, "range": range, "sum": sum}))
    return values

