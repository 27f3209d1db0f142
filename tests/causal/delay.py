#!/usr/bin/env python3
"""
Experiments with delays where threads pass each other at locks. What the regions are worth follows from their times, which are sleeps: of
two threads that hold a lock for 10 and do 5 without, the lock is all there is to wait for until it takes less than the rest.
"""

import os
import re
import shutil
import xml.etree.ElementTree as ElementTree

import validation
from validation import harness

# case, rounds, region, speed-up, gain, how far from it. Relations are wide: the machine may be busy.
NEAR = 0.12
EXPECTED = [
    ("pair", 60, "in", 50, 0.50, NEAR),
    ("pair", 60, "in", 100, 0.75, NEAR),
    ("pair", 60, "out", 100, 0.00, NEAR),
    ("feeder", 30, "take", 100, 0.60, NEAR),  # over short experiments, in which what is queued is used up, it would be 0.8
    ("queue", 60, "take", 50, 0.25, 0.08),    # and here 0.37
    ("overtaken", 100, "a", 50, -0.20, 0.08), # a round has 7.5, and 9 with it; 0.13 when the point and the barrier before it are one place
]
OUTSIDE = "(outside regions)"
SERIAL = {"main": 0.54, OUTSIDE: 0.36}  # of startup, whose loop has 10 ms a round
IN_TURN = [("pair", 300)]  # all regions and speed-ups of one run


def run(verdict, scratch, program, case, rounds, what=None, **environment):
    folder = scratch.file("runs", "r%d" % len(os.listdir(os.path.dirname(scratch.file("runs", "r")))))
    outcome = harness.run(program, folder, 2, args=[case, "rounds=%d" % rounds], OMPP_CAUSAL="delay", **environment)
    verdict.equal(outcome.status, 0, "%s: status, %s" % (what or case, outcome.err[-300:]))
    profile = outcome.profile()
    verdict.profile(profile, case)
    names = profile.names()
    gains = {(names[region], permille): gain.gain for (region, permille), gain in profile.whatif.gains.items()}
    for key, gain in gains.items():
        verdict.check(gain <= 1, "%s: %s gains %.3f, more than all" % (case, key, gain))
    return profile, gains


def one_region(verdict, scratch, program):
    for case, rounds, region, percent, expected, near in EXPECTED:
        def compare():
            _, gains = run(verdict, scratch, program, case, rounds, OMPP_CAUSAL_REGION=region, OMPP_CAUSAL_SPEEDUP=str(percent))
            gain = gains.get((region, 10 * percent))
            off = gain is None or abs(gain - expected) > near
            return ["%s: %s faster by %d %% gains %s, not %.2f" % (case, region, percent, gain, expected)] if off else [], 1
        verdict.timed(compare)


def in_turn(verdict, scratch, program):
    """Pauses under the lock are counted, and gains with all the regions in one run agree with those alone."""
    for case, rounds in IN_TURN:
        def compare():
            profile, gains = run(verdict, scratch, program, case, rounds)
            off = []
            if not profile.whatif.paid > 0.02 * profile.whatif.time:
                off.append("%s: pauses of %d ns in %d" % (case, profile.whatif.paid, profile.whatif.time))
            wanted = {("in", 500): 0.5, ("around", 500): 0.5, ("in", 1000): 0.75, ("out", 1000): 0, ("out", 750): 0, ("out", 250): 0}
            if len(wanted.keys() & gains.keys()) < 3:  # which ones, depends on how many experiments there was time for
                off.append("%s, in turn: there are %s" % (case, sorted(gains)))
            for key in wanted.keys() & gains.keys():
                if abs(gains[key] - wanted[key]) > NEAR:
                    off.append("%s, in turn: %s gains %.3f, not %.2f" % (case, key, gains[key], wanted[key]))
            return off, 4
        verdict.timed(compare)


HANDED_OVER = 0.032  # seconds that a round of ties takes where nobody is passed
PASSED = 1.05        # times as much: threads have passed others


def passing(verdict, scratch, program):
    """Threads that pass others at a lock, in the program itself if not in experiments: how often is chance, which the flag says."""
    for case, rounds, region in (("ties", 20, "b"), ("queue", 30, "make")):
        def compare():
            seconds, _ = validation.execute(scratch, program, validation.Case("threads", case, {}, 0, rounds))
            profile, _ = run(verdict, scratch, program, case, rounds, OMPP_CAUSAL_REGION=region, OMPP_CAUSAL_SPEEDUP="50")
            flagged = "lock" in set().union(*profile.whatif.flags.values())
            if case == "ties":
                good = flagged or seconds < PASSED * HANDED_OVER * rounds
            else:
                good = not flagged
            return [] if good else ["%s, %.2f s: %s" % (case, seconds, "lock" if flagged else "no flag")], 1
        verdict.timed(compare)


def correction(verdict, scratch):
    """Where threads wait at a barrier is no work, whoever counts it: all the program is in the parallel region, and gains by its half."""
    if "opari" not in harness.sources():
        return  # the region is named by its line, which is known later to others
    program, source = validation.build(scratch, "openmp", "opari"), open(os.path.join(validation.HERE, "openmp.c")).read()
    begin = source.index("static void imbalanced")
    place = "openmp.c:%d" % (source.count("\n", 0, source.index("#pragma omp parallel", begin)) + 1)

    def compare():
        _, gains = run(verdict, scratch, program, "imbalanced", 40, "imbalanced", OMPP_CAUSAL_REGION=place, OMPP_CAUSAL_SPEEDUP="50")
        gain = gains.get(("", 500))
        return ["imbalanced: all of it faster by half gains %s" % gain] if gain is None or abs(gain - 0.5) > NEAR else [], 1
    verdict.timed(compare)


# ms of each in a round of 70.
PHASES = {"a": 15, "b": 25, "c": 10, "d": 20}


def phases(verdict, scratch):
    """Regions that have a unit of work each to themselves, as long as an experiment: each is seen at work, or not told of."""
    program = validation.build(scratch, "openmp", harness.sources()[0])

    def compare():
        profile, gains = run(verdict, scratch, program, "phases", 40, "phases")
        known = {(name, permille): gain for (name, permille), gain in gains.items() if name in PHASES}
        off = [] if len(known) >= 6 else ["phases: there are %s" % sorted(known)]
        for (name, permille), gain in known.items():
            wanted = PHASES[name] / sum(PHASES.values()) * permille / 1000
            if abs(gain - wanted) > NEAR / 4:
                off.append("phases: %s faster by %d permille gains %.3f, not %.3f" % (name, permille, gain, wanted))
        flags = set().union(*profile.whatif.flags.values())
        off += ["phases: flags %s" % flags] if "inflated" in flags else []
        return off, 2
    verdict.timed(compare)


# Of OpenMP programs that nobody rebuilt: case, rounds, region, speed-up, gain, how far from it.
PLAIN = [
    ("balanced", 40, "a", 50, 0.33, 0.1),
    ("early", 40, "a", 50, 0.15, 0.07),
    ("imbalanced", 40, "a", 50, 0.24, 0.1),
    ("dynamic", 20, "b", 50, 0.22, 0.1),
    ("lock", 20, "b", 50, 0.27, 0.12),
]


def plain(verdict, scratch):
    """Barriers, loops and locks of libgomp's programs behind the launcher are followed."""
    for how in harness.plain_sources():
        program = validation.build(scratch, "openmp", how)
        for name, rounds, region, percent, expected, near in PLAIN:
            def compare():
                found = validation.delay(scratch, program, validation.Case("openmp", name, {}, 0, rounds), region, 10 * percent)
                off = found is None or abs(found.gain - expected) > near
                return ["%s, behind ompp: %s faster by %d %% gains %s, not %.2f" % (name, region, percent, found, expected)] if off else [], 1
            verdict.timed(compare)


# Where the order is decided as the program runs: case, rounds, region, speed-up, gain, how far from it. Compared with the experiments' own
# time without the delays, a of dynamic is worth 0.73. Of tasks, b is worth 0.05 when who waits for the last one does not hear of its pause.
REORDERED = [
    ("dynamic", 60, "a", 100, 0.59, NEAR),
    ("nowaits", 40, "b", 100, 0.39, NEAR),  # told 0.99 when threads that find no iterations left are not looked at
    ("critical", 40, "b", 50, 0.31, NEAR),
    ("lock", 20, "b", 50, 0.26, NEAR),
    ("tasks", 40, "b", 50, 0.17, 0.09),
]


def reordered(verdict, scratch):
    """Units of work are compared with those at 0 %, or the flag says that this cannot be done."""
    for how in harness.sources():
        program = validation.build(scratch, "openmp", how)
        for name, rounds, region, percent, expected, near in REORDERED:
            def compare():
                seconds, outcome = validation.execute(scratch, program, validation.Case("openmp", name, {}, 0, rounds), OMPP_CAUSAL="delay",
                                                      OMPP_CAUSAL_REGION=region, OMPP_CAUSAL_SPEEDUP=str(percent))
                profile = outcome.profile()
                verdict.profile(profile, name)
                key = next((key for key in profile.whatif.gains if profile.names()[key[0]] == region), None)
                if key is None:
                    return ["%s, %s: no gain of %s" % (name, how, region)], 1
                gain, flags = profile.whatif.gains[key], profile.whatif.flags[key[0]]
                near_enough = abs(gain.gain - expected) < near
                good = near_enough and gain.by_control if name in ("dynamic", "nowaits") else near_enough or "baseline" in flags
                off = "%s, %s: %s faster by %d %% gains %s, not %.2f, flags %s" % (name, how, region, percent, gain, expected, flags)
                return [] if good else [off], 1
            verdict.timed(compare)


UNIT = 0.015  # seconds of a unit of steps, with two places where all meet


def same_place(verdict, scratch):
    """Experiments begin and end at the same place of a unit: each has as many units in it as it has visits of the progress point.
    The last one may end where the run does."""
    first, mpi = harness.sources()[0], shutil.which("mpicc") and "opari" in harness.sources()
    kinds = [("openmp", "steps", 0, first, 50), ("openmp", "passed", 0, first, 100)]
    kinds += [("hybrid", "steps", 2, "opari", 50), ("hybrid", "overlapped", 2, "opari", 50)] if mpi else []
    for source, name, ranks, how, percent in kinds:
        program = validation.build(scratch, source, how)

        def compare():
            _, outcome = validation.execute(scratch, program, validation.Case(source, name, {}, ranks, 60), OMPP_CAUSAL="delay",
                                            OMPP_CAUSAL_REGION="a", OMPP_CAUSAL_SPEEDUP=str(percent))
            whatif = outcome.profile().whatif
            blocks = [b for clock in [whatif.control, *whatif.clocks.values()] if clock for b in clock.blocks[:-1] if b[3]]
            wrong = ["%.1f ms are said to be %d units" % (1e-6 * (b[0] - b[2]), b[3]) for b in blocks
                     if not 0.8 < (b[0] - b[2]) / 1e9 / UNIT / b[3] < 1.25]
            few = [] if len(blocks) >= 10 else ["%d experiments with units" % len(blocks)]
            return ["%s %s: %s" % (source, name, "; ".join(few + wrong[:3]))] if few or wrong else [], 2
        verdict.timed(compare)


def startup(verdict, scratch, program):
    """
    Experiments are with regions that matter now, also when more than there are slots for came before: the code of the main loop is all that
    there is to gain from, and what is in no region has its share.
    """
    def compare(wanted, **environment):
        profile, gains = run(verdict, scratch, program, "startup", 100, **environment)
        names, counts = profile.names(), {}
        for (region, _), clock in profile.whatif.clocks.items():
            counts[names[region]] = counts.get(names[region], 0) + clock.observations
        off = ["startup: no experiment with %s: %s" % (name, counts) for name in wanted if not counts.get(name)]
        early = sum(count for name, count in counts.items() if re.fullmatch(r"s\d+", name))
        off += [] if early <= 2 else ["startup: %d experiments with regions that are not come to any longer: %s" % (early, counts)]
        off += ["startup: %s gains %.3f" % (key, gain) for key, gain in gains.items() if key[0] in SERIAL and
                abs(gain - SERIAL[key[0]] * key[1] / 1000) > NEAR]
        return off, 4
    verdict.timed(lambda: compare(["main", OUTSIDE]))
    verdict.timed(lambda: compare(["main"], OMPP_CAUSAL_REGION="main"))
    verdict.timed(lambda: compare([OUTSIDE], OMPP_CAUSAL_REGION=OUTSIDE))


def nothing_tried(verdict, scratch, program):
    """A region that is worth nothing is no all-clear for what was not tried."""
    def tell():
        _, outcome = validation.execute(scratch, program, validation.Case("threads", "figure", {}, 0, 40), OMPP_CAUSAL="delay", OMPP_CAUSAL_REGION="b")
        text = open(outcome.reports("txt")[0]).read()
        told = "None of those that were tried" in text and "What was not tried may be worth more" in text
        good = told and "This is about what OMPP_CAUSAL_REGION names, b; nothing is known of the rest." in text
        return [] if good else ["figure: an all-clear by one region of two"], 1
    verdict.timed(tell)


def to_the_end(verdict, scratch, program):
    """Delays of an experiment that does not come to its end count, too; who has waited since before it began has not to wait once more."""
    case, args = validation.Case("threads", "figure", {}, 0, 4), ["ms=10"]

    def compare():
        base = validation.execute(scratch, program, case, args)[0]
        seconds, outcome = validation.execute(scratch, program, case, args, OMPP_CAUSAL="delay", OMPP_CAUSAL_REGION="b", OMPP_CAUSAL_SPEEDUP="100")
        paid = 1e-9 * outcome.profile().whatif.paid  # three rounds of 60, in which b takes 30
        good = abs(paid - 0.09) < NEAR * 0.09 and abs(seconds - paid - base) < NEAR / 2 * base
        return [] if good else ["figure: %.3f s, of that %.3f s of delays, without any %.3f s" % (seconds, paid, base)], 1
    verdict.timed(compare)


def settings(verdict, scratch, program):
    """One speed-up has a column of its own; a region that is not there is named; what belongs to the other mode is not ignored silently."""
    def text_of(rounds, mode, **environment):
        environment.setdefault("OMPP_CAUSAL_BUDGET", 2)
        _, outcome = validation.execute(scratch, program, validation.Case("threads", "pair", {}, 0, rounds), OMPP_CAUSAL=mode, **environment)
        text = open(outcome.reports("txt")[0]).read()
        return text[text.index("ompp What-if"):]

    for percent in ("60", "50"):
        text = text_of(60, "delay", OMPP_CAUSAL_REGION="in", OMPP_CAUSAL_SPEEDUP=percent)
        titles = re.search(r"^ +Type +Location +share(.*?)95 % interval", text, re.MULTILINE)
        verdict.equal(titles and titles.group(1).split(), [percent, "%"], "one speed-up: columns")
        verdict.check("not used" not in text, "one speed-up: %s" % text)
    text = text_of(5, "delay", OMPP_CAUSAL_REGION="nosuch")
    verdict.check("OMPP_CAUSAL_REGION was nosuch." in text, "a region that is not there is not named")
    text = text_of(5, "delay", OMPP_CAUSAL_BUDGET=5)
    verdict.check("OMPP_CAUSAL_BUDGET is not used" in text, "delay: not said that OMPP_CAUSAL_BUDGET is not used")
    text = text_of(5, "virtual", OMPP_CAUSAL_REGION="in", OMPP_CAUSAL_SPEEDUP=60)
    for name in ("REGION", "SPEEDUP"):
        verdict.check("OMPP_CAUSAL_%s is not used" % name in text, "virtual: not said that OMPP_CAUSAL_%s is not used" % name)


def by_address(verdict, scratch):
    """Of a program that nobody rebuilt, one region alone: named as the XML of another run knows it."""
    program, counter = scratch.file("plain", "openmp"), iter(range(100))
    harness.build(os.path.join(validation.HERE, "openmp.c"), program, "opari", flags=("-O1", "-g", "-I" + os.path.join(harness.SOURCE, "include")),
                  instrument=False)

    def launch(mode, **environment):
        folder = os.path.dirname(scratch.file("launched", "r%d" % next(counter), "x"))
        outcome = harness.run(harness.command("ompp"), folder, 2, args=["--causal=" + mode, "--", program, "serial", "rounds=60"], **environment)
        verdict.equal(outcome.status, 0, "by address: status, " + outcome.err[-300:])
        return outcome.profile()

    def compare():
        root = ElementTree.parse(launch("virtual").path).getroot()
        modules = {m.get("id"): os.path.basename(m.get("path")) for m in root.iter("module")}
        places = {int(r.get("id")): modules[r.get("module")] + "+" + r.get("address") for r in root.iter("region")
                  if r.get("module") and r.get("type") == "PARALLEL" and r.get("address")}
        if not verdict.check(places, "by address: no region with an address"):
            return [], 0
        region, place = next(iter(places.items()))
        whatif = launch("delay", OMPP_CAUSAL_REGION=place, OMPP_CAUSAL_SPEEDUP="50").whatif
        tried = {r for (r, permille), clock in whatif.clocks.items() if clock.observations}
        return [] if tried == {region} else ["by address: %s was named, tried were %s of %s" % (place, tried, places)], 1
    verdict.timed(compare)


def main():
    verdict, scratch = harness.Verdict("delay"), harness.Scratch("delay")
    if not shutil.which("gcc"):
        harness.skip("no gcc")
    program = scratch.file("bin", "threads")
    words = [harness.command("kinst-ompp"), "gcc", "-O1", "-g", "-pthread", "-I" + os.path.join(harness.SOURCE, "include"),
             os.path.join(validation.HERE, "threads.c"), "-o", program]
    done = harness.execute(words, os.path.dirname(program))
    if verdict.equal(done.status, 0, "build: " + done.err[-300:]):
        one_region(verdict, scratch, program)
        in_turn(verdict, scratch, program)
        passing(verdict, scratch, program)
        startup(verdict, scratch, program)
        nothing_tried(verdict, scratch, program)
        to_the_end(verdict, scratch, program)
        settings(verdict, scratch, program)
    correction(verdict, scratch)
    phases(verdict, scratch)
    same_place(verdict, scratch)
    plain(verdict, scratch)
    reordered(verdict, scratch)
    by_address(verdict, scratch)
    verdict.finish(scratch)


main()
