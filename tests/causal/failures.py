#!/usr/bin/env python3
"""
What can go wrong leaves the program unharmed and is said in a clear word: no regions, a run that is too short, more threads than
processors, active waiting, no room for signals, bad values; and the functions of POSIX threads do what they do without us.
"""

import glob
import os
import re
import resource
import shutil
import subprocess

import validation
from validation import harness

MODES = ("virtual", "delay")


def build(scratch, source, name, *flags):
    output = scratch.file("bin", name)
    words = [harness.command("kinst-ompp"), "gcc", "-O1", "-g", "-pthread", "-I" + os.path.join(harness.SOURCE, "include"), *flags,
             os.path.join(validation.HERE, source), "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status != 0:
        raise harness.Failure("cannot build %s: %s" % (source, done.err[-800:]))
    return output


def section(outcome):
    text = open(outcome.reports("txt")[0]).read()
    return text[text.index("ompp What-if"):] if "ompp What-if" in text else ""


def run(scratch, program, args=(), **changes):
    folder = scratch.file("runs", "r%d" % len(os.listdir(os.path.dirname(scratch.file("runs", "r")))))
    return harness.run(program, folder, 4, args=args, **changes)


TOO_SHORT = "no what-if result: no experiment came to its end"


def unharmed(verdict, scratch):
    """Every result of the replaced functions, with and without."""
    program = build(scratch, "harm.c", "harm")
    plain = run(scratch, program)
    verdict.equal(plain.status, 3, "harm: status without, " + plain.err[-300:])
    for mode in MODES:
        outcome = run(scratch, program, OMPP_CAUSAL=mode)
        verdict.equal((outcome.status, outcome.out), (plain.status, plain.out), "harm, %s" % mode)
        verdict.equal([line for line in outcome.messages() if not (mode == "delay" and TOO_SHORT in line)], [], "harm, %s: messages" % mode)
        verdict.profile(outcome.profile(), "harm, %s" % mode)


def nested(verdict, scratch):
    """A task's thread that forks a team goes on with the task: its record must not be given back twice."""
    for how in harness.sources() + harness.plain_sources():
        program = scratch.file("nested-" + how, "nested")
        harness.build(os.path.join(validation.HERE, "nested.c"), program, "opari" if how == "gomp" else how, instrument=how != "gomp")
        for mode in MODES:
            folder = scratch.file("nested-%s-%s" % (how, mode))
            start = ["--", program] if how == "gomp" else []
            outcome = harness.run(harness.command("ompp") if start else program, folder, 3, args=start, OMPP_CAUSAL=mode)
            title = "nested, %s, %s" % (how, mode)
            verdict.equal((outcome.status, outcome.out), (0, "%d\n" % (20 * (2 * 3000 + 3 * 100 + 401))), title)
            verdict.profile(outcome.profile(), title)


def words(verdict, scratch):
    program = build(scratch, "threads.c", "threads")
    for mode in MODES:
        def short(mode=mode):
            outcome = run(scratch, program, ["join", "rounds=1", "ms=0.001"], OMPP_CAUSAL=mode)
            verdict.equal(outcome.status, 0, "short, %s: status" % mode)
            # On a busy machine it may last longer.
            said = "No Interval    : too short" if mode == "virtual" else "No result: the run is too short"
            return [] if said in section(outcome) else ["short, %s: says %s" % (mode, section(outcome)[:600])], 1
        verdict.timed(short)
    none = run(scratch, build(scratch, "harm.c", "nothing", "-DOMPP_OFF"), OMPP_CAUSAL="virtual")
    verdict.equal(none.status, 3, "no regions: status")
    if none.reports("txt"):  # without any event there may be no report at all
        verdict.check("No result:" in section(none), "no regions: says %s" % section(none)[:600])
    wrong = run(scratch, program, ["join", "rounds=2"], OMPP_CAUSAL="fast")
    verdict.check(any("OMPP_CAUSAL" in line and "virtual" in line for line in wrong.messages()), "bad value: says %s" % wrong.messages())
    verdict.equal(wrong.status, 0, "bad value: status")


def lonely(verdict, scratch):
    """No progress point at all: without regions there is nothing to tell, in one of the modes there is nothing to end experiments at."""
    program, plain = build(scratch, "lonely.c", "lonely"), scratch.file("bin", "lonely-plain")
    words = ["gcc", "-O1", "-pthread", "-DOMPP_OFF", "-I" + os.path.join(harness.SOURCE, "include"), os.path.join(validation.HERE, "lonely.c"), "-o", plain]
    verdict.equal(harness.execute(words, scratch.path).status, 0, "lonely: build")
    said = {("virtual", ()): "No result: no region was followed", ("delay", ()): "No result: no region was followed",
            ("virtual", ("region",)): "No Interval    : no progress point was named",
            ("delay", ("region",)): "No result: no experiment came to its end"}
    for mode in MODES:
        launched = run(scratch, harness.command("ompp"), ["--causal=" + mode, "--", plain])
        runs = [("", (), launched)] + [(" built", args, run(scratch, program, args, OMPP_CAUSAL=mode)) for args in ((), ("region",))]
        for how, args, outcome in runs:
            title = "lonely%s, %s %s" % (how, mode, " ".join(args))
            verdict.equal((outcome.status, outcome.out), (3, "done\n"), title)
            verdict.check(said[mode, args] in section(outcome), "%s: says %s" % (title, section(outcome)[:800]))
            verdict.equal(len(outcome.reports("coz")), int((mode, args) == ("virtual", ("region",))), title + ": profiles for Coz's viewer")
            verdict.profile(outcome.profile(), title)


def no_signals():
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))


def limits(verdict, scratch):
    """No signal can be queued, no timer be made: neither is needed."""
    program = build(scratch, "threads.c", "threads")
    for mode in MODES:
        folder = scratch.file("signals", mode)
        os.makedirs(folder)
        done = subprocess.run([program, "barrier", "rounds=5"], cwd=folder, env=harness.environment(OMPP_CAUSAL=mode), preexec_fn=no_signals,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=harness.LIMIT)
        outcome = harness.Outcome(done.returncode, done.stdout, done.stderr, folder)
        others = [line for line in outcome.messages() if not (mode == "delay" and TOO_SHORT in line)]
        verdict.equal((outcome.status, others), (0, []), "no signals, %s" % mode)
        verdict.check(outcome.profile().whatif is not None, "no signals, %s: no what-if part" % mode)


def oversubscribed(verdict, scratch):
    program = validation.build(scratch, "openmp", harness.sources()[0])
    threads = 2 * os.cpu_count() + 1
    for mode in MODES:
        folder = scratch.file("many", mode)
        outcome = harness.run(program, folder, threads, args=["balanced", "rounds=3", "ms=0.3"], OMPP_CAUSAL=mode, OMP_WAIT_POLICY="active")
        verdict.equal(outcome.status, 0, "oversubscribed, %s: status" % mode)
        text = section(outcome)
        verdict.check("Caution        : OMP_WAIT_POLICY=active" in text, "oversubscribed, %s: active waiting is not named" % mode)
        if mode == "virtual":
            verdict.check(re.search(r"^ +disturbed +the measurement.*oversubscribed", text, re.MULTILINE), "oversubscribed: not named")
    # Ranks of one thread each.
    folder = os.path.dirname(scratch.file("ranks", "x"))
    outcome = harness.run(validation.build(scratch, "mpi", harness.sources()[0]), folder, 1, os.cpu_count() + 1, ["bulk", "rounds=3"], OMPP_CAUSAL="virtual")
    verdict.check(re.search(r"^ +disturbed +the measurement.*oversubscribed", section(outcome), re.MULTILINE), "oversubscribed, ranks: not named")


UNSEEN = """
#include "ompp.h"
#include <unistd.h>
int main(void)
{
    int s = 0;
    ompp_region_begin("x");
    usleep(20000);
    ompp_region_end("x");
#pragma omp parallel for ordered(1)
    for (int i = 1; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
        s += i;
#pragma omp ordered depend(source)
    }
    return s != 28;
}
"""


def unseen(verdict, scratch):
    """A source that OPARI2 cannot do: what-if says that waits are missing."""
    if "opari" not in harness.sources():
        return
    source, program = scratch.file("unseen", "unseen.c"), scratch.file("unseen", "unseen")
    with open(source, "w") as out:
        out.write(UNSEEN)
    harness.build(source, program, "opari", flags=validation.FLAGS)
    outcome = harness.run(program, os.path.dirname(scratch.file("unseen-run", "x")), 2, OMPP_CAUSAL="virtual")
    text = open(outcome.reports("txt")[0]).read()
    verdict.check("Caution        : the program waits where it is not measured" in text, "unseen: says %s" % section(outcome)[:600])
    verdict.check("compiled without instrumentation" in text, "unseen: OPARI2 can do it now; another source is needed")


# Case, mode, budget, and the part of the time that clocks are written for at least. In "waited_for", the initial thread comes to nothing after 0.1 s.
KILLED = [("barrier", "delay", 100, 0), ("barrier", "virtual", 100, 0.7), ("figure", "virtual", 100, 0.7), ("often", "virtual", 2, 0),
          ("waited_for", "virtual", 100, 0)]


def killed(verdict, scratch):
    """What a program leaves that is killed: with delays the experiments until then, with virtual clocks what they say, and of how much of it."""
    program = build(scratch, "threads.c", "threads")
    for case, mode, budget, least in KILLED:
        name = case + " " + mode
        folder = os.path.dirname(scratch.file("killed", name.replace(" ", "-"), "x"))
        os.mkdir(os.path.join(folder, "job"))
        harness.execute(["timeout", "-s", "KILL", "2", program, case, "rounds=1000000000"], folder, OMPP_CAUSAL=mode,
                        OMPP_JOB_DIR=os.path.join(folder, "job"), OMPP_CAUSAL_BUDGET=str(budget))
        done = harness.execute([harness.command("ompp-report"), "merge", "--to=" + folder, os.path.join(folder, "job")], folder)
        profiles = glob.glob(os.path.join(folder, "*.xml"))
        if not verdict.equal((done.status, len(profiles)), (0, 1), "killed, %s: merge: %s" % (name, done.err[-300:])):
            continue
        verdict.check("Fix these first" in section(done), "killed, %s: says %s" % (name, section(done)[:900]))
        profile = done.profile()
        verdict.profile(profile, "killed, " + name)
        if mode != "virtual":
            continue
        shares = {region: result.share for region, result in profile.whatif.results.items()}
        verdict.check(sum(shares.values()) < (1.1 if budget == 100 else 1.5), "killed, %s: shares are %s" % (name, shares))
        for (region, permille), clock in profile.whatif.clocks.items():
            written = clock.time / profile.whatif.time
            verdict.check(written >= least, "killed, %s: region %d is written for %.3f of the time" % (name, region, written))
            verdict.check(written > 0.9 or "partly" in profile.whatif.flags[region], "killed, %s: region %d, %.3f, without a flag" % (name, region, written))
        suspended = profile.whatif.suspended / profile.whatif.time
        verdict.check(budget == 100 or suspended > 0.1, "killed, %s: clocks were suspended for %.3f of the time" % (name, suspended))


# What is set: what stderr says of it, and the report.
SAID = [
    ({"OMPP_CAUSAL": "delay", "OMPP_CAUSAL_REGION": "A"}, "nearest: OMPP_CAUSAL_REGION=a", "OMPP_CAUSAL_REGION was A. Nearest: a for "),
    ({"OMPP_CAUSAL": "delay", "OMPP_CAUSAL_REGION": "nowhere.c:7"}, "(nowhere.c:7); it takes the name of a user region", "It takes the name of a user region"),
    ({"OMPP_CAUSAL": "virtual", "OMPP_CAUSAL_REGION": "a"}, "OMPP_CAUSAL_REGION is not used: it is for OMPP_CAUSAL=delay",
     "Caution        : OMPP_CAUSAL_REGION is not used"),
    ({"OMPP_CAUSAL": "off", "OMPP_CAUSAL_REGION": "a"}, "OMPP_CAUSAL_REGION is not used: it is for OMPP_CAUSAL=delay", None),
    ({"OMPP_CAUSAL": "delay", "OMPP_CAUSAL_SPEEDUP": "half"}, "using 0 (0 = 25, 50, 75 and 100 in turn)", "ompp What-if"),
]


def settings(verdict, scratch):
    """What is set in vain is said where the user looks, once, and the report says it, too."""
    program = build(scratch, "threads.c", "threads")
    for changes, said, reported in SAID:
        outcome = run(scratch, program, ["barrier", "rounds=10"], **changes)
        verdict.equal(outcome.status, 0, "%s: status" % changes)
        lines = [line for line in outcome.messages() if said in line]
        verdict.equal(len(lines), 1, "%s: says %s" % (changes, outcome.messages()))
        verdict.check(not section(outcome) if reported is None else reported in section(outcome), "%s: the report says %s" % (changes, section(outcome)[:900]))
    # A region that is there, by the path of its file, too.
    chosen = run(scratch, program, ["barrier", "rounds=60"], OMPP_CAUSAL="delay", OMPP_CAUSAL_REGION="b", OMPP_CAUSAL_SPEEDUP=50)
    text = section(chosen)
    verdict.equal(chosen.messages(), [], "chosen: messages")
    verdict.check("This is about what OMPP_CAUSAL_REGION names, b;" in text and "to try more" not in text and "Not tried" not in text,
                  "chosen: says %s" % text)


def eventless(verdict, scratch):
    """A program built by kinst-ompp that does nothing to be measured: said when somebody asks what it would gain, else not."""
    source, program = scratch.file("eventless", "eventless.c"), scratch.file("eventless", "eventless")
    with open(source, "w") as out:
        out.write("int main(void) { return 3; }\n")
    done = harness.execute([harness.command("kinst-ompp"), "gcc", source, "-o", program], scratch.path)
    verdict.equal(done.status, 0, "eventless: built, %s" % done.err[-300:])
    for mode, said in (("off", 0), ("virtual", 1), ("delay", 1)):
        done = harness.run(program, os.path.dirname(program), 1, OMPP_CAUSAL=mode)
        verdict.equal((done.status, done.err.count("nothing was measured")), (3, said), "eventless, %s: status, said" % mode)


SAID_STARVED = r"^threads waited ([0-9.]+) % of their time for a processor"


def starved(verdict, scratch):
    """Four threads that compute on one processor: each has it for a fourth of the time, and the report says so where it matters."""
    program, cpu = validation.build(scratch, "openmp", harness.sources()[0]), min(os.sched_getaffinity(0))
    if not shutil.which("taskset"):
        return
    for mode in MODES:
        folder = os.path.dirname(scratch.file("starved", mode, "x"))
        done = harness.execute(["taskset", "-c", str(cpu), program, "balanced", "rounds=5", "work=cpu"], folder, OMP_NUM_THREADS=4, OMPP_CAUSAL=mode)
        verdict.equal(done.status, 0, "starved, %s: status" % mode)
        text = open(done.reports("txt")[0]).read()
        said = re.search(SAID_STARVED, text, re.MULTILINE)
        verdict.check(said and float(said.group(1)) > 40, "starved, %s: Coverage says %s" % (mode, said and said.group(0)))
        verdict.check("Caution        : threads waited %s %% of their time for a processor" % (said and said.group(1)) in section(done),
                      "starved, %s: What-if does not say it" % mode)
        verdict.check("Fix these first" not in text or "a processor: this order is not to be trusted" in text, "starved, %s: the list does not say it" % mode)
        done = harness.execute(["taskset", "-c", str(cpu), program, "balanced", "rounds=30"], scratch.file("asleep", mode, "x")[:-2],
                               OMP_NUM_THREADS=4, OMPP_CAUSAL=mode)
        said = re.search(SAID_STARVED, open(done.reports("txt")[0]).read(), re.MULTILINE)
        if os.cpu_count() < 4:
            verdict.check("Fix these first" not in section(done) or "oversubscribed" in section(done), "four threads, %s: no flag" % mode)
        verdict.check(not said or float(said.group(1)) < 20, "asleep on one processor, %s: Coverage says %s" % (mode, said and said.group(0)))


def beside(verdict, scratch):
    """Others have the processors: gains are flagged, although there is one for each thread."""
    program, threads = validation.build(scratch, "openmp", harness.sources()[0]), len(os.sched_getaffinity(0))
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(threads)]
    try:
        done = harness.run(program, os.path.dirname(scratch.file("beside", "x")), threads, args=["balanced", "rounds=20", "work=cpu"], OMPP_CAUSAL="virtual")
    finally:
        for other in others:
            other.kill()
            other.wait()
    verdict.equal(done.status, 0, "others beside: status")
    verdict.check(re.search(r"^ +disturbed +the measurement.*oversubscribed", section(done), re.MULTILINE), "others beside: no flag: " + section(done)[:3000])


def main():
    verdict, scratch = harness.Verdict("failures"), harness.Scratch("failures")
    if not shutil.which("gcc"):
        harness.skip("no gcc")
    for test in (unharmed, nested, words, lonely, limits, oversubscribed, unseen, killed, settings, eventless, starved, beside):
        try:
            test(verdict, scratch)
        except (harness.Failure, subprocess.TimeoutExpired) as failure:
            verdict.check(False, "%s: %s" % (test.__name__, failure))
    verdict.finish(scratch)


main()
