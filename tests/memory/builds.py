#!/usr/bin/env python3
"""kinst-ompp --memory in builds of many forms: messages, status and files are those of the plain commands, the program's output, too, and
the loads and stores of one array are counted exactly. What a compiler cannot do here without hooks is left out."""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

MAIN = """#include <stdio.h>
#include "h.h"
double a[1000];
double sum(const double *x, int n);
int main(void)
{
    for (int i = 0; i < 1000; i++) a[i] = i + H;
    printf("%g\\n", sum(a, 1000));
    return 0;
}
"""
SUM = """#include "h.h"
double sum(const double *x, int n)
{
    double s = H;
#pragma omp simd reduction(+:s)
    for (int i = 0; i < n; i++) s += x[i];
    return s;
}
"""
ASSEMBLY = '#define X 3\n.globl three\n.text\nthree: mov $X, %eax\nret\n.section .note.GNU-stack,"",@progbits\n'
MODULE = "export module m;\nexport double sum(const double *x, int n)\n{\n    double s = 0;\n    for (int i = 0; i < n; i++) s += x[i];\n    return s;\n}\n"
IMPORTS = MAIN.replace('#include "h.h"', "import m;").replace("double sum(const double *x, int n);\n", "").replace("+ H", "")
FILES = {"a.c": MAIN, "b.c": SUM, "h.h": "#define H 0\n", "s.S": ASSEMBLY, "m.cppm": MODULE, "ma.cc": IMPORTS,
         "args": "-O2 -c\n-o 'sub/a b.o' a.c\n"}

# Name, commands, with CC and CXX for the compiler. The last one makes ./p.
FORMS = [
    ("link-time optimisation", "CC -O2 -flto -c a.c b.c", "CC -O2 -flto a.o b.o -o p"),
    ("thin", "CC -O2 -flto=thin -c a.c b.c", "CC -O2 -flto=thin a.o b.o -o p"),
    ("module", "CXX -std=c++20 -O2 --precompile m.cppm -o m.pcm", "CXX -std=c++20 -O2 -c m.pcm -o m.o",
     "CXX -std=c++20 -O2 -fmodule-file=m=m.pcm ma.cc m.o -o p"),
    ("module beside its object", "CXX -std=c++20 -O2 -fmodule-output -c m.cppm -o m.o",
     "CXX -std=c++20 -O2 -fmodule-file=m=m.pcm ma.cc m.o -o p"),
    ("header by option", "CC -O2 -x c-header h.h -o h.h.pch", "CC -O2 -include-pch h.h.pch a.c b.c -o p"),
    ("header by place", "CC -O2 h.h", "CC -O2 -include h.h -c a.c b.c", "CC a.o b.o -o p"),
    ("temporaries", "CC -O2 -save-temps=obj -c a.c -o sub/a.o", "CC -O2 -c b.c", "CC sub/a.o b.o -o p"),
    ("preprocessed", "CC -E a.c -o a.i", "CC -O2 -c a.i", "CC -O2 a.o b.c -o p"),
    ("bitcode", "CC -O2 -S -emit-llvm a.c", "CC -O2 -c a.ll -o a.o", "CC -O2 a.o b.c -o p"),
    ("assembly", "CC -O2 -S a.c", "CC -O2 -c a.s", "CC -x assembler-with-cpp -c s.S -o s.o", "CC -O2 a.o s.o b.c -o p"),
    ("assembly among sources", "CC -O2 -c a.c s.S b.c", "CC a.o b.o s.o -o p"),
    ("response file", "CC @args", "CC -O2 b.c 'sub/a b.o' -o p"),
    ("dependencies", "CC -O2 -MD -c a.c -o sub/a.o", "CC -O2 -MMD -MP -MT x -MF y.d -c b.c", "CC sub/a.o b.o -o p"),
    ("dependencies of several", "CC -O2 -MMD -c a.c b.c", "CC a.o b.o -o p"),
    ("undefined behaviour", "CC -O2 -fsanitize=undefined -fsanitize-undefined-trap-on-error a.c b.c -o p"),
    ("simd", "CC -O2 -fopenmp-simd -MMD a.c b.c -o sub/p", "CC -O2 -fopenmp-simd a.c b.c -o p"),
    ("coverage", "CC -O2 --coverage -c a.c b.c", "CC --coverage a.o b.o -o p"),
    ("trace of the compiler", "CC -O2 -ftime-trace -c a.c", "CC -O2 a.o b.c -o p"),
    ("nowhere", "CC -O2 -c a.c -o nowhere/a.o"),
    ("accelerator", "CC -O2 -fopenmp -fopenmp-targets=nvptx64-nvidia-cuda -nogpulib --cuda-path=nowhere a.c b.c -o p"),
]


def run_form(folder, commands, compilers, before):
    """Status, messages of each command until one fails; the files there are then."""
    for name, text in FILES.items():
        os.makedirs(os.path.join(folder, "sub"), exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    said = []
    for command in commands:
        words = re.findall(r"'[^']*'|\S+", command)
        words = [compilers.get(w, w.strip("'")) for w in words]
        done = harness.execute(before + words, folder)
        said.append((command, done.status, re.sub(r"/\S+", "FILE", done.err)))
        if done.status != 0:
            break
    listing = sorted(os.path.relpath(os.path.join(where, file), folder) for where, _, files in os.walk(folder) for file in files)
    texts = {f: open(os.path.join(folder, f)).read() for f in listing if f.endswith(".d")}
    return said, listing, texts


def check(verdict, scratch, title, commands, compilers):
    before = {"plain": [], "hooks": [harness.command("kinst-ompp"), "--memory"]}
    folders = {way: os.path.dirname(scratch.file("%s-%s" % (re.sub(r"\W", "-", title), way), "x")) for way in before}
    plain, hooks = (run_form(folders[way], commands, compilers, before[way]) for way in before)
    failed = plain[0][-1][1] != 0
    if failed and not any(word in title for word in ("nowhere", "accelerator")):
        print("note: %s: not possible here: %s" % (title, plain[0][-1][2][:200]))
        return
    verdict.equal(hooks[0], plain[0], title + ": status and messages")
    verdict.equal(hooks[1], plain[1], title + ": files")
    verdict.equal(hooks[2], plain[2], title + ": dependency files")
    program = os.path.join(folders["hooks"], "p")
    if failed or not os.path.exists(program):
        return
    run = harness.run(program, scratch.file("run-" + os.path.basename(folders["hooks"])), 1, OMPP_DATA="a")
    verdict.equal((run.status, run.out), (0, "499500\n"), title + ": results")
    profile = run.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    if "a" not in memory.objects(profile):
        verdict.check(False, title + ": the array is not in the report: %s" % run.messages())
        return
    counts = memory.counts(profile, "a")[:2]
    if "-flto" in " ".join(commands) and title.startswith("clang"):  # a loop may be made one block
        verdict.check(counts[0] > 0 and counts[1] > 0, title + ": counts: %s" % counts)
    else:
        verdict.equal(counts, [1000, 1000], title + ": counts")


def main():
    scratch, verdict = harness.Scratch("builds"), harness.Verdict("builds")
    found = dict(memory.compilers("gcc", "g++", "clang", "clang++"))
    for c, cxx in (("gcc", "g++"), ("clang", "clang++")):
        if c not in found or cxx not in found:
            continue
        for name, *commands in FORMS:
            check(verdict, scratch, "%s, %s" % (c, name), commands, {"CC": found[c], "CXX": found[cxx]})
    verdict.finish(scratch)


if __name__ == "__main__":
    sys.exit(main())
