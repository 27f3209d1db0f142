#!/usr/bin/env python3
"""Sources that do not compile as kinst-ompp --memory wants it: hooks are called where they cannot stand in the code; without any, one
line says so, and Coverage names the source; one that does not compile at all fails as without kinst-ompp."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

PROGRAM = """#include <ompp.h>
#include <stdio.h>
%s
static double a[100];
int main(void)
{
    ompp_papi_set_drange(a, sizeof a, "a");
#pragma omp parallel for
    for (int i = 0; i < 100; i++) a[i] = i;
    printf("%%g\\n", a[7]);
    return 0;
}
"""
FORTRAN = """program p
  real(8) :: a(100)
  a = 7
  print '(f4.1)', a(7)
end program
"""
# The assembler does not take a macro of the name that one of the hooks' has.
MACRO = '__asm__(".macro call name\\n.endm\\n.purgem call");'
REFUSES = '#!/bin/sh\ncase "$*" in *-fsanitize=thread*) echo "no hooks here" >&2; exit 1;; esac\nexec %s "$@"\n'


def prepared(scratch, title, name, text):
    folder = os.path.dirname(scratch.file(title.replace(" ", "-"), "x"))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
    return folder


def refusing(folder, compiler):
    """A compiler that knows no hooks."""
    path = os.path.join(folder, os.path.basename(compiler))
    with open(path, "w") as script:
        script.write(REFUSES % compiler)
    os.chmod(path, 0o755)
    return path


def built(verdict, title, folder, compiler, source, steps, flags):
    """What is said while a program is made, in one command or in two."""
    before = [harness.command("kinst-ompp"), "--memory", compiler, *flags]
    commands = [[source, "-o", "program"]] if steps == 1 else [["-c", source, "-o", "x.o"], ["x.o", "-o", "program"]]
    said = ""
    for words in commands:
        done = harness.execute(before + words, folder)
        verdict.equal(done.status, 0, "%s: builds: %s" % (title, done.err[-500:]))
        said += done.err
    return said


def run(verdict, title, folder, out):
    done = harness.run(os.path.join(folder, "program"), os.path.join(folder, "run"), 1)
    verdict.equal((done.status, done.out), (0, out), title + ": results")
    profile = done.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    return profile


def called(verdict, scratch, name, compiler):
    for steps in (1, 2):
        title = "%s in %d steps, called" % (name, steps)
        folder = prepared(scratch, title, "s.c", PROGRAM % MACRO)
        said = built(verdict, title, folder, compiler, "s.c", steps, ["-O1", "-w"])
        verdict.equal(said, "", title + ": nothing is said")
        verdict.equal(memory.counts(run(verdict, title, folder, "7\n"), "a")[:2], [1, 100], title + ": counts")


def unhooked(verdict, scratch, name, compiler):
    source, text, out = ("s.f90", FORTRAN, " 7.0\n") if name == "gfortran" else ("s.c", PROGRAM % "", "7\n")
    for flags in ([], ["-fopenmp"]):
        for steps in (1, 2):
            title = "%s %s in %d steps, unhooked" % (name, " ".join(flags), steps)
            folder = prepared(scratch, title, source, text)
            said = built(verdict, title, folder, refusing(folder, compiler), source, steps, ["-g", "-w", *flags])
            verdict.equal([line.split(",")[0] for line in said.splitlines()], ["kinst-ompp: %s does not compile with hooks" % source],
                          title + ": one line is said")
            named = [line for line in run(verdict, title, folder, out).coverage if "loads and stores of" in line.get("subject", "")]
            verdict.equal([os.path.basename(line["subject"]) for line in named], [source], title + ": Coverage names the source")


def broken(verdict, scratch, name, compiler):
    folder = prepared(scratch, name + " broken", "s.c", "int main(void) { return nothing; }\n")
    plain = harness.execute([compiler, "-c", "s.c"], folder)
    for words in (["-c", "s.c"], ["s.c", "-o", "program"]):
        done = harness.execute([harness.command("kinst-ompp"), "--memory", compiler, *words], folder)
        verdict.equal((done.status, done.err), (plain.status, plain.err), "%s %s: an error is the user's" % (name, words))


def main():
    scratch, verdict = harness.Scratch("unhooked"), harness.Verdict("unhooked")
    for name, compiler in memory.compilers("gcc"):
        called(verdict, scratch, name, compiler)
    for name, compiler in memory.compilers("gcc", "clang", "gfortran"):
        unhooked(verdict, scratch, name, compiler)
    for name, compiler in memory.compilers("gcc", "clang"):
        broken(verdict, scratch, name, compiler)
    verdict.finish(scratch)


main()
