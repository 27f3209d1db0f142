#!/usr/bin/env python3
"""Programs with one thing about caches are told of that and of nothing else; a control of nothing. Counts, merged ranks and bad input."""

import os
import re
import xml.etree.ElementTree as ElementTree

import caches
from caches import harness, memory

MACHINE = ("L1 32k 8 64", "L2 256k 8 64", "L3 8M 16 64", "tlb1 64 4", "tlb2 1536 12")


class Findings:
    def __init__(self, verdict, scratch, program, title):
        self.verdict, self.scratch, self.program, self.title = verdict, scratch, program, title
        self.machine = caches.describe(scratch, "machine", *MACHINE)

    def run(self, name, options, names, threads=1):
        folder = self.scratch.file("%s-%s-%s" % (self.title, name, options.replace(",", "-")))
        return caches.simulate(self.program, folder, "model", (name,), threads, OMPP_DATA=names, OMPP_CACHE_WITH=options,
                               OMPP_CACHE_MACHINE=self.machine)

    def check(self, good, text):
        self.verdict.check(good, "%s: %s" % (self.title, text))

    def sharing(self):
        told = self.run("false", "coherence", "counts", 2)
        row, text = told.rows["all", "counts"], caches.text_of(told)
        self.check(row["false-sharing"] > 100 and row["true-sharing"] == 0, "false sharing: %s" % row)
        wanted = r"false sharing.*thread [01] uses byte [08] of counts, thread [01] writes byte [08] of counts: lost \d+ times"
        self.check(re.search(wanted, text), "both threads and both bytes of counts: " + "".join(re.findall("false sharing.*", text)))
        row = self.run("apart", "coherence", "apart", 2).rows["all", "apart"]
        self.check(row["false-sharing"] == 0 and row["true-sharing"] == 0, "apart: %s" % row)

    def conflicts(self):
        row = self.run("conflict", "classes", "grid").rows["all", "grid"]
        all_of = caches.misses(row, 1)
        self.check(row["L1-conflict"] > 0.9 * all_of and all_of > 0.4 * row["loads"], "conflicts: %s" % row)
        row = self.run("padded", "classes", "padded").rows["all", "padded"]
        self.check(row["L1-conflict"] == 0 and row["L1-compulsory"] == caches.misses(row, 1), "padded: %s" % row)

    def pages(self):
        row = self.run("pages", "tlb", "many").rows["all", "many"]
        self.check(row["TLB2-misses"] > 0.9 * row["loads"], "pages: %s" % row)
        row = self.run("together", "tlb", "keys").rows["all", "keys"]
        self.check(row["TLB1-misses"] < 0.01 * row["loads"], "few pages: %s" % row)

    def members(self):
        """A hot member between cold ones: each reference misses; by itself, one of eight."""
        apart, by_itself = (caches.misses(self.run(name, "none", data).rows["all", data], 2)
                            for name, data in (("hot", "items"), ("together", "keys")))
        self.check(abs(apart - 5 * 20000) <= 100, "hot member: %d" % apart)
        self.check(by_itself <= 20000 * 8 / 64 + 10, "keys by themselves: %d" % by_itself)
        for name, wanted in (("hot", 1), ("together", 0), ("none", 0)):
            told = caches.simulate(self.program, self.scratch.file("%s-unasked-%s" % (self.title, name)), "model", (name,), OMPP_CACHE_MACHINE=self.machine)
            found = re.findall(r"items: 100 % of the references go to 6 % of the bytes \(\.key\)|of the references go to", caches.text_of(told))
            self.check(len(found) == wanted and all("items" in f for f in found), "%s, members: %s" % (name, found))

    def nothing(self):
        row = self.run("none", "classes,tlb,coherence", "small").rows["all", "small"]
        self.check(128 <= caches.misses(row, 1) <= 129 and caches.misses(row, 1) == row["L1-compulsory"], "control: %s" % row)
        self.check(row["L1-conflict"] + row["false-sharing"] + row["true-sharing"] == 0 and row["TLB1-misses"] <= 3, "control: %s" % row)


def same_counts(verdict, scratch, program, title):
    """Loads and stores are the same with caches as without."""
    found = {}
    for mode in ("off", "curves", "model"):
        run = harness.run(program, scratch.file(title + "same-" + mode), 2, args=("conflict",), OMPP_CACHE=mode, OMPP_DATA="grid")
        profile = run.profile()
        verdict.profile(profile, title + " " + mode)
        profile.root = ElementTree.parse(profile.path).getroot()
        found[mode] = (run.out, memory.counts(profile, "grid"), memory.counts(profile, None))
        harness.validate(verdict, run.reports()[0], title + " " + mode)
    for mode in ("curves", "model"):
        verdict.equal(found[mode], found["off"], "%s: counts with %s" % (title, mode))


def undisturbed(verdict, scratch, compiler, title):
    """Signal handlers that measure and that jump, threads that come and go, a fork: results are the plain program's."""
    source, plain, program = os.path.join(caches.HERE, "alive.c"), scratch.file("plain-alive"), scratch.file("alive-" + title)
    harness.execute([compiler, "-O1", source, "-o", plain, "-lpthread"], scratch.path)
    expected = harness.execute([plain], scratch.path).out
    memory.build(compiler, source, program, "-O1", "-lpthread")
    for mode, options in (("curves", "none"), ("model", "none"), ("model", "classes,tlb,stride"), ("model", "coherence,shared")):
        run = harness.run(program, scratch.file("alive-%s-%s-%s" % (title, mode, options)), 2, OMPP_CACHE=mode, OMPP_CACHE_WITH=options)
        verdict.equal((run.status, run.out), (0, expected), "%s %s %s: result" % (title, mode, options))
        verdict.equal(run.messages(), [], "%s %s %s: messages" % (title, mode, options))


def refused(verdict, scratch, program):
    """What cannot be simulated is off, said once and in Coverage, and the program runs on."""
    for text, reason in (("L1 32k 8\n", "line 1 is none of"), ("L1 32k 7 64\n", "the size of a level"), (None, "cannot be read")):
        path = scratch.file("bad.txt")
        if text is None:
            path = path + ".missing"
        else:
            with open(path, "w") as out:
                out.write(text)
        run = harness.run(program, scratch.file("refused"), 1, args=("none",), OMPP_CACHE="model", OMPP_CACHE_MACHINE=path,
                          OMPP_OUTFORMAT="text", OMPP_OVERWRITE="1")
        said = [line for line in run.messages() if "caches are not simulated" in line]
        verdict.check(run.status == 0 and len(said) == 1 and reason in said[0], "refused %r: %s" % (text, run.err))
        verdict.check(reason in caches.text_of(run) and "ompp Caches" not in caches.text_of(run), "refused %r in Coverage" % text)


def without_hooks(verdict, scratch):
    """A program that has none is told what to do, once."""
    program = scratch.file("plain-findings")
    harness.build(os.path.join(caches.HERE, "findings.c"), program, "opari")
    run = harness.run(program, scratch.file("without"), 2, args=("apart",), OMPP_CACHE="model")
    verdict.equal([line for line in run.messages() if "cache" in line],
                  ["ompp: OMPP_CACHE: caches are not simulated: build the program with kinst-ompp --memory (docs/cache.md)"], "without hooks")


def main():
    scratch, verdict = harness.Scratch("cache-findings"), harness.Verdict("cache-findings")
    for title, compiler in memory.compilers("gcc", "clang"):
        program = scratch.file("findings-" + title)
        memory.build(compiler, os.path.join(caches.HERE, "findings.c"), program, "-O2")
        all_of = Findings(verdict, scratch, program, title)
        for one in (all_of.sharing, all_of.conflicts, all_of.pages, all_of.members, all_of.nothing):
            one()
        same_counts(verdict, scratch, program, title)
        undisturbed(verdict, scratch, compiler, title)
    refused(verdict, scratch, program)
    without_hooks(verdict, scratch)
    verdict.finish(scratch)


main()
