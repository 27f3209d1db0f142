#!/usr/bin/env python3
"""
Advice: programs with one fault each, whose first property names it and whose advice says what to do; and controls, in which no
property weighs 1 % or more. usage: advice.py [NAME...]; docs/advice.md has the rules.
"""

import re
import sys

import harness

LEAST = 1.0  # percent: what is less is no fault


class Case:
    """first: name of the first property (one of several: A|B), None for a control; says: pattern of its advice; never: what no advice of it may say;
    report: pattern of a line of the report."""

    def __init__(self, name, first=None, says="", never=None, report="", threads=2, **settings):
        self.name, self.first, self.says, self.never, self.report, self.threads, self.settings = name, first, says, never, report, threads, settings

    def objection(self, found):
        """What is wrong with the properties found: (name, percent, advice), most severe first."""
        heavy = [f for f in found if f[1] >= LEAST]
        if not self.first:
            return "control: %s" % (heavy,) if heavy else None
        if not heavy or heavy[0][0] not in self.first.split("|") or not re.search(self.says, heavy[0][2]):
            return "wanted %s '%s', found %s" % (self.first, self.says, found[:2])
        if self.never and any(self.never in advice for _, _, advice in heavy):
            return "says '%s': %s" % (self.never, heavy)
        return None


CASES = [
    Case("loop"),
    Case("tasks"),
    Case("critical_seldom"),
    Case("one_loop"),
    Case("one_all"),
    Case("one_inner"),
    Case("loop", threads=1),
    Case("critical", threads=1),
    Case("tasks_fine", "TasksTooSmall", "fewer and larger", never="smaller ones"),
    Case("tasks_fine_loop", "TasksTooSmall", "fewer and larger", never="smaller ones"),
    Case("tasks_large", "TasksTooLarge", "smaller ones", never="larger ones"),
    Case("tasks_large_wait", "TasksTooLarge", "smaller ones", never="larger ones"),
    Case("chunks_small", "ChunksTooSmall", "larger chunks", report=r"PARLOOP .* 327680 "),
    Case("chunks_small_for", "ChunksTooSmall", "larger chunks", report=r"LOOP .* 327680 ", OMP_SCHEDULE="dynamic,2"),
    Case("imbalance", "ImbalanceInParallelLoop", "schedule"),
    Case("imbalance_region", "ImbalanceInParallelRegion"),
    Case("critical", "CriticalSectionContention"),
    Case("lock", "LockContention"),
    Case("lock_brief", "LockContention", "less often", never="more locks"),
    Case("barrier", "WaitAtBarrier"),
    Case("single", "UnparallelizedInSingleRegion"),
    Case("serial", "UnparallelizedOutsideParallelRegions"),
    Case("sections", "ImbalanceInParallelSections"),
    Case("tiny_regions", "ThreadManagement|ImbalanceInParallelLoop", "fewer, larger parallel regions|merge it"),
]


RANKS = [
    Case("even"),
    Case("in_turn", "MPIWaitForRanksInTurn", "in turn", never="Data is moved"),
    Case("in_turn_other", "MPIWaitForRanksInTurn", "in turn", never="Nothing is moved"),
    Case("in_turn_many", "MPIWaitForRanksInTurn", "in turn", never="Data is moved"),
    Case("late", "MPIWaitForLateRank", "rank 1.*longer than the others"),
    Case("small", "MPISmallCollectives|MPIWaitForRanksInTurn", "one call of several|in turn", never="Data is moved"),
]
FORTRAN = Case("in_turn_f", "MPIWaitForRanksInTurn", "in turn", never="Data is moved")


def properties(report):
    """(name, percent, advice) of the section, in its order."""
    pattern = r"^Property P\d+ '(\w+)' holds for\n.*with a severity \(in percent\) of ([\d.]+)\n +(.*)$"
    return [(name, float(percent), advice) for name, percent, advice in re.findall(pattern, report, re.M)]


def read(outcome):
    with open(outcome.reports("txt")[0]) as file:
        return file.read()


def test(verdict, scratch, case, program, how, ranks=0):
    title = "%s %s %d" % (case.name, how, ranks or case.threads)
    counter = iter(range(100))

    def attempt():
        folder = scratch.file("%s-%d" % (title.replace(" ", "-"), next(counter)), "x")[:-2]
        outcome = harness.run(program, folder, 1 if ranks else case.threads, ranks, args=[case.name], **case.settings)
        if outcome.status != 0:
            raise harness.Failure("%s: status %d: %s" % (title, outcome.status, outcome.err[-500:]))
        verdict.profile(outcome.profile(), title)
        verdict.check(re.search(case.report, read(outcome)), "%s: no line %s" % (title, case.report))
        objection = case.objection(properties(read(outcome)))
        return (["%s: %s" % (title, objection)] if objection else []), 1

    verdict.timed(attempt)


def with_ranks(verdict, scratch):
    """The same with two ranks."""
    names, mpi = sys.argv[1:], harness.os.environ.get("MPICC", "mpicc")
    if not harness.shutil.which(mpi) or (names and not any(c.name in names for c in RANKS + [FORTRAN])):
        return
    program = scratch.file("bin-mpi", "advice_mpi")
    harness.build(harness.os.path.join(harness.HERE, "advice_mpi.c"), program, "opari", mpi=True, flags=("-O2", "-g"))
    cases = [(case, program) for case in RANKS]
    fortran = harness.os.environ.get("MPIFORT", "mpifort")
    if harness.shutil.which(fortran):
        program = scratch.file("bin-mpi", "advice_mpi_f")
        source = harness.os.path.join(harness.HERE, "advice_mpi.f90")
        done = harness.execute([harness.command("kinst-ompp"), fortran, "-O2", "-g", source, "-o", program], scratch.path)
        verdict.equal(done.status, 0, "mpifort: " + done.err[-500:])
        cases.append((FORTRAN, program))
    for case, program in cases:
        if not names or case.name in names:
            test(verdict, scratch, case, program, "mpi", ranks=2)


def main():
    verdict, scratch = harness.Verdict("advice"), harness.Scratch("advice")
    try:
        with_ranks(verdict, scratch)
    except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
        verdict.check(False, "ranks: %s" % failure)
    for how in harness.sources():
        program = scratch.file("bin-" + how, "advice")
        harness.build(harness.os.path.join(harness.HERE, "advice.c"), program, how, flags=("-O2", "-g"))
        for case in CASES:
            if len(sys.argv) > 1 and case.name not in sys.argv[1:]:
                continue
            try:
                test(verdict, scratch, case, program, how)
            except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
                verdict.check(False, "%s %s: %s" % (case.name, how, failure))
    verdict.finish(scratch)


main()
