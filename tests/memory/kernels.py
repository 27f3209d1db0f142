#!/usr/bin/env python3
"""Access patterns x compiler x optimisation level: the loads and stores counted for each are the expected ones, or the exception
that is listed here, in docs/data-hooks.md and in the Coverage section. Arguments: patterns to look at."""

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
    "memset_array": (0, N, 0, 64 * N), "fixed_from": (N, 0, 64 * N, 0),
    "fixed_to": (0, N, 0, 64 * N), "fixed_set": (0, N, 0, 64 * N), "idiom_from": (N, 0, N, 0), "idiom_to": (0, N, 0, N), "idiom_set": (0, N, 0, N),
    "volatile_array": (N, N, 4 * N, 4 * N), "atomic_add": (N, N, 8 * N, 8 * N), "atomic_load": (N, 0, 8 * N, 0),
    "atomic_store": (0, N, 0, 8 * N), "atomic_compare": (N, 501, 8 * N, 8 * 501), "atomic_exchange": (N, N, 8 * N, 8 * N),
    "list": (2 * N, N, 16 * N, 8 * N), "vectors": (N, N, 16 * N, 16 * N),
    "wide_vectors": {(N, N, 32 * N, 32 * N), (2 * N, 2 * N, 32 * N, 32 * N)}, "simd_from": (N, 0, 8 * N, 0), "simd_to": (0, N, 0, 8 * N),
    "simdlen_from": (N, 0, 8 * N, 0), "simdlen_to": (0, N, 0, 8 * N), "simd_sum": (N, 0, 8 * N, 0), "scalar": (N, N, 8 * N, 8 * N),
    "omp_atomic": (N, N, 8 * N, 8 * N), "omp_atomic_long": (N, N, 8 * N, 8 * N), "reduced": (2, 2, 16, 16),
    "private_array": (0, N, 0, 8 * N), "recursion": (400, 400, 3200, 3200), "vla": (0, N, 0, 8 * N), "heap": (N, N, 8 * N, 8 * N),
    "per_thread": (0, 2 * N, 0, 16 * N),
}
for name, size in (("char", 1), ("short", 2), ("int", 4), ("long", 8), ("float", 4), ("double", 8), ("bool", 1), ("int128", 16),
                   ("longdouble", 16)):
    EXPECTED.update({"%s_%s" % (way, name): values for way, values in scalar(size).items()})

NOTHING = (0, 0, 0, 0)
# What a compiler does otherwise, and whether that hides something: (compilers, levels or None) -> pattern -> counts, or a set of them
# of which one is right.
EXCEPTIONS = [
    # Hidden: constant data, the read of a bit-field that is written, what OpenMP writes of floating-point atomics and reductions.
    (("gcc", "g++"), None, {"constant": NOTHING, "bits_write": (0, N, 0, 4 * N), "omp_atomic": (N, 0, 8 * N, 0),
                            "reduced": (2, 0, 16, 0), "bits_read": (N, 0, 2 * N, 0)}),
    # Both parts at once, or, with gcc 14, each by itself.
    (("gcc",), ("-O0",), {"complex_array": {(N, N, 16 * N, 16 * N), (2 * N, 2 * N, 16 * N, 16 * N)}}),
    # Hidden: what the OpenMP library does itself.
    (("clang", "clang++"), None, {"omp_atomic": NOTHING, "reduced": NOTHING}),
    # A loop that copies or sets becomes one block, with all its bytes.
    (("clang",), ("-O1", "-O2", "-O3"), {"assigned_from": (1, 0, 64 * N, 0), "assigned_to": (0, 1, 0, 64 * N),
                                  "idiom_from": (1, 0, N, 0), "idiom_to": (0, 1, 0, N), "idiom_set": (0, 1, 0, N),
                                           "fixed_from": (1, 0, 64 * N, 0), "fixed_to": (0, 1, 0, 64 * N)}),
]
# Of a clang that no plugin is for, also: sizes that it has no hook for; vectors that the source asks for by their length.
WITHOUT_PLUGIN = (("clang",), None, {"read_longdouble": NOTHING, "write_longdouble": NOTHING, "wide_vectors": NOTHING,
                                     "simdlen_from": {NOTHING, (N, 0, 8 * N, 0)}, "simdlen_to": {NOTHING, (0, N, 0, 8 * N)}})
CXX = {
    "referred": (N, N, 8 * N, 8 * N), "captured": (N, N, 8 * N, 8 * N), "ranged": (0, N, 0, 8 * N), "functors": (N, N, 8 * N, 8 * N),
    "summed": (N, 0, 8 * N, 0), "called": (0, N, 0, 8 * N), "array_read": (N, 0, 8 * N, 0), "array_write": (0, N, 0, 8 * N),
    "complexes": (2 * N, 0, 16 * N, 0), "pairs": (2 * N, 0, 12 * N, 0), "flags": (N, N, N, N), "members": (N, N, 8 * N, 8 * N),
    "copied_from": (2 * N, 0, 128 * N, 0), "copied_to": (0, N, 0, 64 * N), "moved_from": (N, 0, 64 * N, 0),
    "moved_to": (0, 2 * N, 0, 128 * N), "placed": (0, 2 * N, 0, 16 * N), "thrown": (0, N, 0, 8 * N),
    "caught": (N // 10, N // 10, 8 * N // 10, 8 * N // 10), "atomic_add": (N, N, 8 * N, 8 * N), "atomic_load": (N, 0, 8 * N, 0),
    "atomic_store": (0, N, 0, 8 * N), "atomic_compare": (N, N, 4 * N, 4 * N), "atomic_double": (0, N, 0, 8 * N),
    "atomic_flag": (N, N, N, N), "swapped_a": (N, N, 8 * N, 8 * N), "swapped_b": (N, N, 8 * N, 8 * N), "per_thread": (0, N, 0, 8 * N),
    "colours": (0, N, 0, N), "vector_indexed": (N, N, 8 * N, 8 * N), "vector_iterated": (0, N, 0, 8 * N), "created": (10, N, 80, 8 * N),
    "objects": (2 * N, 0, 16 * N, 0),        # the table of virtual functions, the member
    "virtual_bases": (2 * N, 0, 16 * N, 0),  # where the base is, the member
    "unique": (0, N, 0, 8 * N), "once": (N + 1, N, 4 * N + 4, 4 * N), "string_indexed": (0, N, 0, N),
    "string_replaced": NOTHING,  # hidden: in the C++ library
    "copied_source": (1, 0, 8 * N, 0), "copied_target": (0, 1, 0, 8 * N), "filled": (0, N, 0, 8 * N), "filled_bytes": (0, 1, 0, N),
}
CXX_EXCEPTIONS = [
    # Constructors set the table of virtual functions twice and the member, and the program reads what it has just set.
    (("g++", "clang++"), ("-O0",), {"placed": (N, 4 * N, 8 * N, 32 * N)}),
    (("clang++",), ("-O1",), {"placed": (0, 4 * N, 0, 32 * N)}),
    # A loop that sets becomes one block, with all its bytes.
    (("clang++",), ("-O1", "-O2", "-O3"), {"colours": (0, 1, 0, N)}),
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


def run_one(verdict, scratch, name, compiler, level, results, *flags):
    source = memory.os.path.join(memory.HERE, "kernels." + {"gfortran": "f90", "g++": "cc", "clang++": "cc"}.get(name, "c"))
    title, program = " ".join((name, level, *flags)), scratch.file("".join((name, level, *flags)))
    memory.build(compiler, source, program, level, *flags)
    run = harness.run(program, scratch.file("run-" + "".join((name, level, *flags))), 2)
    verdict.equal(run.status, 0, title + ": exit status")
    verdict.equal(results.setdefault(name, run.out), run.out, title + ": result")
    profile = run.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    table = {"gfortran": (FORTRAN, FORTRAN_EXCEPTIONS), "g++": (CXX, CXX_EXCEPTIONS), "clang++": (CXX, CXX_EXCEPTIONS)}.get(
        name, (EXPECTED, EXCEPTIONS))
    others = [] if name != "clang" or memory.has_plugin(compiler) else [WITHOUT_PLUGIN]
    for pattern, values in sorted(expected(table[0], table[1] + others, name, level).items()):
        if len(sys.argv) < 2 or pattern in sys.argv[1:]:
            found, allowed = tuple(memory.counts(profile, pattern)[:4]), values if isinstance(values, set) else {values}
            verdict.check(found in allowed, "%s: %s: found %s, wanted %s" % (title, pattern, found, allowed))
    hidden = [line for line in profile.coverage if line["kind"] == "invisible" and "load/store hooks" in line["subject"]]
    verdict.equal(len(hidden), 2, title + ": Coverage says what the compiler hides")


def main():
    scratch, verdict, results = harness.Scratch("kernels"), harness.Verdict("kernels"), {}
    for name, compiler in memory.compilers("gcc", "clang", "gfortran", "g++", "clang++"):
        for level in ("-O0", "-O1", "-O2", "-O3"):
            run_one(verdict, scratch, name, compiler, level, results)
    for name, compiler in memory.compilers("gcc"):
        run_one(verdict, scratch, name, compiler, "-O2", results, "-D_FORTIFY_SOURCE=2")
    for name, compiler in memory.compilers("gcc", "clang") if memory.processor_has("avx2") else ():
        run_one(verdict, scratch, name, compiler, "-O3", results, "-mavx2")
    verdict.finish(scratch)


main()
