#!/usr/bin/env python3
"""
What virtual clocks take: the programs of the table, measured with and without them in turn. Of the time that the program tells, from when
all have started: percent, medians of pairs with 95 % intervals, the least disturbed runs, and ms; ms of the whole run, with MPI_Init, the
report and the launcher; and what the report says that events take. A report, not a test: takes minutes, wants an idle machine. A
program is over the budget when its whole interval is; by fewer than 6 pairs that is not known.

usage: cost.py [--how=opari|ompt|gomp] [--cpu] [--pairs=N] [--longer=N] [CASE...]
    --longer  N times as many rounds: what is taken once, before clocks are suspended, is less of a longer run
    --cpu     work that takes the processor, instead of lasting until points in time
"""

import collections
import subprocess
import sys
import time

import validation
from validation import harness

BUDGET = 0.02
ENOUGH = 6  # pairs: with fewer the interval, which is by bootstrap, says too little
ROW = "%-22s %8s %9s | %-21s %9s %10s %10s %9s | %s"
Pair = collections.namedtuple("Pair", "without clocks whole_without whole_clocks profile")


def timed(scratch, program, case, args, mode):
    begin = time.monotonic()
    environment = {"OMPP_CAUSAL": mode} if mode else {}
    seconds, outcome = validation.execute(scratch, program, case, args, OMPP_CAUSAL_BUDGET=2, **environment)
    return seconds, time.monotonic() - begin, outcome


def pair_of(scratch, program, case, args, clocks_first):
    took = {mode: timed(scratch, program, case, args, mode) for mode in (("virtual", None) if clocks_first else (None, "virtual"))}
    profile = took["virtual"][2].profile()
    if not profile.whatif:
        raise harness.Failure("%s: no what-if part" % profile.path)
    return Pair(took[None][0], took["virtual"][0], took[None][1], took["virtual"][1], profile)


def middle(values):
    return validation.interval(list(values))[0]


def row_of(scratch, program, case, count, args):
    """Prints a line; whether all of the interval is over the budget."""
    pairs = [pair_of(scratch, program, case, args, i % 2 == 1) for i in range(count + 1)][1:]  # the first one warms up
    clocks, low, high = validation.interval([p.clocks / p.without - 1 for p in pairs])
    least = min(p.clocks for p in pairs) / min(p.without for p in pairs) - 1
    run = middle(p.without for p in pairs)
    whole = middle(p.whole_clocks - p.whole_without for p in pairs)
    whatifs = [(p.profile.whatif, len(p.profile.locations)) for p in pairs]
    events = middle(1e9 * w.events / w.time for w, _ in whatifs)
    cost = middle(w.cost / (w.time * threads) for w, threads in whatifs)
    over = count >= ENOUGH and low > BUDGET
    print(ROW % ("%s %s" % (case.source, case.name), "%.3f" % run, "%.0f" % events, "%.1f (%.1f to %.1f)" % (100 * clocks, 100 * low, 100 * high),
                 "%.1f" % (100 * least), "%.1f" % (1000 * run * clocks), "%.1f" % (1000 * whole), "%.2f" % (100 * cost),
                 "over" if over else ""), flush=True)
    return over


def options_of(words):
    options, names = {"pairs": 9, "longer": 1, "how": None, "cpu": False}, []
    for word in words:
        key, _, value = word[2:].partition("=")
        if word == "--cpu":
            options["cpu"] = True
        elif word.startswith("--how=") and value in ("opari", "ompt", "gomp"):
            options["how"] = value
        elif word.startswith(("--pairs=", "--longer=")) and value.isdigit() and int(value) > 0:
            options[key] = int(value)
        elif not word.startswith("-") and any(word == case.name for case in validation.CASES):
            names.append(word)
        else:
            sys.exit("cost.py: no such option or case: %s\n%s" % (word, __doc__))
    return options, names


def main():
    options, names = options_of(sys.argv[1:])
    scratch, over, compared = harness.Scratch("whatif-cost"), 0, 0
    for how in [options["how"]] if options["how"] else harness.sources():
        print("\nBuilt with %s, %d pairs" % ("gcc, behind ompp" if how == "gomp" else harness.COMPILERS[how], options["pairs"]))
        print(ROW % ("program", "run, s", "events/s", "clocks, %", "least, %", "clocks, ms", "whole, ms", "events, %", ""))
        for case in validation.CASES:
            program = validation.build(scratch, case.source, how) if not names or case.name in names else None
            if not program:
                continue
            try:
                over += row_of(scratch, program, case._replace(rounds=case.rounds * options["longer"]), options["pairs"],
                               ["work=cpu"] if options["cpu"] else [])
                compared += 1
            except (harness.Failure, subprocess.TimeoutExpired) as failure:
                print("%s %s: %s" % (case.source, case.name, failure))
    print("\n%d programs, %d over %g %% with their whole interval" % (compared, over, 100 * BUDGET))
    scratch.done(True)


main()
