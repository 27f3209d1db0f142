#!/usr/bin/env python3
"""
Builds every program of tests/opari with gcc or g++ through kinst-ompp and OPARI2, runs it with 1, 2 and 4 threads, and checks that it
prints what it prints without the wrapper, and its report against its facts. Lines of NAME.facts besides those of omp_facts.py:
    flags WORDS         options for the compiler             environment NAME=VALUE
    coverage TEXT       a line of the Coverage section has it
    complete            nothing is missing from the report
    never KIND LABEL    this region is listed as never executed
"""

import glob
import os
import re

import harness
import omp_facts

FOLDER = os.path.join(harness.SOURCE, "tests", "opari")
MISSING = ("not visible to", "compiled without instrumentation", "ignored")


class Facts:
    def __init__(self, path):
        self.flags, self.environment, self.coverage, self.never, self.rest = [], {}, [], [], []
        self.result, self.complete = None, False
        for line in filter(None, (text.strip() for text in open(path))):
            word, _, rest = line.partition(" ")
            if word == "flags":
                self.flags = rest.split()
            elif word == "environment":
                self.environment.update([rest.split("=", 1)])
            elif word == "coverage":
                self.coverage.append(rest)
            elif word == "complete":
                self.complete = True
            elif word == "never":
                self.never.append(rest.rsplit(" ", 1))
            elif word == "result":
                self.result = rest
            else:
                self.rest.append(line.split())


def build(source, output, facts, wrapped):
    compiler = os.environ.get("TEST_GXX", "g++") if source.endswith(".cpp") else harness.COMPILERS["opari"]
    words = ([harness.command("kinst-ompp")] if wrapped else []) + [compiler, "-g", "-fopenmp", *facts.flags, source, "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status != 0 or done.err:
        raise harness.Failure("building: %s\n%s" % (" ".join(words), done.err[-1500:]))


def section(report, title):
    match = re.search(r"----     %s .*\n-+\n((?:(?!-----).*\n)*)" % re.escape(title), report)
    return match.group(1) if match else ""


def check(verdict, facts, profile, source, threads, title):
    begin, _ = harness.labels(source)
    for words in facts.rest:
        omp_facts.check_fact(verdict, words, profile, begin, threads, title)
    report = open(profile.path[:-3] + "txt").read()
    coverage, never = section(report, "ompp Coverage"), section(report, "ompp Regions Never Executed")
    for text in facts.coverage:
        verdict.check(text in coverage, "%s: Coverage does not say: %s" % (title, text))
    if facts.complete:
        lines = [line for line in coverage.splitlines() if any(word in line for word in MISSING)]
        verdict.equal(lines, [], title + ": Coverage")
    found = re.findall(r" \* R\d+ \S+ \((\d+)(?:-\d+)?\)(?: \(.*\))? ([A-Z ]+)\n", never)
    wanted = [(str(begin[label]), kind.replace("_", " ")) for kind, label in facts.never]
    verdict.equal(sorted(found), sorted(wanted), title + ": regions never executed")


def test(verdict, scratch, name):
    facts = Facts(os.path.join(FOLDER, name + ".facts"))
    source = glob.glob(os.path.join(FOLDER, name + ".c*"))[0]
    plain, program = scratch.file(name, "plain"), scratch.file(name, name)
    build(source, plain, facts, False)
    build(source, program, facts, True)
    for threads in omp_facts.THREADS:
        title = "%s T=%d" % (name, threads)
        wanted = verdict.unmeasured(title, lambda: harness.run(plain, scratch.file(name, "plain-%d" % threads), threads, **facts.environment))
        if not wanted:
            continue
        outcome = harness.run(program, scratch.file(name, str(threads)), threads, **facts.environment)
        verdict.equal((outcome.status, outcome.out), (wanted.status, wanted.out), title + ": result")
        verdict.equal((outcome.status, outcome.out.strip()), (0, str(eval(facts.result, {"T": threads}))), title + ": known result")
        profile = outcome.profile()
        verdict.profile(profile, title)
        check(verdict, facts, profile, source, threads, title)


def main():
    if "opari" not in harness.sources():
        harness.skip("no gcc with opari2")
    harness.over_programs("opari_facts", FOLDER, test)


if __name__ == "__main__":
    main()
