#!/usr/bin/env python3
"""kinst-ompp --memory and what else a command writes: dependency files, temporaries, objects of two languages. Macros in
the directive that names a structure; sources that ask whether ThreadSanitizer is on, and commands that really want a sanitizer."""

import os
import re
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness


def listing(folder):
    return sorted(os.listdir(folder))


def check(verdict, scratch, name, words, sources, program):
    """The files that the plain command writes are those that it writes with --memory."""
    found = {}
    for way, before in (("plain", []), ("hooks", [harness.command("kinst-ompp"), "--memory"])):
        folder = os.path.dirname(scratch.file(name + "-" + way, "x"))
        os.makedirs(folder, exist_ok=True)
        for source, text in sources.items():
            with open(os.path.join(folder, source), "w") as f:
                f.write(text)
        done = harness.execute(before + words, folder)
        verdict.equal((done.status, done.err if way == "plain" else ""), (0, ""), "%s, %s: status and messages" % (name, way))
        found[way] = listing(folder)
        if way == "hooks" and program:
            verdict.check("libompp-memory" in harness.execute(["ldd", program], folder).out, name + ": has hooks")
    verdict.equal(found["hooks"], found["plain"], name + ": files")


MACROS_H = """#define N 100
#define SIZE(n, type) ((n) * sizeof(type))
static double w[N];
static void name(void)
{
#pragma pomp inst \\
    data(w, SIZE(N, double), "w")
    w[0] = 1;
}
"""
MACROS = """#include <stdio.h>
#include "macros.h"
#define NAME "v"
static double v[N];
int main(void)
{
    name();
#pragma pomp inst data(v, N*8, NAME)
#pragma omp parallel for
    for (int i = 0; i < N; i++) v[i] = w[i] + i;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    puts("asked");
#endif
#endif
#ifdef __SANITIZE_THREAD__
    puts("defined");
#endif
    return v[1] > 0;
}
"""


def macros(verdict, scratch, name, compiler):
    """Names and sizes in directives may be macros, of headers, too; the OpenMP construct beside them is measured."""
    folder = os.path.dirname(scratch.file("macros-" + name, "x"))
    os.makedirs(os.path.join(folder, "s"), exist_ok=True)
    for source, text in (("macros.h", MACROS_H), ("macros.c", MACROS)):
        with open(os.path.join(folder, "s", source), "w") as f:
            f.write(text)
    done = harness.execute([harness.command("kinst-ompp"), "--memory", compiler, "-fopenmp", "-O1", "s/macros.c", "-o", "macros"], folder)
    verdict.equal((done.status, [m for m in done.err.splitlines() if "treating" not in m and "warning" not in m]), (0, []), name + ": macros: build")
    run = harness.run(os.path.join(folder, "macros"), scratch.file("run-macros-" + name), 2)
    profile = run.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    inside = memory.region_of(profile, "PARALLEL LOOP")
    clang = name.startswith("clang")  # directives in headers need OPARI2's way
    wanted = {"v": [0, 100]} if clang else {"v": [0, 100], "w": [100, 0]}
    verdict.equal({s: memory.counts(profile, s, inside)[:2] for s in memory.objects(profile)}, wanted, name + ": macros: counts")
    asks = [c for c in profile.coverage if "thread_sanitizer" in c.get("subject", "")]
    unseen = [c.get("reason", "") for c in profile.coverage if c.get("subject", "").startswith("pragma inst in s/macros.h")]
    verdict.equal(["headers" in u for u in unseen], [True] if clang else [], name + ": a directive that is not seen is told of")
    verdict.equal((run.out, len(asks)), ("asked\n" if clang else "", int(clang)), name + ": sources that ask for ThreadSanitizer")


def refused(verdict, scratch, compiler):
    """Sanitizers with a library of their own are refused; the others are not."""
    folder = os.path.dirname(scratch.file("refused", "x"))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "a.c"), "w") as f:
        f.write("int main(void) { return 0; }\n")
    for option in ("thread", "undefined,leak", "hwaddress", "address,undefined", "fuzzer"):
        done = harness.execute([harness.command("kinst-ompp"), "--memory", compiler, "-fsanitize=" + option, "-c", "a.c"], folder)
        verdict.equal((done.status, len(done.err.splitlines()), "-fsanitize=" + option in done.err), (1, 1, True), option + ": refused")
    for option in ("undefined", "null,shift"):
        done = harness.execute([harness.command("kinst-ompp"), "--memory", compiler, "-fsanitize=" + option, "-c", "a.c"], folder)
        verdict.equal((done.status, done.err), (0, ""), option + ": not refused")


def called(verdict, scratch, name, compiler):
    """Why hooks are not inlined is said, on request."""
    folder = os.path.dirname(scratch.file("called-" + name, "x"))
    os.makedirs(folder, exist_ok=True)
    for source in ("a.c", "b.c"):
        with open(os.path.join(folder, source), "w") as f:
            f.write("int %s;\n" % source[0])
    for option in (None, "-S", "-masm=intel" if name == "gcc" else "-flto"):
        words = [harness.command("kinst-ompp"), "--verbose", "--memory", compiler, option or "-O1", *([] if option == "-S" else ["-c"]), "a.c", "b.c"]
        said = [line for line in harness.execute(words, folder).err.splitlines() if line.startswith("kinst-ompp:") and "called" in line]
        wanted = [] if option is None else ["kinst-ompp: the hooks of --memory are called, not inlined: " + option]
        verdict.equal(said, wanted, "%s %s: whether hooks are called" % (name, option))


def without_plugin(verdict, scratch, compiler):
    """A gcc that takes no plugin: hooks are inlined all the same, and that it is slower is said once, of two sources."""
    folder = os.path.dirname(scratch.file("without-plugin", "x"))
    os.makedirs(folder, exist_ok=True)
    other = os.path.join(folder, "gcc")
    for name, text in (("gcc", '#!/bin/sh\ncase "$*" in *-fplugin=*) exit 1;; esac\nexec %s "$@"\n' % compiler),
                       ("a.c", "int b(void);\nint main(void) { return b(); }\n"), ("b.c", "int c;\nint b(void) { return c++; }\n")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    os.chmod(other, 0o755)
    done = harness.execute([harness.command("kinst-ompp"), "--verbose", "--memory", other, "-O1", "a.c", "b.c", "-o", "a"], folder)
    said = [line for line in done.err.splitlines() if "slower" in line]
    verdict.equal((done.status, len(said)), (0, 1), "without the plugin: status, and how often it is said: %s" % said)
    verdict.check("ompp_memory_load_7" in harness.execute(["nm", "-u", "a"], folder).out, "without the plugin: hooks are inlined")


def dry(verdict, scratch, name, compiler):
    """A dry run shows the commands of a real one, but for the names of its own files, and writes nothing."""
    folder = os.path.dirname(scratch.file("dry-" + name, "x"))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "a.c"), "w") as f:
        f.write("int a;\n")
    said = {}
    for option in ("--dry-run", "--verbose"):
        done = harness.execute([harness.command("kinst-ompp"), option, "--memory", compiler, "-O1", "-c", "a.c"], folder)
        verdict.equal(done.status, 0, "%s %s: status" % (name, option))
        said[option] = [re.sub(r"kinst-ompp\.\w{6}", "kinst-ompp.", line) for line in done.err.splitlines() if line.startswith("+++")]
        verdict.equal(listing(folder), ["a.c"] if option == "--dry-run" else ["a.c", "a.o"], "%s %s: files" % (name, option))
    verdict.equal(said["--dry-run"], said["--verbose"], name + ": commands of a dry run")


def main():
    scratch, verdict = harness.Scratch("commands"), harness.Verdict("commands")
    c, f = {"a.c": "int main(void) { return 0; }\n"}, {"f.f90": "subroutine f\nend subroutine\n", "c.c": "int c;\n"}
    for name, compiler in memory.compilers("gcc", "clang"):
        for words in (["-MD"], ["-MMD", "-MF", "x.d"], ["-save-temps"], ["-save-temps", "-MD"]):
            check(verdict, scratch, name + "".join(words), [compiler, *words, "a.c", "-o", "a"], c, "./a")
    for name, compiler in memory.compilers("gfortran"):
        for order in (["f.f90", "c.c"], ["c.c", "f.f90"]):
            check(verdict, scratch, name + order[0], [compiler, "-Werror", "-c", *order], f, None)
    for name, compiler in memory.compilers("gcc", "g++", "clang", "clang++"):
        macros(verdict, scratch, name, compiler)
    for name, compiler in memory.compilers("gcc", "clang"):
        called(verdict, scratch, name, compiler)
        dry(verdict, scratch, name, compiler)
    for name, compiler in memory.compilers("gcc") if os.uname().machine == "x86_64" else ():
        without_plugin(verdict, scratch, compiler)
    refused(verdict, scratch, memory.compilers("gcc", "clang")[0][1])
    verdict.finish(scratch)


main()
