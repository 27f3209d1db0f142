#!/usr/bin/env python3
"""
The table of predicted and really optimised programs: for each region and speed-up the real gain, what virtual clocks and experiments
with delays predict, in percent of the run time, and the differences. A report, not a test: takes some minutes, wants an idle machine.

usage: table.py [--how=opari|ompt|gomp] [--cpu] [--least] [--patient] [--repetitions=N] [--longer=N] [--no-delay]
                [--threads=N] [--ranks=N] [CASE...]
    --longer  N times as many rounds: for programs whose order is decided as they run, with experiments
    --least   on a machine that is busy: of all repetitions the one that was disturbed least, instead of the one in the middle
    --threads, --ranks  of cases that take any number, as tasks and workers do
    --patient what others took processors from is run again, a dozen times
"""

import statistics
import sys

import validation
from validation import harness

ROW = "%-20s %-6s %5s | %7s | %7s %5s %-17s | %7s %5s %9s | %s"


def cell(prediction):
    return ("-", "") if prediction is None else ("%.1f" % (100 * prediction.gain),)


def difference(prediction, real):
    return "-" if prediction is None else "%+.1f" % (100 * (prediction.gain - real))


def interval(prediction):
    known = prediction is not None and prediction.low is not None
    return "%.1f to %.1f" % (100 * prediction.low, 100 * prediction.high) if known else "-"


def flags_of(prediction):
    return ",".join(sorted(prediction.flags)) if prediction else ""


def rows_of(scratch, program, case, options, args):
    """One printed line per region and speed-up; yields (virtual, delay), each a pair (difference, flags) or None."""
    choose = validation.LEAST if options["least"] else validation.MIDDLE
    base, real = validation.real_gains(scratch, program, case, options["repetitions"], args, choose)
    virtual = validation.virtual(scratch, program, case, options["repetitions"], args, choose)
    for (region, permille), gain in real.items():
        predicted = virtual.get((region, permille))
        experiment = None
        if options["delay"]:
            experiment = validation.delay(scratch, program, case, region, permille, options["repetitions"], args, choose)
        title = "%s %s" % (case.source, case.name)
        inflation = "x%.2f" % (experiment.seconds / base) if experiment else "-"
        flags = flags_of(predicted)
        if experiment and flags_of(experiment) != flags:
            flags += " (delay: %s)" % (flags_of(experiment) or "none")
        print(ROW % (title, region, "%g" % (permille / 10), "%.1f" % (100 * gain), cell(predicted)[0], difference(predicted, gain),
                     interval(predicted), cell(experiment)[0], difference(experiment, gain), inflation, flags), flush=True)
        yield [p and (abs(p.gain - gain), p.flags) for p in (predicted, experiment)]
    seconds = [p.seconds for p in virtual.values()]
    if seconds:
        print("%-20s run time %.3f s, with virtual clocks %+.2f %%" % (title, base, 100 * (seconds[0] / base - 1)), flush=True)


# Flags that say that another order of events would give another result; the others say how well it is known.
ORDER = {"lock", "dynamic", "task", "wildcard", "polling", "one-sided", "overlap", "apart", "inflated"}


def summary(differences):
    for which, name in ((0, "virtual"), (1, "delay")):
        for flagged in (False, True):
            values = [100 * d[which][0] for d in differences if d[which] and bool(ORDER & set(d[which][1])) == flagged]
            if values:
                print("%s, %s: %d compared, difference %.1f points in the middle, %.1f at most, %d within %d" % (
                    name, "flagged" if flagged else "not flagged", len(values), statistics.median(values), max(values),
                    sum(v <= (5 if flagged else 2) for v in values), 5 if flagged else 2))


def main():
    options = {"repetitions": 3, "delay": True, "longer": 1, "how": None, "cpu": False, "least": False, "ranks": 0}
    names = []
    for word in sys.argv[1:]:
        if word.startswith("--how="):
            options["how"] = word[6:]
        elif word.startswith("--repetitions="):
            options["repetitions"] = int(word[14:])
        elif word.startswith("--longer="):
            options["longer"] = int(word[9:])
        elif word.startswith("--threads="):
            validation.THREADS = int(word[10:])
        elif word.startswith("--ranks="):
            options["ranks"] = int(word[8:])
        elif word == "--patient":
            validation.PATIENCE = 12
        elif word == "--no-delay":
            options["delay"] = False
        elif word in ("--cpu", "--least"):
            options[word[2:]] = True
        elif word.startswith("-"):
            sys.exit(__doc__)
        else:
            names.append(word)
    scratch = harness.Scratch("whatif-table")
    args = ["work=cpu"] if options["cpu"] else []
    differences = []
    for how in [options["how"]] if options["how"] else harness.sources():
        print("\nBuilt with %s%s, %d repetitions" % ("gcc, behind ompp" if how == "gomp" else harness.COMPILERS[how], ", CPU-bound" if args else "", options["repetitions"]))
        print(ROW % ("program", "region", "%", "real", "virtual", "diff", "95 % interval", "delay", "diff", "run time", "flags"))
        for case in validation.CASES:
            if names and case.name not in names:
                continue
            program = validation.build(scratch, case.source, how)
            if not program:
                continue
            case = case._replace(rounds=case.rounds * options["longer"], ranks=case.ranks and (options["ranks"] or case.ranks))
            try:
                differences += rows_of(scratch, program, case, options, args)
            except harness.Failure as failure:
                print("%s %s: %s" % (case.source, case.name, failure))
    print()
    summary(differences)
    scratch.done(True)


main()
