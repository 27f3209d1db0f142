"""
Predicted against really optimised: what the test and the table share. A case is a program of this folder, one of its cases, and the
regions whose work can be made smaller (work.h).
"""

import collections
import os
import random
import re
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
import harness  # noqa: E402
import machine  # noqa: E402

# regions: name -> speed-ups in permille that are compared. how: as built by kinst-ompp, or "plain" for programs that the launcher
# measures. kind: what may be wrong with it, for reading the table.
# policy: OMP_WAIT_POLICY. Threads that sleep at a lock for microseconds, as soon as they meet there, make another program
# (causal-accuracy.md).
Case = collections.namedtuple("Case", "source name regions ranks rounds policy", defaults=("passive",))
LONG = 4  # times as long: programs whose order is chance, or whose ranks never all meet, need that many experiments
CASES = [
    Case("openmp", "balanced", {"a": (500, 1000), "b": (500,)}, 0, 40),
    Case("openmp", "imbalanced", {"a": (500, 1000), "b": (500,), "c": (500, 1000)}, 0, 30),
    Case("openmp", "early", {"a": (250, 500, 1000)}, 0, 40),
    Case("openmp", "critical", {"a": (500, 1000), "b": (500, 1000)}, 0, 10),
    Case("openmp", "ties", {"a": (500,), "b": (500,)}, 0, LONG * 10),
    Case("openmp", "lock", {"a": (500,), "b": (500, 1000)}, 0, 10),
    Case("openmp", "intervals", {"a": (500,), "b": (500,)}, 0, 20, "active"),
    Case("openmp", "dynamic", {"a": (500, 1000), "b": (500,)}, 0, 20),
    Case("openmp", "guided", {"a": (500,), "b": (500,)}, 0, 20),
    Case("openmp", "tasks", {"a": (500, 1000), "b": (500,)}, 0, 20),
    Case("openmp", "nested", {"a": (500,), "b": (500,), "c": (1000,)}, 0, 40),
    Case("openmp", "serial", {"a": (500, 1000), "b": (500,)}, 0, 40),
    Case("openmp", "outside", {"(outside regions)": (500, 1000), "a": (500,)}, 0, 40),
    Case("openmp", "figure1", {"a": (250, 1000), "b": (1000,)}, 0, 20),
    Case("threads", "join", {"a": (250, 1000), "b": (1000,)}, 0, 20),
    Case("threads", "barrier", {"a": (500,), "b": (500, 1000), "c": (1000,)}, 0, 30),
    Case("threads", "renewed", {"a": (500,), "b": (1000,), "c": (500,)}, 0, 30),
    Case("threads", "signals", {"a": (500,), "b": (500,)}, 0, 30),
    Case("threads", "mutex", {"a": (500,), "b": (500,)}, 0, 10),
    Case("threads", "ties", {"b": (500,)}, 0, LONG * 10),
    Case("threads", "queue", {"make": (500, 1000), "take": (500,)}, 0, 30),
    Case("threads", "semaphore", {"make": (500,), "take": (1000,)}, 0, 30),
    Case("threads", "rwlock", {"write": (1000,), "read": (500,)}, 0, LONG * 30),
    Case("mpi", "bulk", {"a": (500, 1000), "b": (1000,)}, 4, 30),
    Case("mpi", "early", {"a": (250, 1000)}, 4, 30),
    Case("mpi", "pipeline", {"a": (500,), "b": (500, 1000)}, 4, 30),
    Case("mpi", "synchronous", {"a": (1000,), "b": (500, 1000)}, 4, LONG * 30),
    Case("mpi", "rendezvous", {"a": (1000,), "b": (500,)}, 4, 30),
    Case("mpi", "persistent", {"a": (500,), "b": (1000,)}, 4, 30),
    Case("mpi", "halo", {"a": (500, 1000), "b": (1000,)}, 4, 30),
    Case("mpi", "ping_pong", {"a": (250, 1000)}, 2, 30),
    Case("mpi", "workers", {"a": (500,), "b": (500,)}, 4, LONG * 30),
    Case("farm", "asked", {"a": (500,), "b": (500,)}, 4, LONG * 15),
    Case("farm", "in_steps", {"a": (500,), "d": (1000,)}, 4, 30),
    Case("mpi", "subcomm", {"a": (500,), "b": (500,)}, 4, 30),
    Case("mpi", "rooted", {"a": (500,), "b": (500, 1000)}, 4, 30),
    Case("mpi", "polling", {"a": (500,), "b": (500,)}, 4, 30),
    Case("mpi_apart", "overlap", {"a": (500,), "b": (1000,)}, 4, 30),
    Case("mpi_apart", "in_rounds", {"a": (500,), "c": (1000,)}, 4, 30),
    Case("mpi_apart", "added", {"a": (500, 1000), "b": (500,)}, 4, 30),
    Case("hybrid", "hybrid", {"a": (500,), "b": (500,)}, 2, 30),
]

Prediction = collections.namedtuple("Prediction", "gain low high flags seconds")


FLAGS = ("-O1", "-g", "-I" + os.path.join(harness.SOURCE, "include"))


def build(scratch, source, how):
    """Path of a program, built once; None when there is no source for it yet or no compiler. gomp: nobody rebuilds it, ompp runs it."""
    path = os.path.join(HERE, source + ".c")
    output = scratch.file(how, source)
    if os.path.exists(path) and not os.path.exists(output):
        mpi = source.startswith(("mpi", "hybrid", "farm"))
        if how == "gomp":
            harness.build(path, output + ".plain", "opari", mpi=mpi, flags=FLAGS, instrument=False)
            with open(output, "w") as script:
                script.write('#!/bin/sh\nexec %s -- %s.plain "$@"\n' % (harness.command("ompp"), output))
            os.chmod(output, 0o755)
        else:
            harness.build(path, output, how, mpi=mpi, flags=FLAGS)
    return output if os.path.exists(output) else None


PATIENCE = 0   # runs that are made again when the host takes the processors away: so often
TAKEN = 0.01   # of the time of a processor: that much, and a tick of the statistics, is no reason


def execute(scratch, program, case, args=(), **environment):
    """One run, or of several the one that was taken the least from; (seconds that the program tells, outcome)."""
    least, best = None, None
    for _ in range(1 + PATIENCE):
        begin, before, stopped = time.monotonic(), machine.stolen(), machine.throttled()
        run = execute_once(scratch, program, case, args, **environment)
        seconds = time.monotonic() - begin
        stolen = [after - then for after, then in zip(machine.stolen(), before)]
        taken = max([machine.throttled() - stopped, *stolen])
        if least is None or taken < least:
            least, best = taken, run
        if taken <= TAKEN * seconds + machine.TICK:
            break
    return best


THREADS = 4


def execute_once(scratch, program, case, args=(), threads=None, **environment):
    """One run; (seconds that the program tells, outcome)."""
    folder = scratch.file("runs", "r%d" % len(os.listdir(os.path.dirname(scratch.file("runs", "r")))))
    environment.setdefault("OMP_WAIT_POLICY", case.policy)
    environment.setdefault("OMPP_CAUSAL_BUDGET", 100)  # how busy the machine is does not decide what is observed
    outcome = harness.run(program, folder, threads or THREADS, case.ranks, [case.name, "rounds=%d" % case.rounds, *args], **environment)
    told = re.search(r"^seconds ([0-9.]+)$", outcome.out, re.MULTILINE)
    if outcome.status != 0 or not told:
        raise harness.Failure("%s %s: status %s: %s" % (program, case.name, outcome.status, (outcome.out + outcome.err)[-800:]))
    return float(told.group(1)), outcome


# Of several runs: the one in the middle; or, on a machine that is busy with other things, the one that was disturbed least, for work that
# is until a point in time cannot be done in less.
MIDDLE, LEAST = statistics.median, min


def real_gains(scratch, program, case, repetitions, args=(), choose=MIDDLE, times=None):
    """{(region, permille): gain} by really making the region faster; runs take turns, so that a slow minute hurts all the same. times, a
    defaultdict(list): of runs before, which count, too."""
    times = collections.defaultdict(list) if times is None else times
    wanted = [(None, 0)] + [(name, x) for name, permilles in case.regions.items() for x in permilles]
    for _ in range(repetitions):
        for name, x in wanted:
            fast = ["fast=%s:%g" % (name, x / 1000)] if name else []
            times[name, x].append(execute(scratch, program, case, fast + list(args))[0])
    best = {key: choose(values) for key, values in times.items()}
    base = best[None, 0]
    return base, {key: (base - best[key]) / base for key in wanted[1:]}


def predictions(profile, seconds):
    """{(region, permille): Prediction} of a run."""
    if not profile.whatif:
        raise harness.Failure("%s: no what-if part" % profile.path)
    names = profile.names()
    # Gains are of the measured run, from before MPI_Init on; the program tells the time of what it repeats.
    whole = (profile.whatif.time - profile.whatif.paid) / (1e9 * seconds - profile.whatif.paid)
    found = {}
    for (region, permille), gain in profile.whatif.gains.items():
        scaled = [None if value is None else value * whole for value in gain[:3]]
        found[names[region], permille] = Prediction(*scaled, profile.whatif.flags[region], seconds)
    return found


def chosen_predictions(runs, choose):
    """Of several runs, for each region and speed-up the prediction in the middle, or that of the run that was disturbed least."""
    if choose is LEAST:
        return min((run for run in runs if run), key=lambda run: next(iter(run.values())).seconds, default={})
    merged = collections.defaultdict(list)
    for run in runs:
        for key, prediction in run.items():
            merged[key].append(prediction)
    return {key: sorted(all_of, key=lambda told: told.gain)[len(all_of) // 2] for key, all_of in merged.items()}


def virtual(scratch, program, case, repetitions=1, args=(), choose=MIDDLE):
    runs = []
    for _ in range(repetitions):
        seconds, outcome = execute(scratch, program, case, args, OMPP_CAUSAL="virtual", OMPP_CAUSAL_BUDGET=2)
        runs.append(predictions(outcome.profile(), seconds))
    return chosen_predictions(runs, choose)


def delay(scratch, program, case, region, permille, repetitions=1, args=(), choose=MIDDLE):
    """The same by experiments with one region and speed-up."""
    runs = []
    for _ in range(repetitions):
        seconds, outcome = execute(scratch, program, case, args, OMPP_CAUSAL="delay", OMPP_CAUSAL_REGION=region,
                                   OMPP_CAUSAL_SPEEDUP="%g" % (permille / 10))
        runs.append(predictions(outcome.profile(), seconds))
    return chosen_predictions(runs, choose).get((region, permille))


def interval(values):
    """Median, and its 95 % interval by bootstrap."""
    generator = random.Random(1)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), medians[50], medians[1949]
