#!/usr/bin/env python3
"""Hooks inlined and hooks called: the same counts, per structure, region and thread, from several objects and a shared library."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

SOURCE = os.path.join(memory.HERE, "inline.c")
# What keeps hooks from being inlined and changes nothing else here: tools/kinst-ompp-inline.c.
CALLED = {"gcc": ["-masm=intel"], "clang": ["-Xclang", "-fno-caret-diagnostics"]}
SCALARS = ("__tsan_read", "__tsan_write", "__sanitizer_cov_load", "__sanitizer_cov_store")


def compile_one(folder, *words):
    done = harness.execute([harness.command("kinst-ompp"), "--memory", *words], folder)
    if done.status != 0:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))


def build(folder, compiler, flags):
    """Two objects, one of them made with -pipe and -fno-plt and a dependency file, and a shared library."""
    flags = ["-fopenmp", "-g", "-I", os.path.join(harness.SOURCE, "include"), *flags]
    compile_one(folder, compiler, *flags, "-c", SOURCE, "-o", "main.o")
    compile_one(folder, compiler, *flags, "-pipe", "-fno-plt", "-MD", "-DPART=part", "-c", SOURCE, "-o", "part.o")
    compile_one(folder, compiler, *flags, "-fPIC", "-shared", "-DPART=library", SOURCE, "-o", "liblibrary.so")
    compile_one(folder, compiler, *flags, "main.o", "part.o", "-L.", "-llibrary", "-Wl,-rpath," + folder, "-o", "program")


def hooks_called(folder, name):
    """Hooks of scalars of the usual sizes that a file calls."""
    listed = harness.execute(["nm", "-u", name], folder).out.split()
    return {s for s in listed if s.startswith(SCALARS) and s[-1].isdigit()}


def without_foreign(threads):
    """Which thread is first to touch a page that two share is a matter of time."""
    return {t: values[:memory.FOREIGN_LOADS] + values[memory.BLOCK_LOADS:] for t, values in threads.items()}


def measure(verdict, scratch, title, compiler, flags):
    folder = os.path.dirname(scratch.file(title.replace(" ", ""), "x"))
    os.makedirs(folder, exist_ok=True)
    build(folder, compiler, flags)
    run = harness.run(os.path.join(folder, "program"), os.path.join(folder, "run"), 2)
    verdict.equal(run.status, 0, title + ": exit status")
    profile = run.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    return folder, {(name, region.get("type")): without_foreign(memory.counts(profile, name, region.get("id"), by_thread=True))
                    for name in memory.objects(profile) for region in profile.root.find("regions")}


def main():
    scratch, verdict = harness.Scratch("inline"), harness.Verdict("inline")
    for name, compiler in memory.compilers("gcc", "clang"):
        for level in ("-O0", "-O2", "-O3"):
            title = "%s %s" % (name, level)
            folder, inlined = measure(verdict, scratch, title + " inlined", compiler, [level])
            other, called = measure(verdict, scratch, title + " called", compiler, [level, *CALLED[name]])
            for key, counts in called.items():
                verdict.equal(inlined.get(key), counts, "%s: %s in %s" % ((title,) + key))
            verdict.check(any(called.values()), title + ": something is counted")
            for file in ("main.o", "part.o", "liblibrary.so"):
                verdict.equal(hooks_called(folder, file), set(), "%s: no hook is called in %s" % (title, file))
                verdict.check(hooks_called(other, file), "%s: hooks are called in %s" % (title, file))
            with open(os.path.join(folder, "part.d")) as made, open(os.path.join(other, "part.d")) as plain:
                verdict.equal(made.read(), plain.read(), title + ": dependency file")
    verdict.finish(scratch)


main()
