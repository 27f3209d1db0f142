#!/usr/bin/env python3
"""
Brief constructs that come so often that only some executions are timed: counts are exact, times are those of a sample and said to be
in Coverage, phases add up to the time of the threads, measuring takes less, and OMPP_TIMED_RATE says how many are timed.
"""

import os
import re
import subprocess
import time

import harness

SOURCE = os.path.join(harness.HERE, "thinned.c")
N, THREADS = 2000000, 2
NEAR = 0.3  # of the time of all executions

# Kind: its construct; executions of each name; how many of them are timed at most, as a part.
KINDS = {
    "atomic": ("ATOMIC", {"": THREADS * N}, 0.5),
    "critical": ("CRITICAL", {"brief": THREADS * N // 2}, 0.9),
    "lock": ("LOCK", {"": THREADS * N // 8}, 0.9),
    "locks": ("LOCK", {"": N}, 0.5),
    "seldom": ("CRITICAL", {"brief": THREADS * N // 4, "longer": THREADS * 10}, 0.9),
    "filled": ("CRITICAL", {"brief": THREADS * N // 4}, None),
    "nest": ("LOCK", {"": THREADS * N // 8}, 0.9),
    "ordered": ("ORDERED", {"": N}, 0.9),
    "slower": ("CRITICAL", {"brief": THREADS * (N // 4 + 1000)}, 0.9),
    "task": ("TASKEXEC", {"": N // 8}, 0.5),
    "alone": ("TASKEXEC", {"": N // 8}, 0.5),
    "turns": ("TASKEXEC", {"": N // 4}, 0.9),
    "holds": ("TASKEXEC", {"": N // 8}, None),
    "undeferred": ("TASKEXEC", {"": N // 8}, None),
    "places": ("TASKEXEC", {"": N // 40}, None),
    "inner": ("TASKEXEC", {"": 2 * (N // 80)}, None),
}


def executions(profile, kind, construct):
    """{name: executions} of a construct; locks are many regions, whatever their names."""
    counts = {}
    for region in profile.regions:
        if region.type == construct:
            name = "" if construct in ("LOCK", "TASKEXEC") else region.name
            counts[name] = counts.get(name, 0) + sum(profile.total("execC", [region]).values())
    return {name: count for name, count in counts.items() if count}


def time_of(profile, construct, name=None):
    """ns of all threads."""
    return sum(sum(profile.total("execT", [r]).values()) for r in profile.regions if r.type == construct and name in (None, r.name))


def thinned(profile):
    """Executions that a sample stands for, and of the sample."""
    if "thinned" not in profile.metrics:
        return 0, 0
    number, values = profile.metrics["thinned"][0], [0, 0]
    for node in profile.nodes:
        for (_, which), found in node.values.items():
            if which == number:
                values = [a + b for a, b in zip(values, found)]
    return tuple(values)


def own(profile):
    return sum(map(int, re.findall(r'<times [^>]*own-ns="(\d+)"', open(profile.path).read())))


def cost(profile, construct):
    """ps of one that is timed, as this run was calibrated: a machine may be half as fast as it was a second ago."""
    found = re.search(r'cost-%s-ps="(\d+)"' % construct.lower(), open(profile.path).read())
    return int(found.group(1)) if found else 1


def run(verdict, scratch, words, kind, title, **changes):
    outcome = harness.run(words[0], scratch.file(title.replace(" ", "-"), "x")[:-2], THREADS, args=[*words[1:], kind], **changes)
    if not verdict.equal(outcome.status, 0, title + ": status"):
        raise harness.Failure(outcome.err[-500:])
    profile = outcome.profile()
    verdict.profile(profile, title)
    checked = harness.execute([harness.command("ompp-report"), "check", profile.path], scratch.path)
    verdict.equal(checked.status, 0, "%s: ompp-report check: %s" % (title, checked.out))
    check_sums(verdict, profile, title)
    return outcome, profile


def check_sums(verdict, profile, title):
    """No phase has more below it than it is long."""
    for node in profile.nodes[1:]:
        for place, phases in node.phases.items():
            for name, phase in phases.items():
                verdict.check(phase.child + phase.task <= phase.time + phase.time // 1000 + 1000000,
                              "%s: %s of %s on %s: %s" % (title, name, node.region.type, place, phase))


def test(verdict, scratch, words, how, kind):
    construct, counts, part = KINDS[kind]
    title = "%s %s" % (how, kind)
    plain, all_timed = run(verdict, scratch, words, kind, title + " all", OMPP_TIMED_RATE=0)
    verdict.equal(thinned(all_timed), (0, 0), title + ": not thinned with OMPP_TIMED_RATE=0")
    verdict.check("OMPP_TIMED_RATE)" not in text_of(plain), title + ": Coverage with OMPP_TIMED_RATE=0")
    number = iter(range(100))

    def attempt():
        outcome, profile = run(verdict, scratch, words, kind, "%s %d" % (title, next(number)), OMPP_TIMED_RATE=20000)
        verdict.equal(outcome.out, plain.out, title + ": output")
        verdict.equal(executions(profile, kind, construct), counts, title + ": executions")
        executed, timed = thinned(profile)
        if part is None:
            return [], 1
        most = sum(counts.values()) * (2 if construct == "TASKEXEC" else 1)  # the creations of tasks, too
        verdict.check(0 < executed <= most, "%s: %d of %d are thinned" % (title, executed, sum(counts.values())))
        verdict.check(timed <= part * executed, "%s: %d of %d are timed" % (title, timed, executed))
        verdict.check(re.search(r"^ *R\d{5} +%s[ :].*all executions counted, one of \d+ timed \(OMPP_TIMED_RATE\): [\d.]+ sec, [\d.]+ to [\d.]+" %
                                construct, text_of(outcome), re.M) is not None, title + ": no line in Coverage")
        return judge(title, kind, profile, all_timed, outcome.err), 1

    verdict.timed(attempt)


def killed(verdict, scratch, words, how):
    """What has no time is not taken for the last event of the process: of one that is killed, the times are there, too."""
    folder, title = scratch.file(how + "-killed", "x")[:-2], how + " killed"
    os.makedirs(folder, exist_ok=True)
    job = os.path.join(folder, "job")
    os.mkdir(job)
    process = subprocess.Popen([*words, "endless"], cwd=folder, env=harness.environment(OMP_NUM_THREADS=THREADS, OMPP_JOB_DIR=job, OMPP_TIMED_RATE=20000))
    time.sleep(1)
    process.kill()
    process.wait()
    done = harness.execute([harness.command("ompp-report"), "merge", "--to=" + folder, job], folder)
    if not verdict.equal(done.status, 0, title + ": merge"):
        raise harness.Failure(done.err)
    profile = harness.Outcome(0, "", "", folder).profile()
    verdict.profile(profile, title)
    check_sums(verdict, profile, title)
    verdict.check(thinned(profile)[0] > 0, title + ": nothing is thinned")
    verdict.check(0 < time_of(profile, "CRITICAL") < time_of(profile, "PARALLEL"), "%s: %d of %d ns in CRITICAL" % (
        title, time_of(profile, "CRITICAL"), time_of(profile, "PARALLEL")))


def judge(title, kind, profile, all_timed, err):
    """Times that are off."""
    bad = []
    if kind in ("lock", "task", "alone"):
        found, wanted = time_of(profile, KINDS[kind][0]), 1e9 * float(re.search(r"^([\d.]+)$", err, re.M).group(1))
        if abs(found - wanted) > NEAR * wanted:
            bad.append("%s: %.3f s, the program says %.3f s" % (title, found / 1e9, wanted / 1e9))
    if kind == "seldom" and not 100e6 <= time_of(profile, "CRITICAL", "longer"):
        bad.append("%s: the long ones took %.3f s" % (title, time_of(profile, "CRITICAL", "longer") / 1e9))
    if kind == "slower" and time_of(profile, "CRITICAL") < THREADS * 0.7 * 1000 * 0.2e6:
        bad.append("%s: %.3f s" % (title, time_of(profile, "CRITICAL") / 1e9))
    construct = KINDS[kind][0]
    one_by_one = own(all_timed) * cost(profile, construct) / cost(all_timed, construct)
    if own(profile) > 0.95 * one_by_one:
        bad.append("%s: own cost %.3f s, timed one by one %.3f s" % (title, own(profile) / 1e9, one_by_one / 1e9))
    return bad


def text_of(outcome):
    with open(outcome.reports("txt")[0]) as file:
        return file.read()


def main():
    verdict, scratch = harness.Verdict("thinned"), harness.Scratch("thinned")
    for how in harness.sources() + harness.plain_sources():
        program = scratch.file("bin-" + how, "thinned")
        harness.build(SOURCE, program, "opari" if how == "gomp" else how, instrument=how != "gomp",
                      flags=("-O1", "-g", "-I" + os.path.join(harness.SOURCE, "include")))
        words = [harness.command("ompp"), "--", program] if how == "gomp" else [program]
        for kind in harness.sys.argv[1:] or KINDS:
            if KINDS[kind][0] == "ATOMIC" and how != "opari" or (kind == "filled" and how == "gomp"):
                continue
            try:
                test(verdict, scratch, words, how, kind)
                if kind == "critical":
                    killed(verdict, scratch, words, how)
            except (harness.Failure, subprocess.TimeoutExpired) as failure:
                verdict.check(False, "%s %s: %s" % (kind, how, failure))
    verdict.finish(scratch)


main()
