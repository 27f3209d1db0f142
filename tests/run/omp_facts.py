#!/usr/bin/env python3
"""
Builds every program of tests/omp through kinst-ompp, by OPARI2 (gcc) and by OMPT (clang), and plain, to be measured by ompp (gcc, GOMP),
runs it with 1, 2 and 4 threads, and checks two things: the report against the program's facts, and the reports against each other.

A line of NAME.facts:   LABEL KIND COLUMN WHERE VALUE [source]
    LABEL   of the comment above the construct; - = any place        KIND    region type, _ for blank, several with |
    COLUMN  of the report, or name of a metric in the XML, or: regions, nodes (how many there are)   WHERE   each (of T threads), sum, tidN
    VALUE   expression in T, or LOW..[HIGH]                          source  opari, ompt or gomp: only there; -gomp: not there
            gomp means llvm, too: gomp with LLVM's library in place of libgomp
or  result EXPRESSION   what the program prints.
or  env NAME=VALUE      the program's environment.        or  threads N...   run with these numbers of threads
or  sources NAME...     only these; or  apart: the sources differ in more than the facts say, and are not compared.
"""

import os

import harness

THREADS = (1, 2, 4)
# What the two sources may differ in: types that only one of them sees.
ONLY_ONE = {"ATOMIC", "FLUSH", "WORKSHARE", "TASKGROUP", "TASKLOOP", "USER REGION"}
END_LINES = {"PARALLEL", "SINGLE", "MASTER", "CRITICAL"}
# Which thread does it is not determined by the program.
ANY_THREAD = {"TASK", "TASKEXEC", "UTASK", "UTASKEXEC", "TASKWAIT", "MASTER", "LOCK"}
SAME_TYPE = {"UTASK": "TASK", "UTASKEXEC": "TASKEXEC"}  # OPARI2 makes untied tasks tied
# Threads that take part are not the program's first team, so their numbers depend on the OpenMP library.
OTHER_TEAMS = {"nested", "pthreads", "recursion", "target"}
# Tasks that OPARI2 does not see: of taskloop.
TASKS_UNSEEN = {"taskgroup"}
# What libgomp is not called for: no fact about these holds there. A barrier of a static loop counts as BARRIER, on the loop's line.
UNSEEN_BY_GOMP = {"MASTER", "ATOMIC", "FLUSH", "DISTRIBUTE", "SCOPE", "USER_REGION"}
# What OMPT does not tell. And tasks that libgomp makes for itself.
ONLY_GOMP = {"doacross": {"ORDERED"}, "target": {"TARGET"}, "pthreads": {"CRITICAL"}}
NOWAIT_TARGETS = {"target"}
STATIC_LOOPS = {"LOOP", "PARALLEL LOOP"}
# Plain programs of gcc: options of ompp, by the OpenMP library that serves them.
GOMP = {"gomp": (), "llvm": ("--omp-runtime=llvm",)}
# What gcc has compiled crashes on libomp 19, or has another result there, without ompp as well.
NOT_ON_LIBOMP = {"detach", "doacross", "target"}
SPECIAL = ("result", "env", "threads", "sources", "apart")
# OpenMP is started by another thread than the initial one: OMPT leaves mutexes alone there (src/ompt/ompp_ompt_tool.c says why).
MUTEXES_UNSEEN = {"pthreads"}


def matches(value, text, threads):
    if ".." in text:
        low, high = text.split("..")
        return value >= eval(low, {"T": threads}) and (not high or value <= eval(high, {"T": threads}))
    return value == eval(text, {"T": threads})


def check_fact(verdict, words, profile, begin, threads, title):
    label, kind, column, where, wanted = words
    regions = profile.find(kind.replace("_", " "), line=None if label == "-" else begin[label])
    title = "%s: %s %s %s" % (title, label, kind, column)
    if column in ("regions", "nodes"):
        found = len(regions if column == "regions" else profile.nodes_of(regions))
        verdict.check(matches(found, wanted, threads), "%s: found %d, wanted %s" % (title, found, wanted))
        return
    values = profile.total(column, regions)
    if where == "sum":
        found = sum(values.values())
        verdict.check(matches(found, wanted, threads), "%s: sum %d, wanted %s" % (title, found, wanted))
        return
    for tid in range(threads) if where == "each" else [int(where[3:])]:
        found = values.get((0, tid), 0)
        verdict.check(matches(found, wanted, threads), "%s: thread %d has %d, wanted %s" % (title, tid, found, wanted))


def holds_for(words, how):
    only = words.pop() if len(words) == 6 else how
    names = {how, "gomp"} if how in GOMP else {how}
    if how in GOMP and words[1] in UNSEEN_BY_GOMP:
        return False
    return only[1:] not in names if only[0] == "-" else only in names


def check_program(verdict, facts, profile, source, how, threads, title):
    begin, end = harness.labels(source)
    for line in facts:
        words = line.split()
        if not holds_for(words, how):
            continue
        check_fact(verdict, words, profile, begin, threads, title)
    for label, line in end.items():
        for region in profile.find("|".join(END_LINES), line=begin[label]):
            verdict.equal(region.end, line, "%s: end line of %s %s" % (title, region.type, label))
    for region in profile.regions:
        good = region.type == "LOCK" or (region.begin and os.path.basename(region.file) == os.path.basename(source))
        verdict.check(good, "%s: region without a place in the source: %s" % (title, region))


def comparable(profile, name):
    """What must be equal: type, begin line, end line where both know it, executions per thread or their sum."""
    result = {}
    for region in profile.regions:
        if region.type in ONLY_ONE:
            continue
        if region.type == "LOCK":  # known by address, which differs: the executions of all locks together
            result["LOCK", None, None] = result.get(("LOCK", None, None), 0) + sum(profile.total("execC", [region]).values())
            continue
        kind = SAME_TYPE.get(region.type, region.type)
        counts = profile.total("execC", [region])
        if kind in ANY_THREAD or name in OTHER_TEAMS:
            counts = sum(counts.values())
        if counts:
            result[kind, region.begin, region.end if kind in END_LINES else None] = counts
    return result


def compare(verdict, name, profiles, title):
    one, other = (comparable(profiles[how], name) for how in ("opari", "ompt"))
    if name in TASKS_UNSEEN:
        for key in [k for k in other if k not in one and k[0] in ("TASK", "TASKEXEC")]:
            del other[key]
    if name in MUTEXES_UNSEEN:
        for key in [k for k in one if k[0] == "CRITICAL"]:
            del one[key]
    for key in sorted(set(one) | set(other), key=str):
        verdict.equal(one.get(key), other.get(key), "%s: OPARI2 against OMPT: %s line %s-%s" % ((title,) + key))


def compare_gomp(verdict, name, gomp, other, title):
    """Counts are equal where both see the construct; what only one sees is what libgomp is known not to be called for."""
    one, both = comparable(gomp, name), comparable(other, name)
    loops = {key[1]: counts for key, counts in both.items() if key[0] in STATIC_LOOPS}
    taskloops = {region.begin for region in other.find("TASKLOOP")}  # makes its tasks in libgomp
    for key in sorted(set(one) | set(both), key=str):
        text = "%s: GOMP against another source: %s line %s-%s" % ((title,) + key)
        if key in one and key in both:
            verdict.equal(one[key], both[key], text)
        elif key in one:
            known = key[0] in ONLY_GOMP.get(name, ()) or key[0] == "BARRIER" and one[key] == loops.get(key[1])
            verdict.check(known, text + ": only GOMP has it, %s" % one[key])
        else:
            known = key[0] in UNSEEN_BY_GOMP | {"LOOP"} or key[0] == "TASK" and key[1] in taskloops or name in NOWAIT_TARGETS
            verdict.check(known, text + ": GOMP does not have it, %s" % both[key])


def run_one(verdict, scratch, name, source, how, program, threads, facts, special):
    title = "%s %s T=%d" % (name, how, threads)
    environment = dict(text.split("=") for text in special["env"])
    words = (harness.command("ompp"), (*GOMP[how], "--", program)) if how in GOMP else (program, ())
    outcome = harness.run(words[0], scratch.file(name, "%s-%d" % (how, threads)), threads, args=words[1], **environment)
    verdict.equal((outcome.status, outcome.out.strip()), (0, str(eval(special["result"][0], {"T": threads}))), title + ": result")
    verdict.equal(outcome.messages(), [], title + ": messages")
    profile = outcome.profile()
    verdict.profile(profile, title)
    if how == "llvm":
        verdict.check(any(note.get("subject") == "GOMP, libomp" for note in profile.coverage), title + ": source: %s" % profile.coverage)
    check_program(verdict, facts, profile, source, how, threads, title)
    return profile


def test(verdict, scratch, name, hows):
    source = os.path.join(harness.SOURCE, "tests", "omp", name + ".c")
    lines = [line.strip() for line in open(source[:-1] + "facts") if line.strip()]
    special = {word: [line[len(word):].strip() for line in lines if line.split()[0] == word] for word in SPECIAL}
    facts = [line for line in lines if line.split()[0] not in SPECIAL]
    wanted = special["sources"][0].split() if special["sources"] else [*hows, "gomp"]
    hows = [how for how in hows if (how in wanted if how != "llvm" else "gomp" in wanted and name not in NOT_ON_LIBOMP)]
    programs = {}
    for how in hows:
        programs[how] = scratch.file(name, how, name)
        harness.build(source, programs[how], "opari" if how in GOMP else how, instrument=how not in GOMP)
    for threads in map(int, special["threads"][0].split()) if special["threads"] else THREADS:
        profiles = {}
        for how in hows:
            try:
                profiles[how] = run_one(verdict, scratch, name, source, how, programs[how], threads, facts, special)
            except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
                verdict.check(False, "%s %s T=%d: %s" % (name, how, threads, failure))
        if "opari" in profiles and "ompt" in profiles and not special["apart"]:
            compare(verdict, name, profiles, "%s T=%d" % (name, threads))
        others = [profiles[how] for how in ("ompt", "opari") if how in profiles]
        for how in GOMP:
            if how in profiles and others and not special["apart"]:
                compare_gomp(verdict, name, profiles[how], others[0], "%s %s T=%d" % (name, how, threads))


def main():
    hows = harness.sources() + harness.preloaded_sources()
    harness.over_programs("omp_facts", os.path.join(harness.SOURCE, "tests", "omp"),
                          lambda verdict, scratch, name: test(verdict, scratch, name, hows))


if __name__ == "__main__":
    main()
