#!/usr/bin/env python3
"""
Waits that few programs have: what is told of them is right, by the times in waits.c and unfollowed.c, or has a flag that says why it may not be.
"""

import os
import shutil

import validation
from validation import harness

NEAR = 0.04  # of the run time

# Case, what regions gain, their flags (None = none of those that say so, ! = not this one).
THREADS = [
    ("ahead", {("a", 500): 0.6 / 17.2, ("b", 500): 6.6 / 17.2, ("b", 1000): 7.6 / 17.2}, {"a": None, "b": None}),
    ("gathered", {("a", 500): 0.8 / 4, ("a", 1000): 0.8 / 4, ("b", 1000): 0, ("c", 500): 0.55 / 4}, {"a": None, "b": None, "c": None}),
    ("stored", {}, {"a": None, "b": None}),
    ("in_time", {("b", 500): 1.15 / 3.6, ("a", 1000): 0}, {"b": "!polling", "c": "!polling"}),
    ("binary", {}, {"c": "lock"}),
    ("trying", {}, {"a": "polling", "b": "polling", "c": "polling"}),
    ("ticks", {}, {"a": "polling"}),
    ("passing", {}, {"a": "lock"}),
    ("giving", {("a", 500): 1.35 / 4.6, ("b", 500): 0.95 / 4.6}, {"a": "!polling", "b": "!polling"}),
    ("crowded", {}, {"a": "lost", "b": "lost"}),
    ("word", {("a", 500): 0.7 / 4.6, ("b", 500): 0.95 / 4.6, ("c", 500): 0}, {"a": None, "b": None}),
]
OPENMP = [
    ("copied", {("a", 500): 1 / 4, ("b", 1000): 0, ("c", 500): 0.5 / 4}, {"a": None, "c": None}),
    ("alone", {("a", 500): 1.7 / 5.6, ("b", 500): 1.1 / 5.6}, {"a": None, "b": None}),
    ("across", {}, {"a": "lost", "b": "lost"}),
    ("cancelled", {}, {"a": "dynamic", "b": "dynamic"}),
    ("tested", {}, {"a": "polling", "b": "polling", "c": "polling"}),
    ("at_once", {}, {"a": "task", "b": "task"}),
    ("looped", {}, {"a": "task", "b": "task"}),
]
# What is told of more dependants than there is room for; libgomp tells that there are some.
AWAITED = {"ompt": "lost", "opari": "lost", "gomp": "lost"}
FLAGS = {"lock", "dynamic", "task", "wildcard", "polling", "lost"}


# Without OMP_CANCELLATION nothing is cancelled.
UNCANCELLED = ("cancelled", {}, {"a": None, "b": None})


def check(scratch, program, case, gains, flags, cancellation="true"):
    """What is off, and how much was looked at."""
    seconds, outcome = validation.execute(scratch, program, validation.Case("waits", case, {}, 0, 20), OMPP_CAUSAL="virtual",
                                          OMP_CANCELLATION=cancellation)
    profile = outcome.profile()
    names, found = profile.names(), validation.predictions(profile, seconds)
    seen = {names[region]: FLAGS & set(flags) for region, flags in profile.whatif.flags.items()}
    off = ["%s: %s at %d permille: %s, not %.3f" % (case, *key, found.get(key), gain) for key, gain in gains.items()
           if key not in found or abs(found[key].gain - gain) > NEAR]
    off += ["%s: %s has no results" % (case, region) for region in flags if region not in seen]
    off += ["%s: flags of %s: %s, not %s" % (case, region, seen.get(region), flag) for region, flag in flags.items()
            if (seen.get(region, set()) if flag is None else
                flag[1:] in seen.get(region, ()) if flag[0] == "!" else flag not in seen.get(region, ()))]
    return off, len(gains) + len(flags)


def main():
    verdict, scratch = harness.Verdict("waits"), harness.Scratch("waits")
    for how in harness.sources() + harness.plain_sources():
        program = validation.build(scratch, "unfollowed", how)
        for row in OPENMP:
            verdict.timed(lambda row=row: check(scratch, program, *row))
        verdict.timed(lambda: check(scratch, program, *UNCANCELLED, cancellation="false"))
        verdict.timed(lambda: check(scratch, program, "awaited", {}, dict.fromkeys("ab", AWAITED[how])))
    if shutil.which("gcc"):
        output = scratch.file("threads", "waits")
        done = harness.execute([harness.command("kinst-ompp"), "gcc", "-g", "-O1", "-pthread", "-I" + os.path.join(harness.SOURCE, "include"),
                                os.path.join(validation.HERE, "waits.c"), "-o", output], scratch.path)
        if verdict.equal(done.status, 0, "cannot build waits.c: " + done.err[-500:]):
            for row in THREADS:
                verdict.timed(lambda row=row: check(scratch, output, *row))
    verdict.finish(scratch)


main()
