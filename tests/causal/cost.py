#!/usr/bin/env python3
"""
What virtual clocks take: the programs of the table, measured with and without them in turn. Percent of the run time that the program tells,
medians of pairs with 95 % intervals; beside it the least disturbed runs, and what the report says that events take. A report, not a test:
takes minutes, wants an idle machine. A program is over the budget when its whole interval is.

usage: cost.py [--how=opari|ompt|gomp] [--cpu] [--pairs=N] [--longer=N] [CASE...]
    --longer  N times as many rounds: what is taken once, before clocks rest, is less of a longer run
    --cpu     work that takes the processor, instead of lasting until points in time
"""

import sys

import validation
from validation import harness

BUDGET = 0.02
ROW = "%-22s %8s %10s | %-22s %9s %9s %8s | %s"


def pairs_of(scratch, program, case, count, args):
    """[(seconds without, seconds with)], which of both comes first in turn, and the profiles; one pair before warms up."""
    pairs, profiles = [], []
    for i in range(count + 1):
        took = {}
        for mode in (None, "virtual") if i % 2 else ("virtual", None):
            environment = {"OMPP_CAUSAL": mode} if mode else {}
            took[mode], outcome = validation.execute(scratch, program, case, args, OMPP_CAUSAL_BUDGET=2, **environment)
            if i and mode:
                profiles.append(outcome.profile())
        if i:
            pairs.append((took[None], took["virtual"]))
    return pairs, profiles


def row_of(scratch, program, case, count, args):
    """Prints a line; whether all of the interval is over the budget."""
    pairs, profiles = pairs_of(scratch, program, case, count, args)
    middle, low, high = validation.interval([b / a - 1 for a, b in pairs])
    least = [min(times) for times in zip(*pairs)]
    run = validation.interval([a for a, _ in pairs])[0]
    events = validation.interval([1e9 * p.whatif.events / p.whatif.time for p in profiles])[0]
    paid = validation.interval([p.whatif.cost / (p.whatif.time * len(p.locations)) for p in profiles])[0]
    print(ROW % ("%s %s" % (case.source, case.name), "%.3f" % run, "%.0f" % events, "%.1f (%.1f to %.1f)" % (100 * middle, 100 * low, 100 * high),
                 "%.1f" % (100 * (least[1] / least[0] - 1)), "%.1f" % (1000 * run * middle), "%.2f" % (100 * paid),
                 "over" if low > BUDGET else ""), flush=True)
    return low > BUDGET


def main():
    options, names = {"pairs": "9", "longer": "1", "how": None, "cpu": None}, []
    for word in sys.argv[1:]:
        key, _, value = word[2:].partition("=")
        if not word.startswith("--"):
            names.append(word)
        elif key not in options:
            sys.exit(__doc__)
        else:
            options[key] = value or "yes"
    scratch, over, compared = harness.Scratch("whatif-cost"), 0, 0
    for how in [options["how"]] if options["how"] else harness.sources():
        print("\nBuilt with %s, %s pairs" % ("gcc, behind ompp" if how == "gomp" else harness.COMPILERS[how], options["pairs"]))
        print(ROW % ("program", "run, s", "events/s", "clocks, %", "least, %", "clocks, ms", "events, %", ""))
        for case in validation.CASES:
            program = validation.build(scratch, case.source, how) if not names or case.name in names else None
            if not program:
                continue
            try:
                over += row_of(scratch, program, case._replace(rounds=case.rounds * int(options["longer"])), int(options["pairs"]),
                               ["work=cpu"] if options["cpu"] else [])
                compared += 1
            except harness.Failure as failure:
                print("%s %s: %s" % (case.source, case.name, failure))
    print("\n%d programs, %d over %g %% with their whole interval" % (compared, over, 100 * BUDGET))
    scratch.done(True)


main()
