#!/usr/bin/env python3
"""OMPP_DATA: a name that is nowhere does not have the debug information of all libraries read; and the search is not the program's time."""

import os
import resource

import memory
from memory import harness

STRUCTURES = 20000
MAIN = """
extern int first_of_library;
double grid[100];
int main(void)
{
    for (int i = 0; i < 100; i++) grid[i] = i;
    return first_of_library;
}
"""
# As much as a large library has.
LIBRARY = "int first_of_library;\n" + "".join(
    "struct s%d { int a, b%d; double c[3]; struct s%d *next; } v%d;\n" % (n, n, n, n) for n in range(STRUCTURES))


def prepare(scratch, compiler):
    for name, text in (("main.c", MAIN), ("library.c", LIBRARY)):
        with open(scratch.file(name), "w") as file:
            file.write(text)
    done = harness.execute([harness.COMPILERS["opari"], "-g", "-shared", "-fPIC", "library.c", "-o", "liblarge.so"], scratch.path)
    if done.status:
        raise harness.Failure("cannot build the library: " + done.err[-500:])
    memory.build(compiler, scratch.file("main.c"), scratch.file("main"), "-Wl,--no-as-needed", scratch.file("liblarge.so"), "-Wl,-rpath," + scratch.path)
    return scratch.file("main")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(scratch, program, title, names):
    before = cpu_seconds()
    outcome = harness.run(program, scratch.file(title, "x")[:-2], 1, OMPP_DATA=names)
    return outcome, cpu_seconds() - before


def least(scratch, program, title, names):
    """The cheapest of three runs: what disturbs the machine makes them dearer alone."""
    runs = [run(scratch, program, "%s-%d" % (title, number), names) for number in range(3)]
    return runs[0][0], min(seconds for _, seconds in runs)


def main():
    verdict, scratch = harness.Verdict("cost"), harness.Scratch("cost")
    try:
        program = prepare(scratch, memory.compilers("gcc")[0][1])
        there, expensive = run(scratch, program, "there", "v%d" % (STRUCTURES - 1))
        verdict.equal(there.messages(), [], "in the library: messages")
        seconds = 1e-9 * int(there.profile().ranks[0]["duration-ns"])
        verdict.check(seconds < expensive / 4, "in the library: %.3f s are booked of a search of %.3f s" % (seconds, expensive))
        _, nothing = least(scratch, program, "nothing", "grid")
        for title, names, said in (("misspelled", "gird", "there is grid"), ("line", "nowhere.c:12", "no code of this line")):
            outcome, cheap = least(scratch, program, title, names)
            verdict.check(any(said in m for m in outcome.messages()), "%s: messages: %s" % (title, outcome.messages()))
            verdict.check(cheap - nothing < (expensive - nothing) / 4,
                          "%s: %.3f s, where reading all takes %.3f s and what is there %.3f s" % (title, cheap, expensive, nothing))
    except harness.Failure as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
