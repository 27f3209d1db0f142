#!/usr/bin/env python3
"""What is clang's own with kinst-ompp --memory: functions that are chosen while the program is loaded, C++ functions that may throw,
objects that go to a pipe, and a plugin that fails."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

CLONES = """#include <ompp.h>
#include <stdio.h>
static double a[1000];
__attribute__((target_clones("avx2", "default"))) double f(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}
int main(void)
{
    ompp_papi_set_drange(a, sizeof a, "a");
    for (int i = 0; i < 1000; i++) a[i] = i;
    printf("%g\\n", f(a, 1000));
    return 0;
}
"""
THROWS = """#include <ompp.h>
#include <cstdio>
#include <stdexcept>
static double a[1000];
void look(double sum);
extern "C" __attribute__((noinline)) double f(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    look(sum);
    return sum;
}
__attribute__((noinline)) void look(double sum)
{
    if (sum < 0) throw std::runtime_error("less");
}
int main()
{
    ompp_papi_set_drange(a, sizeof a, "a");
    for (int i = 0; i < 1000; i++) a[i] = i;
    double sum = f(a, 1000);
    a[1] = -1e9;
    try {
        f(a, 1000);
    } catch (const std::exception &e) {
        std::printf("%g %s\\n", sum, e.what());
    }
}
"""
# Passes all that asks for a plugin and makes no bitcode: the first of two steps fails with it.
FAILS = '#!/bin/sh\ncase "$*" in *-fpass-plugin=*-emit-llvm*) kill -SEGV $$;; esac\nexec %s "$@"\n'


def written(scratch, folder, name, text):
    path = os.path.join(os.path.dirname(scratch.file(folder, "x")), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def runs(verdict, title, program, out, loads, stores):
    run = harness.run(program, program + "-run", 1)
    verdict.equal((run.status, run.out), (0, out), title + ": results")
    profile = run.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    verdict.equal(memory.counts(profile, "a")[:2], [loads, stores], title + ": counts")


def clones(verdict, scratch, compiler):
    for level in ("-O0", "-O2"):
        for how in ([], ["-Xclang", "-fno-caret-diagnostics"]):
            source = written(scratch, "clones%s%d" % (level, len(how)), "clones.c", CLONES)
            program = os.path.join(os.path.dirname(source), "clones")
            memory.build(compiler, source, program, level, *how)
            runs(verdict, "target_clones %s %s" % (level, " ".join(how)), program, "499500\n", 1000, 1000)


def throws(verdict, scratch, compiler):
    source = written(scratch, "throws", "throws.cc", THROWS)
    program = os.path.join(os.path.dirname(source), "throws")
    memory.build(compiler, source, program, "-O2")
    runs(verdict, "exceptions", program, "499500 less\n", 2000, 1001)
    if memory.has_plugin(compiler):
        verdict.check(memory.counts_in_registers(program, "f"), "exceptions: a function that may throw counts in registers")


def pipe(verdict, scratch, compiler):
    """The object is what the compiler writes, and all of it."""
    source = written(scratch, "pipe", "clones.c", CLONES)
    folder = os.path.dirname(source)
    words = [harness.command("kinst-ompp"), "--memory", compiler, "-O2", "-I", os.path.join(harness.SOURCE, "include"), "-c", source, "-o"]
    done = harness.execute(["sh", "-c", '"$@" - > piped.o', "sh", *words], folder)
    verdict.equal((done.status, done.err), (0, ""), "-o -: status and messages")
    linked = harness.execute([harness.command("kinst-ompp"), "--memory", compiler, "piped.o", "-o", "piped"], folder)
    verdict.equal(linked.status, 0, "-o -: links: " + linked.err[-300:])
    runs(verdict, "-o -", os.path.join(folder, "piped"), "499500\n", 1000, 1000)


def fails(verdict, scratch, compiler):
    source = written(scratch, "fails", "clones.c", CLONES)
    other = written(scratch, "fails", os.path.basename(compiler), FAILS % compiler)
    os.chmod(other, 0o755)
    program = os.path.join(os.path.dirname(source), "fails")
    said = memory.build(other, source, program, "-O2")
    verdict.equal(said, "", "a plugin that fails: nothing is said")
    runs(verdict, "a plugin that fails", program, "499500\n", 1000, 1000)


def main():
    scratch, verdict = harness.Scratch("clang"), harness.Verdict("clang")
    for name, compiler in memory.compilers("clang"):
        clones(verdict, scratch, compiler)
        pipe(verdict, scratch, compiler)
        fails(verdict, scratch, compiler)
    for name, compiler in memory.compilers("clang++"):
        throws(verdict, scratch, compiler)
    verdict.finish(scratch)


main()
