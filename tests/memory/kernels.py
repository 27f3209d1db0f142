#!/usr/bin/env python3
"""Access patterns x compiler x optimisation level: the loads and stores counted for each are the expected ones, or the exception
that is listed here, in docs/data.md and in the Coverage section. Arguments: patterns to look at."""

import sys
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

N = 1000


def scalar(size):
    return {"read": (N, 0, N * size, 0), "write": (0, N, 0, N * size)}


# Pattern: loads, stores, bytes loaded, bytes stored.
EXPECTED = {
    "update": (N, N, 8 * N, 8 * N), "copied_from": (N, 0, 8 * N, 0), "copied_to": (0, N, 0, 8 * N), "constant": (N, 0, 8 * N, 0),
    "matrix": (10000, 0, 80000, 0), "gather": (N, 0, 8 * N, 0), "scatter": (0, N, 0, 8 * N), "members": (N, 0, 8 * N, 0),
    "assigned_from": (N, 0, 64 * N, 0), "assigned_to": (0, N, 0, 64 * N), "unaligned": (0, N, 0, 4 * N),
    "bits_write": (N, N, 4 * N, 4 * N), "bits_read": (N, 0, 4 * N, 0), "complex_array": (2 * N, 2 * N, 16 * N, 16 * N),
    "memcpy_from": (N, 0, 64 * N, 0), "memcpy_to": (0, N, 0, 64 * N), "memmove_array": (N - 1, N - 1, 64 * (N - 1), 64 * (N - 1)),
    "memset_array": (0, N, 0, 64 * N), "idiom_from": (N, 0, N, 0), "idiom_to": (0, N, 0, N), "idiom_set": (0, N, 0, N),
    "volatile_array": (N, N, 4 * N, 4 * N), "atomic_add": (N, N, 8 * N, 8 * N), "atomic_load": (N, 0, 8 * N, 0),
    "atomic_store": (0, N, 0, 8 * N), "atomic_compare": (N, 501, 8 * N, 8 * 501), "atomic_exchange": (N, N, 8 * N, 8 * N),
    "list": (2 * N, N, 16 * N, 8 * N), "vectors": (N, N, 16 * N, 16 * N), "scalar": (N, N, 8 * N, 8 * N),
    "omp_atomic": (N, N, 8 * N, 8 * N), "omp_atomic_long": (N, N, 8 * N, 8 * N), "reduced": (2, 2, 16, 16),
    "private_array": (0, N, 0, 8 * N), "recursion": (400, 400, 3200, 3200), "vla": (0, N, 0, 8 * N), "heap": (N, N, 8 * N, 8 * N),
    "per_thread": (0, 2 * N, 0, 16 * N),
}
for name, size in (("char", 1), ("short", 2), ("int", 4), ("long", 8), ("float", 4), ("double", 8), ("bool", 1), ("int128", 16),
                   ("longdouble", 16)):
    EXPECTED.update({"%s_%s" % (way, name): values for way, values in scalar(size).items()})

NOTHING = (0, 0, 0, 0)
# What a compiler does otherwise, and whether that hides something: (compilers, levels or None) -> pattern -> counts.
EXCEPTIONS = [
    # Hidden: constant data, the read of a bit-field that is written, what OpenMP writes of floating-point atomics and reductions.
    (("gcc", "g++"), None, {"constant": NOTHING, "bits_write": (0, N, 0, 4 * N), "omp_atomic": (N, 0, 8 * N, 0),
                            "reduced": (2, 0, 16, 0), "bits_read": (N, 0, 2 * N, 0)}),
    # Both parts at once.
    (("gcc",), ("-O0",), {"complex_array": (N, N, 16 * N, 16 * N)}),
    # Hidden: long double, what the OpenMP library does itself.
    (("clang", "clang++"), None, {"read_longdouble": NOTHING, "write_longdouble": NOTHING, "omp_atomic": NOTHING,
                                  "reduced": NOTHING}),
    # A loop that copies or sets becomes one block, with all its bytes.
    (("clang",), ("-O2", "-O3"), {"assigned_from": (1, 0, 64 * N, 0), "assigned_to": (0, 1, 0, 64 * N),
                                  "idiom_from": (1, 0, N, 0), "idiom_to": (0, 1, 0, N), "idiom_set": (0, 1, 0, N)}),
]
FORTRAN = {
    "loop_read": (N, 0, 8 * N, 0), "loop_write": (0, N, 0, 8 * N), "section": (0, N // 2, 0, 4 * N), "whole": (1, 1, 8 * N, 8 * N),
    "copied": (0, 1, 0, 8 * N), "summed": (N, 0, 8 * N, 0), "masked": (N, N, 8 * N, 8 * N), "quad": (0, N, 0, 16 * N),
    "complex_array": (2 * N, 2 * N, 16 * N, 16 * N), "points": (N, N, 8 * N, 8 * N), "common_array": (0, N, 0, 8 * N),
    "allocated_array": (0, N, 0, 8 * N), "left": (64000, 0, 512000, 0), "product": (64000, 64001, 512000, 524800),
    "text": (0, 1, 0, 1),  # hidden: the blanks behind it
}
# Hidden: matmul in the Fortran library, which the compiler calls without optimisation.
FORTRAN_EXCEPTIONS = [(("gfortran",), ("-O0",), {"left": NOTHING, "product": NOTHING})]


def expected(table, exceptions, compiler, level):
    result = dict(table)
    for compilers, levels, changes in exceptions:
        if compiler in compilers and (levels is None or level in levels):
            result.update(changes)
    return result


def run_one(verdict, scratch, name, compiler, level, results):
    source = memory.os.path.join(memory.HERE, "kernels." + ("f90" if name == "gfortran" else "c"))
    title, program = "%s %s" % (name, level), scratch.file(name + level)
    memory.build(compiler, source, program, level)
    run = harness.run(program, scratch.file("run-" + name + level), 2)
    verdict.equal(run.status, 0, title + ": exit status")
    verdict.equal(results.setdefault(name, run.out), run.out, title + ": result")
    profile = run.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    table = (FORTRAN, FORTRAN_EXCEPTIONS) if name == "gfortran" else (EXPECTED, EXCEPTIONS)
    for pattern, values in sorted(expected(*table, name, level).items()):
        if len(sys.argv) < 2 or pattern in sys.argv[1:]:
            verdict.equal(tuple(memory.counts(profile, pattern)[:4]), values, "%s: %s" % (title, pattern))
    hidden = [line for line in profile.coverage if line["kind"] == "invisible" and "load/store hooks" in line["subject"]]
    verdict.equal(len(hidden), 2, title + ": Coverage says what the compiler hides")


def main():
    scratch, verdict, results = harness.Scratch("kernels"), harness.Verdict("kernels"), {}
    for name, compiler in memory.compilers("gcc", "clang", "gfortran"):
        for level in ("-O0", "-O2", "-O3"):
            run_one(verdict, scratch, name, compiler, level, results)
    verdict.finish(scratch)


main()
