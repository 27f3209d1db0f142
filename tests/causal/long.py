#!/usr/bin/env python3
"""
Threads that do not meet for long: regions take turns and clocks are suspended there, too, and the budget is kept. And pieces with clocks that are
unlike the run: what is outside of regions gains its part of the run.
"""

import os
import re
import shutil

import validation
from ompp_profile import OUTSIDE
from validation import harness

NEAR = 0.06  # of the run
APART = 0.10  # of the run: nobody followed either function when their threads set out
OVER = 0.04  # of the threads' time, for a budget of 2 %: what others take processors for is in it


def run(verdict, scratch, program, case, **changes):
    folder = scratch.file("runs", "%d" % len(os.listdir(os.path.dirname(scratch.file("runs", "r")))))
    outcome = harness.run(program, folder, 2, args=[case], OMPP_CAUSAL="virtual", **changes)
    verdict.equal(outcome.status, 0, case + ": status")
    profile = outcome.profile()
    names = profile.names()
    results = {names.get(i, i): r for i, r in profile.whatif.results.items()}
    gains = {(names.get(i, i), permille): g.gain for (i, permille), g in profile.whatif.gains.items()}
    return profile.whatif, results, gains, outcome


def text_of(outcome):
    with open(outcome.reports("txt")[0]) as report:
        return report.read()


def cost_of(whatif, outcome):
    return whatif.cost / (whatif.time * len(outcome.profile().locations))


def early(verdict, scratch, program):
    whatif, results, gains, outcome = run(verdict, scratch, program, "early")
    slow, fast = (results[name].share if name in results else 0 for name in ("slow", "fast"))
    off = []
    if not 0.5 < slow < 0.85 or not 2 < slow / max(fast, 0.01) < 4.5:
        off.append("early: shares of slow %.2f, of fast %.2f, not three to one" % (slow, fast))
    if abs(gains.get(("slow", 1000), 0) - slow) > 0.25:
        off.append("early: slow gains %s" % gains.get(("slow", 1000)))
    over = cost_of(whatif, outcome) > OVER
    if over and "\nBudget         : " not in text_of(outcome):
        off.append("early: clocks take %.3f, and no line says so" % cost_of(whatif, outcome))
    return off, 3


def apart(verdict, scratch, program):
    """Who works longer is waited for, in the second half."""
    _, results, gains, _ = run(verdict, scratch, program, "apart")
    wanted = {("longer", 1000): 0.48, ("shorter", 1000): 0}
    return ["apart: %s gains %s, not %.2f" % (key[0], gains.get(key), gain) for key, gain in wanted.items()
            if key not in gains or abs(gains[key] - gain) > APART], len(wanted)


def begins(verdict, scratch, program):
    """What begins in a suspension, and takes most of the run, gets its clocks before the suspension would end."""
    whatif, results, gains, outcome = run(verdict, scratch, program, "begins", OMPP_CAUSAL_BUDGET="0")
    verdict.profile(outcome.profile(), "begins")
    off = [] if whatif.suspended > whatif.time / 2 else ["begins: suspended for %d of %d ns" % (whatif.suspended, whatif.time)]
    if "later" not in results or not 0.6 < results["later"].share < 0.85:
        off.append("begins: results are %s" % {name: result.share for name, result in results.items()})
    if gains.get(("later", 1000), 0) < 0.15:  # a processor that others use makes it less
        off.append("begins: later gains %s" % (gains.get(("later", 1000)),))
    return off, 3


def locks(verdict, scratch, program):
    """Of the run without us: measured, it is longer."""
    plain = os.path.join(os.path.dirname(program), "plain")
    whatif, _, _, outcome = run(verdict, scratch, program, "locks")
    alone = harness.execute([plain, "locks"], os.path.dirname(plain))
    measured, serial = (float(re.search(r"serial ([0-9.]+)", text).group(1)) for text in (outcome.out, alone.out))
    gain, off = whatif.gains[OUTSIDE, 1000].gain, []
    if not min(measured, serial) - NEAR < gain < max(measured, serial) + 2 * NEAR:
        off.append("locks: outside of regions gains %.3f, %.3f is serial, %.3f measured" % (gain, serial, measured))
    if not whatif.suspended:
        off.append("locks: clocks were not suspended")
    return off, 2


def named(verdict, scratch, program):
    """With one region at a time, those inside of others that had no clock are named."""
    _, results, _, outcome = run(verdict, scratch, program, "early", OMPP_CAUSAL_CLOCKS="4", OMPP_CAUSAL_BUDGET="100")
    lines = [line for line in text_of(outcome).split("\n") if line.startswith("Not in Table   : ")]
    missing = [name for name in ("slow", "fast") if name not in results and not any("'%s'" % name in line for line in lines)]
    return ["named: nothing is said of %s" % ", ".join(missing)] if missing else [], 1


def main():
    verdict, scratch = harness.Verdict("long"), harness.Scratch("long")
    if not shutil.which("gcc"):
        harness.skip("no gcc")
    for how in harness.sources():
        program = scratch.file(how, "long")
        harness.build(os.path.join(validation.HERE, "long.c"), program, how, flags=("-O2", "-g", "-finstrument-functions"))
        harness.build(os.path.join(validation.HERE, "long.c"), os.path.join(os.path.dirname(program), "plain"), how, flags=("-O2",), instrument=False)
        for case in (early, apart, begins, locks, named):
            verdict.timed(lambda case=case: case(verdict, scratch, program))
    verdict.finish(scratch)


main()
