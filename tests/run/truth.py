#!/usr/bin/env python3
"""Programs in which every phase has a known length: each time column of each thread and rank within tests/run/tolerance.py."""

import os

import harness
import tolerance

TIME_COLUMNS = {
    "PARALLEL": "bodyT exitBarT startupT shutdwnT taskT", "PARALLEL LOOP": "bodyT exitBarT startupT shutdwnT taskT",
    "LOOP": "bodyT exitBarT taskT", "SECTIONS": "sectT exitBarT mgmtT taskT", "SINGLE": "singleT exitBarT taskT",
    "BARRIER": "taskT", "CRITICAL": "bodyT enterT exitT", "LOCK": "bodyT enterT exitT", "MASTER": "", "TASKEXEC": "", "MPI": "",
}
OMP_RUNS = (1, 2, 4)
MPI_RUNS = ((1, 2), (2, 2), (4, 1), (2, 4))


def expectations(text):
    for line in text.splitlines():
        if line.startswith("expect "):
            label, kind, rank, tid, *values = line.split()[1:]
            values = {k: float(v) for k, v in (pair.split("=") for pair in values)}
            yield label, kind.replace("_", " "), int(rank), tid, values


def complete(kind, values):
    """Columns not named are 0; execT is the sum of the columns."""
    whole = {column: values.get(column, 0.0) for column in TIME_COLUMNS[kind].split()}
    whole["execT"] = values.get("execT", sum(whole.values()))
    if "mpiT" in values:
        whole["mpiT"] = values["mpiT"]
    return whole


def compare(profile, source, text, title):
    begin, bad, checks = harness.labels(source)[0], [], 0
    for label, kind, rank, tid, values in expectations(text):
        regions = profile.find(kind, line=None if label == "-" else begin[label])
        for column, wanted in complete(kind, values).items():
            found = profile.total(column, regions)
            rows = [v for (r, t), v in found.items() if r == rank and (tid == "sum" or t == int(tid))]
            measured, checks = sum(rows) / 1e6, checks + 1
            parts = max(1, len(rows)) if tid == "sum" else 1
            if not tolerance.near(measured, wanted, parts):
                text = "%s: %s %s rank %d thread %s %s: %.3f ms, true %.3f" % (title, label, kind, rank, tid, column, measured, wanted)
                bad.append(tolerance.said(text, measured, wanted, parts))
    return bad, checks


def test(verdict, scratch, name, how, runs, mpi):
    source = os.path.join(harness.HERE, name + ".c")
    program = scratch.file(name + "-" + how, name)
    harness.build(source, program, how, mpi=mpi)
    for ranks, threads in runs:
        title = "%s %s %dx%d" % (name, how, ranks, threads)
        counter = iter(range(100))

        def attempt():
            folder = scratch.file("%s-%s-%dx%d-%d" % (name, how, ranks, threads, next(counter)), "x")[:-2]
            outcome = harness.run(program, folder, threads, ranks if mpi else 0)
            if outcome.status != 0:
                raise harness.Failure("%s: status %d: %s" % (title, outcome.status, outcome.err[-500:]))
            profile = outcome.profile()
            verdict.profile(profile, title)
            return compare(profile, source, outcome.out, title)

        verdict.timed(attempt)


def main():
    verdict, scratch = harness.Verdict("truth"), harness.Scratch("truth")
    for how in harness.sources():
        for name, runs, mpi in (("truth_omp", [(1, t) for t in OMP_RUNS], False), ("truth_mpi", MPI_RUNS, True)):
            try:
                test(verdict, scratch, name, how, runs, mpi)
            except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
                verdict.check(False, "%s %s: %s" % (name, how, failure))
    verdict.finish(scratch)


main()
