#!/usr/bin/env python3
"""
Plug-ins that a program opens and closes in turn: each is unloaded when it is closed, as without us, has its own regions, functions and
data, although they lie at the same addresses, and the report names the lines of its source, also when it is gone.
"""

import os

import harness

SOURCE = os.path.join(harness.HERE, "plugins.c")
TIMES = 4
SUMS = 45 + 4 * 45  # of both, for one time


def build(how, output, *flags, instrument=True):
    words = [harness.command("kinst-ompp"), "--with=" + how] if instrument else []
    words += [harness.COMPILERS[how], "-g", "-O0", *(() if "-DHOST" in flags else ("-fopenmp",)), *flags, SOURCE, "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))


def executions(profile, regions):
    return sum(profile.total("execC", regions).values())


def check(verdict, profile, title, functions):
    begin, _ = harness.labels(SOURCE)
    for word, times in (("one", TIMES), ("two", 2 * TIMES)):
        found = [r for kind in ("PARALLEL LOOP", "PARALLEL") for r in harness.of_type(profile, kind) if r.begin == begin[word]]
        verdict.equal(executions(profile, found), 2 * times, "%s: executions of the loop of %s, by two threads" % (title, word))
        verdict.equal({os.path.basename(r.file or "") for r in found}, {"plugins.c"}, "%s: file of %s" % (title, word))
    others = [r for kind in ("PARALLEL LOOP", "PARALLEL") for r in harness.of_type(profile, kind) if r.begin not in (begin["one"], begin["two"])]
    verdict.equal(others, [], title + ": other regions")
    if functions:
        named = {name: executions(profile, profile.find("USER REGION", name=name)) for name in ("work", "sum_up", "leave")}
        verdict.equal(named, {"work": 3 * TIMES, "sum_up": 3 * TIMES, "leave": 2 * TIMES}, title + ": functions")
    verdict.equal([c for c in profile.coverage if c["kind"] in ("mismatch", "unresolved", "dropped")], [], title + ": Coverage")


def run(words, folder, **settings):
    os.makedirs(folder, exist_ok=True)
    return harness.execute(words, folder, OMP_NUM_THREADS=2, **settings)


def test(verdict, scratch, how, hosts, functions):
    compiled, launched = ("opari", True) if how == "gomp" else (how, False)
    folder = os.path.dirname(scratch.file("%s-%d" % (how, functions), "x"))
    for word, flags in (("one.so", ()), ("two.so", ("-DSECOND",))):
        build(compiled, os.path.join(folder, word), "-shared", "-fPIC", *flags, *(("-finstrument-functions",) if functions else ()), instrument=not launched)
        if not os.path.exists(os.path.join(folder, "plain-" + word)):
            build(compiled, os.path.join(folder, "plain-" + word), "-shared", "-fPIC", *flags, instrument=False)
    for kind, host in hosts.items():
        title = "%s%s, %s host" % (how, " functions" if functions else "", kind)
        plain = verdict.unmeasured(title, lambda: run([hosts["plain"], str(TIMES), "./plain-one.so", "./plain-two.so"], folder), lambda o: o.status == 5)
        if not plain:
            continue
        for front in ([],) if kind == "kinst" else ([harness.command("ompp"), "--omp-runtime=gomp", "--"],) if launched else ([], [harness.command("ompp"), "--"]):
            here = title + (", launched" if front else "")
            for old in os.listdir(folder):
                if ".ompp." in old:
                    os.remove(os.path.join(folder, old))
            outcome = run([*front, host, str(TIMES), "./one.so", "./two.so"], folder)
            verdict.equal((outcome.status, outcome.out), (plain.status, plain.out), here + ": status and output")
            profile = outcome.profile()
            verdict.profile(profile, here)
            check(verdict, profile, here, functions)


def test_data(verdict, scratch, host):
    """What one of them has named is not counted for the other."""
    folder = os.path.dirname(scratch.file("data", "x"))
    for word, flags in (("one.so", ()), ("two.so", ("-DSECOND",))):
        words = [harness.command("kinst-ompp"), "--memory", harness.COMPILERS["opari"], "-g", "-O0", "-fopenmp", "-DNAMED", "-shared", "-fPIC", *flags, SOURCE,
                 "-o", os.path.join(folder, word)]
        done = harness.execute(words, folder)
        if done.status:
            raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
    outcome = run([host, str(TIMES), "./one.so", "./two.so"], folder)
    verdict.equal(outcome.status, 5, "data: status")
    with open(outcome.reports("txt")[0], encoding="utf-8") as text:
        lines = [line.split() for line in text if line.lstrip().startswith("numbers")]
    verdict.check(lines and "%d.000" % TIMES in lines[0], "data: stores to numbers: %s" % lines)


def main():
    verdict, scratch = harness.Verdict("plugins"), harness.Scratch("plugins")
    for how in harness.sources() + harness.plain_sources():
        compiled = "opari" if how == "gomp" else how
        hosts = {"plain": scratch.file("host-" + how, "host")}
        build(compiled, hosts["plain"], "-DHOST", "-ldl", instrument=False)
        if how != "gomp":
            hosts["kinst"] = scratch.file("host-" + how, "kinst")
            build(compiled, hosts["kinst"], "-DHOST", "-ldl")
        for functions in (False, True) if how != "gomp" else (False,):
            test(verdict, scratch, how, hosts, functions)
    if "opari" in harness.sources():
        test_data(verdict, scratch, scratch.file("host-opari", "host"))
    verdict.finish(scratch)


main()
