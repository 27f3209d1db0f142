#!/usr/bin/env python3
"""OMPP_DATA: variables found by their symbols; names that fit several or none are said; a program without hooks says that.
And names that nobody asks for."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness


def run(program, folder, names, **more):
    outcome = harness.run(program, folder, 2, OMPP_DATA=names, **more)
    profile = outcome.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    return outcome, profile


def by_name(verdict, scratch, name, compiler, level):
    title, program = "%s %s" % (name, level), scratch.file(name + level)
    memory.build(compiler, os.path.join(memory.HERE, "names.cc"), program, level)
    names = "%scount, hidden ,plain,only,_ZZL5firstiE4memo,memo,absent" % ("geo::" if level == "-O2" else "")
    outcome, profile = run(program, scratch.file("run-" + name + level), names)
    verdict.equal(outcome.status, 0, title + ": exit status")
    verdict.profile(profile, title)
    for line in outcome.out.splitlines():
        structure, loads, stores = line.split()
        if structure in [n.strip() for n in names.split(",")]:
            verdict.equal(memory.counts(profile, structure)[:2], [int(loads), int(stores)], "%s: %s" % (title, structure))
    verdict.check("memo" not in memory.objects(profile), title + ": an ambiguous name is not registered")
    said = [m for m in outcome.messages() if "OMPP_DATA" in m]
    verdict.equal([("there are 2" in m, "no variable" in m) for m in said], [(True, False), (False, True)], title + ": messages")
    noted = [c for c in profile.coverage if c["kind"] == "note" and "OMPP_DATA" in c["subject"]]
    verdict.equal(len(noted), 2, title + ": Coverage lines")


def by_address(verdict, scratch, program):
    """An address that nothing of the program touches: what the user says stands in the report as it is."""
    outcome, profile = run(program, scratch.file("address"), "", OMPP_DATA_ADDR="0x10000", OMPP_DATA_SIZE=34000, OMPP_DATA_NAME="tilearray")
    listed = memory.objects(profile)
    verdict.equal(list(listed), ["tilearray"], "address: structures")
    text = open(outcome.reports("txt")[0]).read()
    verdict.check("Data Address    : 0x10000\nData Size       : 34000 (0x84D0)\nData Name       : tilearray\n" in text, "address: header lines")
    for values, word in (({"OMPP_DATA_ADDR": "0x10000"}, "belong together"),
                         ({"OMPP_DATA_ADDR": "here", "OMPP_DATA_SIZE": "8"}, "to a number above 0"),
                         ({"OMPP_DATA_ADDR": "0xfffffffffffffff0", "OMPP_DATA_SIZE": "64"}, "beyond the end")):
        outcome, profile = run(program, scratch.file("bad-" + word.split()[0]), "", **values)
        verdict.check(any(word in m for m in outcome.messages()), "bad %s: no message with '%s'" % (values, word))
        verdict.equal(memory.objects(profile), {}, "bad %s: structures" % values)


def without_hooks(verdict, scratch, compiler):
    program = scratch.file("plain")
    harness.execute([harness.command("kinst-ompp"), compiler, "-fopenmp", os.path.join(memory.HERE, "names.cc"), "-o", program],
                    scratch.path)
    _, profile = run(program, scratch.file("without"), "plain", OMPP_DATA_BACKEND="hooks")
    verdict.check(any("nothing counts" in c.get("subject", "") for c in profile.coverage), "without hooks: no Coverage line")
    verdict.equal(memory.memory_set(profile), None, "without hooks: metrics")


def owners(verdict, scratch, compiler):
    """Unasked: what a constructor does with its own temporaries does not take the place of the variables that own the blocks."""
    program = scratch.file("owners")
    memory.build(compiler, os.path.join(memory.HERE, "owners.cc"), program, "-O2")
    _, profile = run(program, scratch.file("owned"), "")
    named = [n for n in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh") if any("main::%s->cells" % n in o for o in memory.objects(profile))]
    verdict.equal(len(named), 7, "owners: named are %s of %s" % (named, list(memory.objects(profile))))
    verdict.check("[data of libstdc++.so.6 without a symbol]" in memory.objects(profile), "libstdc++: %s" % list(memory.objects(profile)))


def refused(verdict, scratch, compiler):
    for option in ("-fsanitize=thread", "-fsanitize=address", "-static"):
        done = harness.execute([harness.command("kinst-ompp"), "--memory", compiler, option, os.path.join(memory.HERE, "names.cc"), "-o",
                                scratch.file("refused")], scratch.path)
        verdict.check(done.status == 1 and option in done.err, "%s: not refused: %s" % (option, done.err))


def main():
    scratch, verdict = harness.Scratch("names"), harness.Verdict("names")
    found = memory.compilers("g++", "clang++")
    for name, compiler in found:
        for level in ("-O0", "-O2"):
            by_name(verdict, scratch, name, compiler, level)
    by_address(verdict, scratch, scratch.file(found[0][0] + "-O0"))
    without_hooks(verdict, scratch, found[0][1])
    refused(verdict, scratch, found[0][1])
    if found[0][0] == "g++": # clang keeps them in other places
        owners(verdict, scratch, found[0][1])
    verdict.finish(scratch)


main()
