"""Every loop begins on the line of its directive, combined with a parallel region or not: found from addresses in clang's code.

usage: loops.py SHOW_LINES CLANG SOURCE DIR     exit status 77: skipped
"""
import os
import re
import shutil
import subprocess
import sys

from compare_opari import calls, run

FLAGS = (["-O0", "-g"], ["-O0", "-gdwarf-4"], ["-O0", "-g1"], ["-O1", "-g"], ["-O2", "-g"], ["-O3", "-g"], ["-Os", "-g"],
         ["-O2", "-g1"])


def truth(source):
    return {i for i, line in enumerate(open(source), 1) if re.match(r"\s*(#pragma omp (parallel )?for\b|PARALLEL_FOR$)", line)}


def found(show, binary):
    ask = [f"LOOP {address:x} 0" for name, address in calls(binary) if re.match("__kmpc_(dispatch|for_static)_init", name)]
    answer = run(show, binary, input="\n".join(ask) + "\n").splitlines()
    return {int(line.split()[1]) for line in answer if not line.endswith(" 0 0")}


def main():
    show, clang, source, directory = sys.argv[1:]
    for tool in (clang, "objdump"):
        if not shutil.which(tool):
            print(f"SKIP: no {tool}")
            return 77
    failed = 0
    expected, binary = truth(source), os.path.join(directory, "loops.so")
    for flags in FLAGS:
        copy = shutil.copy(source, os.path.join(directory, "loops.c"))
        try:
            run(clang, *flags, "-fopenmp", "-fPIC", "-shared", copy, "-o", binary)
        except subprocess.CalledProcessError as error:
            print("SKIP: clang cannot link OpenMP programs:", error.stderr.strip())
            return 77
        os.remove(copy)  # the debug information is enough
        lines = found(show, binary)
        for line in sorted(expected ^ lines):
            print(" ".join(flags), "not found:" if line in expected else "wrong:", line)
        failed |= lines != expected
    return 1 if failed else 0


sys.exit(main())
