#!/usr/bin/env python3
"""MPI calls and bytes, critical entries, loops, barriers and tasks: exact, for 1, 2 and 4 ranks times 1, 2 and 4 threads."""

import os

import harness

SIZES = (1, 2, 4)
N, TIMES, DOUBLE, INT, LONG = 100, 3, 8, 4, 8
BLOCK = N * DOUBLE
COLUMNS = ("execC", "inV", "outV", "recvC", "sendC", "collC")


def root(r, value):
    return value if r == 0 else 0


def other(r, value):
    return 0 if r == 0 else value


# Label -> what (rank r of P ranks) must have in COLUMNS. Byte rules: docs/report.md and ompP's.
MPI = {
    "irecv": lambda r, P: (TIMES, TIMES * BLOCK, 0, TIMES, 0, 0),
    "isend": lambda r, P: (TIMES, 0, TIMES * BLOCK, 0, TIMES, 0),
    "waitall": lambda r, P: (TIMES, 0, 0, 0, 0, 0),
    "sendrecv": lambda r, P: (1, N * INT, N * INT, 1, 1, 0),
    "send": lambda r, P: (1, 0, 7, 0, 1, 0) if r == 0 and P > 1 else (0,) * 6,
    "recv": lambda r, P: (1, 7, 0, 1, 0, 0) if r == 1 else (0,) * 6,
    "barrier": lambda r, P: (TIMES, 0, 0, 0, 0, TIMES),
    "bcast": lambda r, P: (TIMES, other(r, TIMES * BLOCK), root(r, TIMES * BLOCK * (P - 1)), 0, 0, TIMES),
    "reduce": lambda r, P: (1, root(r, BLOCK * (P - 1)), other(r, BLOCK), 0, 0, 1),
    "allreduce": lambda r, P: (1, BLOCK * (P - 1), BLOCK * (P - 1), 0, 0, 1),
    "scatter": lambda r, P: (1, BLOCK, root(r, BLOCK * P), 0, 0, 1),
    "gather": lambda r, P: (1, root(r, BLOCK * P), BLOCK, 0, 0, 1),
    "allgather": lambda r, P: (1, BLOCK * P, BLOCK * P, 0, 0, 1),
    "alltoall": lambda r, P: (1, BLOCK * P, BLOCK * P, 0, 0, 1),
    "gather0": lambda r, P: (1, root(r, INT * P), INT, 0, 0, 1),
    "inplace": lambda r, P: (1, BLOCK * (P - 1), BLOCK * (P - 1), 0, 0, 1),
    "procnull": lambda r, P: (1, 0, 0, 0, None, 0),
    "last": lambda r, P: (1, root(r, LONG * (P - 1)), other(r, LONG), 0, 0, 1),
}
# Label, type -> executions per thread, or None: the sum is known only, and given as a function of threads.
OPENMP = {
    ("parallel", "PARALLEL"): TIMES, ("loop", "LOOP"): TIMES, ("critical", "CRITICAL"): 11 * TIMES,
    ("ompbarrier", "BARRIER"): TIMES, ("single", "SINGLE"): TIMES,
}
TASKS = 13 * TIMES


def check(verdict, profile, begin, ranks, threads, title):
    for label, wanted in MPI.items():
        regions = profile.find("MPI", line=begin[label])
        tables = {column: profile.total(column, regions) for column in COLUMNS}
        for r in range(ranks):
            for column, value in zip(COLUMNS, wanted(r, ranks)):
                if value is not None:
                    verdict.equal(tables[column].get((r, 0), 0), value, "%s: %s rank %d %s" % (title, label, r, column))
    for (label, kind), each in OPENMP.items():
        found = profile.total("execC", profile.find(kind, line=begin[label]))
        verdict.equal(found, {(r, t): each for r in range(ranks) for t in range(threads)}, "%s: %s execC" % (title, label))
    for kind in ("TASK", "TASKEXEC"):
        found = profile.total("execC", profile.find(kind, line=begin["task"]))
        for r in range(ranks):
            verdict.equal(sum(v for (rank, _), v in found.items() if rank == r), TASKS, "%s: rank %d %s" % (title, r, kind))


def test(verdict, scratch, how):
    source = os.path.join(harness.HERE, "counts.c")
    program = scratch.file(how, "counts")
    harness.build(source, program, how, mpi=True)
    for ranks in SIZES:
        for threads in SIZES:
            title = "counts %s %dx%d" % (how, ranks, threads)
            outcome = harness.run(program, scratch.file("%s-%dx%d" % (how, ranks, threads), "x")[:-2], threads, ranks)
            verdict.equal((outcome.status, outcome.out), (0, "%d\n" % (ranks * TIMES * (N + 11 * threads))), title + ": result")
            verdict.equal(outcome.messages(), [], title + ": messages")
            profile = outcome.profile()
            verdict.profile(profile, title)
            check(verdict, profile, harness.labels(source)[0], ranks, threads, title)


def main():
    verdict, scratch = harness.Verdict("counts"), harness.Scratch("counts")
    for how in harness.sources():
        try:
            test(verdict, scratch, how)
        except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
            verdict.check(False, "%s: %s" % (how, failure))
    verdict.finish(scratch)


main()
