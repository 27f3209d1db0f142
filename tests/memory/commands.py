#!/usr/bin/env python3
"""kinst-ompp --memory and what else a command writes: dependency files, temporaries, objects of two languages."""

import os

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


def main():
    scratch, verdict = harness.Scratch("commands"), harness.Verdict("commands")
    c, f = {"a.c": "int main(void) { return 0; }\n"}, {"f.f90": "subroutine f\nend subroutine\n", "c.c": "int c;\n"}
    for name, compiler in memory.compilers("gcc", "clang"):
        for words in (["-MD"], ["-MMD", "-MF", "x.d"], ["-save-temps"], ["-save-temps", "-MD"]):
            check(verdict, scratch, name + "".join(words), [compiler, *words, "a.c", "-o", "a"], c, "./a")
    for name, compiler in memory.compilers("gfortran"):
        for order in (["f.f90", "c.c"], ["c.c", "f.f90"]):
            check(verdict, scratch, name + order[0], [compiler, "-Werror", "-c", *order], f, None)
    verdict.finish(scratch)


main()
