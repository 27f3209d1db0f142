#!/usr/bin/env python3
"""
What programs do with SIGPROF, descriptors, stacks, processes and code while they are sampled (hazards.c): they print the same and end in the
same way as without samples, by timers and by perf events, and as many samples are taken as there should be. Programs that use SIGPROF
themselves have it for themselves, and Coverage says so. docs/sampling.md has the outcomes.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

RATES = {"timers": 100, "perf events": 3000}
USES = "not available: samples to the end"
# Beside busy processes, 3 of 100 plain programs get no signal of their CPU timer at all (Linux 6.18): such a run is repeated.
ATTEMPTS = 5

# Case: ms of sampled processor time at least, and what Coverage says.
CASES = {
    "blocked": (500, "threads without samples at the end: 1 (they block SIGPROF)"), "masked": (100, "threads without samples: 2 (they block SIGPROF)"),
    "handler": (200, USES + " (the program has a handler for SIGPROF)"),
    "timer": (50, USES + " (the program has a handler for SIGPROF)"), "query": (250, None), "killed": (None, None), "closes": (100, None),
    "processes": (300, None), "executes": (None, None), "threads": (150, None), "stacks": (500, None), "jumps": (200, None), "code": (20, None),
    "modules": (20, None), "library": (50, USES + " (the program has a handler for SIGPROF)"), "interrupted": (10, None), "serial": (400, None)}
MODULE = "unsigned long work(unsigned long n){volatile unsigned long s=0;for(unsigned long i=0;i<n;i++)s+=i;return s;}\n"  \
    "#include <signal.h>\nvoid use(void (*handler)(int)){struct sigaction a={.sa_handler=handler};sigaction(SIGPROF,&a,0);}\n"


def build(scratch, name, flags=()):
    program = scratch.file(name)
    done = harness.execute([harness.COMPILERS["opari"], "-O1", "-g", "-w", "-pthread", *flags, os.path.join(HERE, "hazards.c"), "-o", program], scratch.path)
    if done.status:
        raise harness.Failure("cannot build: " + done.err[-800:])
    return program


def limited(**limits):
    """Called in the child before the program starts."""
    def set_all():
        for name, value in limits.items():
            if name == "ignored":
                signal.signal(signal.SIGPROF, signal.SIG_IGN)
            else:
                resource.setrlimit(getattr(resource, name), (value, value))
    return set_all


def execute(words, folder, before=None, **changes):
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run(words, cwd=folder, env=harness.environment(OMPP_VERBOSE=1, **changes), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=harness.LIMIT, universal_newlines=True, errors="replace", preexec_fn=before)
    return harness.Outcome(done.returncode, done.stdout, done.stderr, folder)


def text_of(outcome):
    """Of the report, without the breaks of its lines."""
    with open(outcome.reports("txt")[-1], encoding="utf-8") as file:
        return re.sub(r"\s+", " ", file.read())


def samples_of(outcome):
    """Number and ms; 0 where none were said."""
    found = re.search(r"ompp: (\d+) samples of \d+ threads, (\d+) ms", outcome.err)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def compare(verdict, scratch, title, words, rate, before=None, least=None, coverage=None, option="--sample=%s"):
    """The same with and without; returns the measured outcome."""
    plain = verdict.unmeasured(title, lambda: execute(words, scratch.file("plain", "x")[:-2], before), lambda outcome: True)
    front = [harness.command("ompp"), *([option % rate] if rate is not None else []), "--"]
    for attempt in range(ATTEMPTS):
        measured = execute([*front, *words], scratch.file("%s-%d" % (title.replace(" ", "-").replace(",", ""), attempt), "x")[:-2], before)
        if least is None or samples_of(measured)[1] >= least:
            break
    verdict.equal(measured.status, plain.status, title + ": status")
    verdict.equal(measured.out, plain.out, title + ": output")
    if least is not None:
        verdict.check(samples_of(measured)[1] >= least, "%s: %s, wanted %d ms; %s" % (title, samples_of(measured), least, measured.err[-300:]))
    if coverage:
        verdict.check(coverage in text_of(measured), "%s: Coverage without '%s'" % (title, coverage))
    return measured


def ways(scratch, program):
    """By what the rates are reached here."""
    for way, rate in RATES.items():
        outcome = execute([harness.command("ompp"), "--sample=%d" % rate, "--", program, "nothing"], scratch.file("way-" + way[:4], "x")[:-2])
        if outcome.reports("txt") and "by %s%s" % ("" if way != "timers" else "CPU ", way) in text_of(outcome):
            yield way, rate
        else:
            print("note: no samples by %s here: %s" % (way, outcome.messages()))


def own_timers(verdict, scratch, program, rate):
    """-pg: gprof has no more samples than its own timer makes; on a busy machine it has fewer."""
    profiled = build(scratch, "profiled", ["-pg", "-no-pie"])
    measured = compare(verdict, scratch, "-pg", [profiled, "serial"], rate)
    verdict.equal(measured.reports(), [], "-pg: nothing is measured, as without samples")
    if shutil.which("gprof"):
        said = harness.execute(["gprof", "-b", "-p", profiled, "gmon.out"], measured.folder).out
        found = re.search(r"^ *[\d.]+ +([\d.]+) +[\d.]+ .*spin$", said, re.M)
        verdict.check(found and 0 < float(found.group(1)) < 0.7, "-pg: gprof says of 0.5 s of work: " + said[:300])
    compare(verdict, scratch, "ignored before", [program, "status"], rate, limited(ignored=True), coverage=None)


def limits(verdict, scratch, program, found):
    if "perf events" in found:
        compare(verdict, scratch, "few descriptors", [program, "threads"], RATES["perf events"], limited(RLIMIT_NOFILE=20), 150, "need perf events")
        compare(verdict, scratch, "no signals", [program, "serial"], 100, limited(RLIMIT_SIGPENDING=0), 300)
    refused = harness.refuse_events(scratch.path)
    outcome = execute([harness.command("ompp"), "--sample=100", "--", program, "serial"], scratch.file("refused", "x")[:-2],
                      limited(RLIMIT_SIGPENDING=0), LD_PRELOAD=refused)
    verdict.equal((outcome.status, outcome.reports()), (0, []), "neither signals nor events: as without samples")
    verdict.check(any("nothing was measured" in line for line in outcome.messages()), "neither: %s" % outcome.err)
    outcome = execute([harness.command("ompp"), "--sample=3000", "--", program, "serial"], scratch.file("capped", "x")[:-2], LD_PRELOAD=refused)
    verdict.check("Hz of processor time, by CPU timers (3000 Hz need perf events)" in text_of(outcome), "events refused: " + text_of(outcome)[:900])


def off(verdict, scratch, program):
    for option in ("--sample=off", "--sample=0", "--sample-hz=0"):
        outcome = execute([harness.command("ompp"), option, "--", program, "serial"], scratch.file("off", "x")[:-2])
        verdict.equal((outcome.status, outcome.reports(), samples_of(outcome)), (0, [], (0, 0)), option)
    outcome = execute([harness.command("ompp"), "--", program, "serial"], scratch.file("default", "x")[:-2])
    verdict.check(re.search(r"Samples : 100 Hz of processor time, by CPU timers|perf events", text_of(outcome)), "on by default")
    number, ms = samples_of(outcome)
    verdict.check(10 <= number <= 60 and 400 <= ms <= 600, "0.5 s at 100 Hz: %d samples, %d ms" % (number, ms))


def valgrind(verdict, scratch):
    """Callgrind ends programs that get signals in threads: there are no samples, and no lines of valgrind's about what ompp does."""
    if not shutil.which("valgrind"):
        return print("note: valgrind is not installed")
    for how in harness.sources():
        program, folder = scratch.file(how, "valgrind"), scratch.file(how, "valgrind-run", "x")[:-2]
        harness.build(os.path.join(harness.SOURCE, "tests", "bench", "bench_constructs.c"), program, how)
        words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "parallel", "300"]
        outcome = execute(words, folder, OMP_NUM_THREADS=2, OMP_WAIT_POLICY="passive")
        verdict.equal(outcome.status, 0, how + ", callgrind: " + outcome.err[-300:])
        verdict.check("unknown 'how'" not in outcome.err, how + ", callgrind: says: " + outcome.err[-300:])
        verdict.check("not available: samples (valgrind runs the program" in text_of(outcome), how + ", callgrind: Coverage")


def main():
    verdict, scratch = harness.Verdict("hazards"), harness.Scratch("hazards")
    program, module = build(scratch, "hazards"), scratch.file("libevent-module.so")
    with open(module[:-2] + "c", "w", encoding="utf-8") as file:
        file.write(MODULE)
    harness.execute([harness.COMPILERS["opari"], "-O1", "-shared", "-fPIC", module[:-2] + "c", "-o", module], scratch.path)
    found = dict(ways(scratch, program))
    if not found:
        harness.skip("no samples are possible here")
    for way, rate in found.items():
        for case in () if sys.argv[1:] == ["rest"] else sys.argv[1:] or CASES:
            least, coverage = CASES[case]
            if way == "perf events":  # which are off while the signal is blocked, and in the kernel
                least = {"blocked": 200, "closes": 50}.get(case, least and least * 0.6)
                coverage = {"closes": "threads without samples at the end: 2 (the program has closed the descriptors"}.get(case, coverage)
            measured = compare(verdict, scratch, "%s, %s" % (case, way), [program, case, *([module] if case in ("modules", "library") else [])], rate, None, least, coverage)
            if case == "masked":
                text = text_of(measured)
                seconds = [float(s) for s in re.findall("processor time of threads that block SIGPROF, which no sample stands for: ([0-9.]+) sec", text)]
                verdict.check(seconds and 0.8 <= seconds[0] <= 1.2, "masked, %s: processor time of two threads, 0.5 s each: %s" % (way, seconds))
                verdict.check(re.search(r"Samples : [^:]*; threads without: 2 ", text), "masked, %s: header" % way)
    if sys.argv[1:] in ([], ["rest"]):
        own_timers(verdict, scratch, program, max(found.values()))
        limits(verdict, scratch, program, found)
        off(verdict, scratch, program)
        valgrind(verdict, scratch)
    verdict.finish(scratch)


main()
