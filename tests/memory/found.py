#!/usr/bin/env python3
"""OMPP_DATA: statics of files and functions, libraries also when they come later and go again, Fortran modules and common blocks, parts
of variables; what is said of names that mean several, nearly one, or a pointer. Without debug information, too."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

MAIN = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
struct cell { int id; double value[4]; };
static volatile long table[10];
volatile double grid[6][5];
struct cell cells[8];
double *heap;
extern volatile int in_library[10];
void other(int n), library(int n);
static void first(int n) { static volatile long memo[3]; for (int i = 0; i < n; i++) memo[i % 3] = i; }
static void second(int n) { static volatile long memo[3]; for (int i = 0; i < n; i++) memo[i % 3] = i; }
int main(int argc, char **argv)
{
    heap = malloc(80);
    for (int i = 0; i < 10; i++) table[i] = i;
    other(20);
    first(30);
    second(40);
    library(50);
    for (int i = 0; i < 30; i++) grid[i / 5][i % 5] = i;
    for (int i = 0; i < 8; i++) {
        volatile struct cell *c = &cells[i];
        c->id = i;
        for (int k = 0; k < 4; k++) c->value[k] = k;
    }
    for (int round = 0; argc > 1 && round < 2; round++) {
        void *opened = dlopen(argv[1], RTLD_NOW);
        ((void (*)(int))dlsym(opened, "run"))(100);
        dlclose(opened);
    }
    puts("done");
    return in_library[0] < 0;
}
"""
OTHER = "static volatile long table[10]; void other(int n) { for (int i = 0; i < n; i++) table[i % 10] = i; }\n"
LIBRARY = """volatile int in_library[10]; static volatile short table_of_library[4];
void library(int n) { for (int i = 0; i < n; i++) in_library[i % 10] = i; table_of_library[1] = 1; }\n"""
LATE = """static volatile long late[10]; static volatile long table[2];
void run(int n) { for (int i = 0; i < n; i++) late[i % 10] = i; table[0] = n; }\n"""
FORTRAN = """
module shapes
  real(8) :: area(10) = 0
  real(8), allocatable :: later(:)
end module
subroutine fill(n)
  use shapes
  integer, save, volatile :: calls(4) = 0
  real(8) :: x(10), y(5)
  common /work/ x, y
  integer n, i
  do i = 1, n
    area(mod(i, 10) + 1) = i
    x(mod(i, 10) + 1) = i
    calls(mod(i, 4) + 1) = i
  end do
  do i = 1, 5
    y(i) = i
  end do
end subroutine
program main
  use shapes
  allocate(later(3))
  call fill(20)
  print *, sum(area)
end program
"""


SURPRISE = """
#include <stdlib.h>
void library(int n);
double *heap;
int main(void)
{
    volatile double result[20];
    for (int i = 0; i < 20; i++) result[i] = i;
    heap = malloc(80);
    heap[result[1] > 0] = 1;
    library(50);
    return result[3] < 0;
}
"""
SURPRISING = "volatile double result[10]; void library(int n) { for (int i = 0; i < n; i++) result[i % 10] = i; }\n"


def build(scratch, name, compiler, flags=()):
    folder = os.path.dirname(scratch.file(name, "x"))
    os.makedirs(folder, exist_ok=True)
    for source, text in (("main.c", MAIN), ("other.c", OTHER), ("library.c", LIBRARY), ("late.c", LATE)):
        with open(os.path.join(folder, source), "w") as f:
            f.write(text)
    before = [harness.command("kinst-ompp"), "--memory", compiler, "-O1", *flags]
    for words in ([*before, "-fPIC", "-shared", "library.c", "-o", "libfound.so"], [*before, "-fPIC", "-shared", "late.c", "-o", "late.so"],
                  [*before, "main.c", "other.c", os.path.join(folder, "libfound.so"), "-ldl", "-o", "main"]):
        done = harness.execute(words, folder)
        if done.status != 0:
            raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
    return os.path.join(folder, "main")


def run(verdict, scratch, program, title, names, args=(), **more):
    outcome = harness.run(program, scratch.file("run-" + title.replace(" ", "-")), 2, args=args, OMPP_DATA=names, **more)
    verdict.equal(outcome.status, 0, title + ": exit status")
    profile = outcome.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    return profile, [m for m in outcome.messages() if "OMPP_DATA" in m]


def stores(profile):
    return {name: memory.counts(profile, name)[memory.STORES] for name in memory.objects(profile)}


def in_c(verdict, scratch, name, compiler):
    program = build(scratch, name, compiler)
    late = os.path.join(os.path.dirname(program), "late.so")
    wanted = {"main.c:table": 10, "other.c:table": 20, "first::memo": 30, "second::memo": 40, "in_library": 50, "table_of_library": 1,
              "late": 200, "late.so:table": 2, "grid": 30, "cells": 40}
    profile, said = run(verdict, scratch, program, name + " whole", ",".join(wanted), (late,))
    verdict.equal(stores(profile), wanted, name + ": stores by name")
    verdict.equal(len([m for m in said if "no variable" in m]), 2, name + ": the late ones are missing at first")
    verdict.check(not any("OMPP_DATA" in c.get("subject", "") for c in profile.coverage), name + ": no Coverage line in the end")

    wanted = {"::grid[2]": 5, "grid[0][1:3]": 3, "cells[3]": 5, "cells[4].value": 4, "cells[5].value[1:2]": 2}
    profile, said = run(verdict, scratch, program, name + " parts", ",".join(wanted))
    verdict.equal((stores(profile), said), (wanted, []), name + ": stores by part")

    wanted = ["table", "memo", "gird", "grid[9]", "cells.id", "cells[1].x", "heap", "grid[1:2][1:2]"]
    words = ["there are 2, name one: main.c:table (80 bytes), other.c:table (80 bytes)",
             "there are 2, name one: first::memo (24 bytes), second::memo (24 bytes)", "no variable of this name and a fixed address; there is grid",
             "out of bounds", "needs an index", "no such member", "not what it points to", "one piece"]
    profile, said = run(verdict, scratch, program, name + " wrong", ",".join(wanted))
    for text, word in zip(wanted, words):
        verdict.check(any("OMPP_DATA: %s: " % text in m and word in m for m in said), "%s: %s: not '%s' but %s" % (name, text, word, said))
        verdict.check(any(c.get("subject") == "OMPP_DATA: " + text for c in profile.coverage), "%s: %s is not in Coverage" % (name, text))
    verdict.equal(stores(profile), {"heap": 1}, name + ": only the pointer is registered")

    harness.execute(["strip", "--strip-debug", program], scratch.path)
    wanted = {"grid": 30, "table#1": 10, "table#2": 20, "in_library": 50}
    profile, said = run(verdict, scratch, program, name + " symbols", ",".join([*wanted, "grid[1]"]))
    verdict.equal(stores(profile), wanted, name + ": stores by symbol")
    verdict.check(len(said) == 1 and "no debug information" in said[0], name + ": parts need debug information: %s" % said)


def in_fortran(verdict, scratch, compiler):
    source, program = scratch.file("found.f90"), scratch.file("found")
    with open(source, "w") as f:
        f.write(FORTRAN)
    memory.build(compiler, source, program, "-O1")
    wanted = {"shapes::area": 20, "WORK": 25, "x": 20, "/work/y": 5, "fill::calls": 20}
    profile, said = run(verdict, scratch, program, "fortran", "WORK,Shapes::Area(2:3),later,/work/y")
    verdict.equal(stores(profile), {"WORK": 20, "Shapes::Area(2:3)": 4, "/work/y": 5, "later": memory.counts(profile, "later")[1]}, "fortran: parts and blocks")
    verdict.check(len(said) == 1 and "its description" in said[0], "fortran: an allocatable array: %s" % said)
    del wanted["WORK"]
    profile, said = run(verdict, scratch, program, "fortran members", ",".join(wanted))
    verdict.equal((stores(profile), said), (wanted, []), "fortran: members, module, function")


def surprises(verdict, scratch, name, compiler):
    """A variable of a library where the program has one on the stack; a line beside the one that allocates; caches of a machine unasked."""
    source, library, program = (scratch.file("surprise", n) for n in (name + ".c", "lib%s.so" % name, name))
    os.makedirs(os.path.dirname(source), exist_ok=True)
    for path, text in ((source, SURPRISE), (source[:-2] + "_library.c", SURPRISING)):
        with open(path, "w") as file:
            file.write(text)
    memory.build(compiler, source[:-2] + "_library.c", library, "-O1", "-fPIC", "-shared")
    memory.build(compiler, source, program, "-O1", "-Wl,--no-as-needed", library, "-Wl,-rpath," + os.path.dirname(library))
    profile, said = run(verdict, scratch, program, name + " surprise", "result")
    verdict.equal(stores(profile), {"result": 50}, name + ": the library's variable")
    verdict.check(len(said) == 1 and os.path.basename(library) in said[0] and "no fixed address" in said[0], "%s: it is told of: %s" % (name, said))
    line = 1 + SURPRISE.split("\n").index("    heap = malloc(80);")
    for named in (line - 1, line + 1):
        _, said = run(verdict, scratch, program, "%s line %d" % (name, named), "%s.c:%d" % (name, named))
        verdict.check(any("nearest line that calls for one is %s.c:%d" % (name, line) in m for m in said), "%s: the line that allocates: %s" % (name, said))
    outcome = harness.run(program, scratch.file("run-machine-" + name), 1, OMPP_CACHE_MACHINE="nowhere", OMPP_CACHE_WITH="tlb")
    verdict.equal(len([m for m in outcome.messages() if "has no effect" in m]), 2, "%s: OMPP_CACHE is not set: %s" % (name, outcome.messages()))


def launched(verdict, scratch, program):
    """ompp --data=, for a program that was built with hooks; what it says is what OMPP_DATA says."""
    folder = scratch.file("launched")
    os.makedirs(folder)
    done = harness.execute([harness.command("ompp"), "--data=grid,nothing", "--outdir=" + folder, "--", program], folder)
    verdict.equal(done.status, 0, "ompp --data: exit status")
    verdict.check("OMPP_DATA: nothing: no variable" in done.err, "ompp --data: message: " + done.err)
    text = "".join(open(os.path.join(folder, f)).read() for f in os.listdir(folder) if f.endswith(".txt"))
    verdict.check("Data Name       : grid\n" in text, "ompp --data: header line")


def main():
    scratch, verdict = harness.Scratch("found"), harness.Verdict("found")
    for name, compiler in memory.compilers("gcc", "clang"):
        in_c(verdict, scratch, name, compiler)
        surprises(verdict, scratch, name, compiler)
    for _, compiler in memory.compilers("gfortran"):
        in_fortran(verdict, scratch, compiler)
    launched(verdict, scratch, scratch.file("gcc", "main"))
    verdict.finish(scratch)


main()
