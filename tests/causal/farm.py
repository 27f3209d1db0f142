#!/usr/bin/env python3
"""
A manager and its workers: what is handed out goes to who is free, in the program with the faster region, too. Predictions against
programs that were really changed so.
"""

import collections
import functools

import validation
from validation import harness

NEAR = 0.03  # four to six ranks on two processors: messages take what the system makes them take
WORKERS = {"a": (500, 1000), "b": (500,), "c": (1000,)}


def case(name, rounds, **more):
    return validation.Case("farm", name, {**WORKERS, **more}, 4, rounds)


CASES = [case("asked", 30), case("one_each", 30), case("two_each", 30), case("in_steps", 12, d=(1000,)), case("late", 15, d=(500,)),
         validation.Case("farm", "recorded", {"a": (500,), "e": (500, 1000)}, 4, 15), case("synchronous", 30), case("from_anyone", 30),
         validation.Case("farm", "busy", {"a": (500,), "c": (500, 1000)}, 4, 20),
         validation.Case("farm", "waited_for", {"a": (500,), "b": (500,)}, 4, 15),
         validation.Case("farm", "two_farms", {"a": (500,), "b": (500,)}, 6, 15)]

FLAGGED = ("recorded",)  # a rank depends on a measured order, and holds all up


HINT = 4    # runs, all with a flag: messages took too long for the model to fit, as they may with more ranks than processors. Then it is a hint
HINTS = 3   # cases at most for which that is so


def virtual(scratch, program, of, times, runs, hints):
    """
    When it is measured again, what was measured before counts, too: the runs that were disturbed least say what it gains. What is compared is
    the time that is saved: with more ranks than processors, and depending on the system, messages may take so long that programs take a few
    percent longer with ours.
    """
    off = []
    alone, real = validation.real_gains(scratch, program, of, 1, choose=validation.LEAST, times=times)
    runs.append(validation.virtual(scratch, program, of))
    good = [run for run in runs if of.name in FLAGGED or not any("wildcard" in run[key].flags for key in real if key in run)]
    if not good and len(runs) >= HINT:
        hints.add(of.name)
        good = runs
    found = validation.chosen_predictions(good, validation.LEAST)
    for (region, permille), gain in real.items():
        told = found.get((region, permille))
        if told is None or abs(told.gain * told.seconds / alone - gain) > NEAR:
            off.append("%s: %s faster by %d permille gains %.3f, told without a flag: %s" % (of.name, region, permille, gain, str(told)))
    return off, len(real)


def not_told(scratch, program):
    """What nobody has gone through again has the flag, on all ranks' regions."""
    off = []
    for name, regions in (("several", "b"), ("noted", "ab"), ("specialists", "ab")):  # a of several changes no order
        found = validation.virtual(scratch, program, case(name, 30))
        off += ["%s: no flag: %s %s" % (name, region, str(found.get((region, 500)))) for region in regions
                if (region, 500) not in found or "wildcard" not in found[region, 500].flags]
    return off, 5


def delayed(scratch, program):
    """With delays, ranks keep up with each other where units of work tell what that takes, and the message that comes first is the right one:
    26 % and 21 %. Without a progress point they do not."""
    off = []
    for name, region, gain, near in (("one_each", "a", 0.26, 0.05), ("one_each", "b", 0.21, 0.05), ("unnamed", "b", 0.2, 0.1)):
        found = validation.delay(scratch, program, case(name, 200), region, 500)
        if found is None or abs(found.gain - gain) > near or "wildcard" not in found.flags:
            off.append("%s, delays: %s gains %.3f, told: %s" % (name, region, gain, str(found)))
    return off, 3


def met(scratch, program, times, runs):
    """Ranks that know nothing of each other between meetings: experiments go from one to another, and delays are no more than they may be."""
    of = validation.Case("farm", "two_in_steps", {"a": (500,), "b": (500,)}, 6, 10)
    longest, off = 1.5, []
    alone, real = validation.real_gains(scratch, program, of, 1, choose=validation.LEAST, times=times)
    for (region, permille), gain in real.items():
        seconds, outcome = validation.execute(scratch, program, of, OMPP_CAUSAL="delay", OMPP_CAUSAL_REGION=region, OMPP_CAUSAL_SPEEDUP="50")
        runs[region].append(validation.predictions(outcome.profile(), seconds))
        told = validation.chosen_predictions(runs[region], validation.LEAST).get((region, permille))
        if told is None or abs(told.gain - gain) > 0.05 or told.seconds > longest * alone:
            off.append("two farms, delays: %s gains %.3f, told: %s, instead of %.3f s" % (region, gain, str(told), alone))
    return off, len(real)


def main():
    verdict, scratch = harness.Verdict("farm"), harness.Scratch("farm")
    harness.mpirun()
    program = validation.build(scratch, "farm", harness.sources()[0])
    hints = set()
    for of in CASES:
        verdict.timed(functools.partial(virtual, scratch, program, of, collections.defaultdict(list), [], hints))
    verdict.check(len(hints) <= HINTS, "told with the flag in each of %d runs: %s" % (HINT, sorted(hints)))
    verdict.timed(lambda: not_told(scratch, program))
    verdict.timed(lambda: delayed(scratch, program))
    verdict.timed(functools.partial(met, scratch, program, collections.defaultdict(list), collections.defaultdict(list)))
    verdict.finish(scratch)


main()
