#!/usr/bin/env python3
"""Loops of many shapes (loops.c): results as without hooks, and the same counts with hooks in registers, in the code, and called."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

SOURCE = os.path.join(memory.HERE, "loops.c")
# Keeps hooks from being inlined, and changes nothing else here: tools/kinst-ompp-inline.c.
CALLED = {"gcc": ["-masm=intel"], "g++": ["-masm=intel"], "clang": ["-Xclang", "-fno-caret-diagnostics"]}


def measure(verdict, scratch, title, compiler, flags):
    program = scratch.file(title.replace(" ", ""))
    memory.build(compiler, SOURCE, program, *flags)
    run = harness.run(program, os.path.join(os.path.dirname(program), "run-" + os.path.basename(program)), 1)
    verdict.equal(run.status, 0, title + ": exit status")
    profile = run.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    return run.out, {name: memory.counts(profile, name) for name in sorted(memory.objects(profile))}


def plain(verdict, scratch, compiler, level, title):
    program = scratch.file("plain" + os.path.basename(compiler) + level)
    words = [compiler, "-fopenmp", level, "-I", os.path.join(harness.SOURCE, "include"), SOURCE, "-o", program]
    done = harness.execute(words, os.path.dirname(program))
    if done.status != 0:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
    return verdict.unmeasured(title, lambda: harness.execute([program], os.path.dirname(program)))


def main():
    scratch, verdict = harness.Scratch("loops"), harness.Verdict("loops")
    for name, compiler in memory.compilers("gcc", "clang"):
        for level in ("-O1", "-O2", "-O3", "-Os"):
            title = "%s %s" % (name, level)
            out, inlined = measure(verdict, scratch, title + " inlined", compiler, [level])
            out_called, called = measure(verdict, scratch, title + " called", compiler, [level, *CALLED[name]])
            for key, counts in called.items():
                verdict.equal(inlined.get(key), counts, "%s: %s" % (title, key))
            verdict.check(len(called) == 7, title + ": all structures are there")
            wanted = plain(verdict, scratch, compiler, level, title)
            if wanted:
                verdict.equal(out, wanted.out, title + ": results")
            if memory.has_plugin(compiler):
                program = scratch.file((title + " inlined").replace(" ", ""))
                verdict.check(memory.counts_in_registers(program, "other"), title + ": counts in registers")
            if name == "clang":
                other = memory.without_plugin(compiler, scratch.file("other"))
                verdict.equal(memory.has_plugin(other), False, title + ": no plugin for another version")
                verdict.equal(measure(verdict, scratch, title + " other", other, [level]), (out, inlined), title + ": without the plugin")
            verdict.equal(out_called, out, title + ": results, called")
    verdict.finish(scratch)


main()
