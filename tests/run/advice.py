#!/usr/bin/env python3
"""
Advice: programs with one fault each, whose first property names it and whose advice says what to do; and controls, in which no
property weighs 1 % or more. usage: advice.py [--all] [NAME...], without --all what the suite has time for; docs/advice.md has the rules.
"""

import re
import sys

import harness

LEAST = 1.0  # percent: what is less is no fault


class Case:
    """first: name of the first property (one of several: A|B), None for a control; says: pattern of its advice; never: what no advice of it may say;
    report: pattern of a line of the report; only: the source with which the suite runs it, None = all; seen: sources that see the construct."""

    def __init__(self, name, first=None, says="", never=None, report="", threads=2, only=None, seen=None, **settings):
        self.name, self.first, self.says, self.never, self.report, self.threads, self.settings = name, first, says, never, report, threads, settings
        self.only, self.seen = only, seen

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
    Case("loop_static", only="fortran"),
    Case("tasks"),
    Case("chunks", only="opari"),
    Case("barrier_even", only="ompt"),
    Case("sections_even", only="ompt"),
    Case("critical_seldom"),
    Case("lock_seldom", only="opari"),
    Case("atomic_seldom", only="opari", seen=("opari", "fortran")),
    Case("single_nowait", only="fortran"),
    Case("ordered_seldom", only="opari"),
    Case("one_loop"),
    Case("one_all"),
    Case("one_inner"),
    Case("loop", threads=1),
    Case("critical", threads=1),
    Case("tasks_fine", "TasksTooSmall", "fewer and larger", never="smaller ones"),
    Case("tasks_fine_loop", "TasksTooSmall", "fewer and larger", never="smaller ones"),
    Case("tasks_large", "TasksTooLarge", "smaller ones", never="larger ones"),
    Case("tasks_large_wait", "TasksTooLarge", "smaller ones", never="larger ones"),
    Case("wait_tasks", "WaitForTasks", "create them earlier", only="ompt"),
    # Bound: two threads of one processor take turns of milliseconds, and what they then wait for is imbalance.
    Case("chunks_small", "ChunksTooSmall", "larger chunks", report=r"PARLOOP .* 3276800 ", OMP_PROC_BIND="true"),
    Case("chunks_small_for", "ChunksTooSmall", "larger chunks", report=r"LOOP .* 3276800 ", OMP_SCHEDULE="dynamic,2", OMP_PROC_BIND="true"),
    Case("imbalance", "ImbalanceInParallelLoop", "schedule"),
    Case("few_iterations", "ImbalanceInParallelLoop", "no schedule helps. Collapse", never="try schedule", only="ompt", seen=("ompt",)),
    Case("few_chunks", "ImbalanceInParallelLoop", "make them smaller; if each is one iteration, collapse", never="try schedule"),
    Case("imbalance_static", "StaticLoopImbalance|ImbalanceInParallelLoop", "schedule", report=r"OpenMP: imbalance [1-9]\d", only="gomp"),
    Case("imbalance_region", "ImbalanceInParallelRegion"),
    Case("critical", "CriticalSectionContention"),
    Case("critical_brief", "CriticalSectionContention", "less often", never="more sections", only="fortran"),
    Case("lock", "LockContention"),
    Case("lock_brief", "LockContention", "less often", never="more locks"),
    Case("critical_work", "CriticalSectionContention", "only store or add up", never="Threads wait to enter", only="ompt"),
    Case("lock_work", "LockContention", "only store or add up", never="use several", only="opari"),
    Case("atomic", "FrequentAtomic", "add up privately", only="opari", seen=("opari", "fortran")),
    Case("ordered", "WaitAtOrdered", "do less inside", only="ompt"),
    Case("barrier", "WaitAtBarrier"),
    Case("barrier_often", "WaitAtBarrier", "make fewer of them", OMP_WAIT_POLICY="active"),
    Case("single", "UnparallelizedInSingleRegion"),
    Case("master", "UnparallelizedInMasterRegion|ImbalanceInParallelRegion", only="opari", seen=("opari", "ompt")),
    Case("master_brief", only="ompt", seen=("opari", "ompt")),
    Case("workshare", "ImbalanceInParallelWorkshare", "write it as a loop", only="fortran"),
    Case("serial", "UnparallelizedOutsideParallelRegions"),
    Case("sections", "ImbalanceInParallelSections"),
    Case("sections_few", "ImbalanceDueToNotEnoughSections", only="ompt"),
    Case("sections_uneven", "ImbalanceDueToUnevenSectionDistribution", only="ompt"),
    Case("tiny_regions", "ThreadManagement|ImbalanceInParallelLoop", "fewer, larger parallel regions|merge it"),
]


# Four threads on fewer processors wait for these, and the advice says so first.
YIELDS = {"OMP_WAIT_POLICY": "passive", "OMPI_MCA_mpi_yield_when_idle": "1"}

RANKS = [
    Case("even"),
    Case("early"),
    Case("exchange", only="mpi"),
    Case("in_turn", "MPIWaitForRanksInTurn", "in turn", never="Data is moved"),
    Case("in_turn_other", "MPIWaitForRanksInTurn", "in turn", never="Nothing is moved"),
    Case("in_turn_many", "MPIWaitForRanksInTurn", "in turn", never="Data is moved"),
    Case("late", "MPIWaitForLateRank", "rank 1.*longer than the others"),
    Case("late_master", "WaitForMPICall|MPIWaitForLateRank", never="share the work", report=r"First: .*rank 1, which comes last", only="mpi", **YIELDS),
    Case("late_single", "WaitForMPICall|MPIWaitForLateRank", never="share the work", report=r"First: .*rank 1, which comes last", only="mpi", **YIELDS),
    Case("uneven_master", "WaitAtBarrier", "spread the work", never="One thread calls MPI", only="mpi", **YIELDS),
    Case("small", "MPISmallCollectives|MPIWaitForRanksInTurn", "one call of several|in turn", never="Data is moved", only="mpi"),
    Case("late_sender", "MPIWaitForLateSender", "send earlier"),
    Case("late_sender_any", "MPIWaitForLateSender", "send earlier"),
    Case("late_sender_wait", "MPIWaitForLateSender", "send earlier"),
    Case("late_sender_wait", "MPIWaitForLateSender", "send earlier", OMPP_CAUSAL="virtual"),
    Case("late_sender_many", "MPIWaitForLateSender", "send earlier"),
    Case("late_unknown", "MPICall", "waits for what was begun before", never="compared"),
    Case("receive_unknown", "MPIReceive", "not determined which", never="compared", only="mpi"),
    Case("late_receiver", "MPIWaitForLateReceiver", "by .* in .* calls that were compared"),
    Case("late_receiver_grid", "MPIWaitForLateReceiver", "by .* in .* calls that were compared"),
    Case("transfer", "MPICommunication|MPIReceive", "move less of it|Data is moved", never="fewer and larger", only="mpi"),
]


def properties(report):
    """(name, percent, advice) of the section, in its order."""
    pattern = r"^Property P\d+ '(\w+)' holds for\n.*with a severity \(in percent\) of ([\d.]+)\n +(.*)$"
    return [(name, float(percent), advice) for name, percent, advice in re.findall(pattern, report, re.M)]


def read(outcome):
    with open(outcome.reports("txt")[0]) as file:
        return file.read()


def test(verdict, scratch, case, words, how, ranks):
    title = " ".join([case.name, how, str(ranks or case.threads), *(case.settings[k] for k in case.settings if k == "OMPP_CAUSAL")])
    counter = iter(range(100))

    def attempt():
        folder = scratch.file("%s-%d" % (title.replace(" ", "-"), next(counter)), "x")[:-2]
        outcome = harness.run(words[0], folder, 1 if ranks else case.threads, ranks, args=[*words[1:], case.name], **case.settings)
        if outcome.status != 0:
            raise harness.Failure("%s: status %d: %s" % (title, outcome.status, outcome.err[-500:]))
        verdict.profile(outcome.profile(), title)
        verdict.check(re.search(case.report, read(outcome)), "%s: no line %s" % (title, case.report))
        objection = case.objection(properties(read(outcome)))
        return (["%s: %s" % (title, objection)] if objection else []), 1

    verdict.timed(attempt)


class Programs:
    """Sources of programs, by how they are built and measured: "opari", "ompt", "gomp" (not built for it), "mpi", and Fortran: "fortran", "mpi fortran"."""

    def __init__(self, verdict, scratch):
        self.verdict, self.scratch, self.built = verdict, scratch, {}

    def source(self, how):
        name = ("advice_mpi" if "mpi" in how else "advice") + (".f90" if "fortran" in how else ".c")
        return harness.os.path.join(harness.HERE, name)

    def sources(self, ranks):
        """Of programs with ranks, or threads."""
        compilers = ([("mpi", "MPICC", "mpicc"), ("mpi fortran", "MPIFORT", "mpifort")] if ranks else [("fortran", "TEST_GFORTRAN", "gfortran")])
        there = [] if ranks else harness.sources() + harness.plain_sources()
        return there + [how for how, variable, usual in compilers if harness.shutil.which(harness.os.environ.get(variable, usual))]

    def words(self, how):
        """The program, and what stands before it."""
        if how not in self.built:
            program = self.scratch.file("bin-" + how.replace(" ", "-"), "advice")
            if "fortran" in how:
                compiler = harness.os.environ.get(*(("MPIFORT", "mpifort") if "mpi" in how else ("TEST_GFORTRAN", "gfortran")))
                words = [harness.command("kinst-ompp"), compiler, "-O2", "-g", *([] if "mpi" in how else ["-fopenmp"]), self.source(how), "-o", program]
                done = harness.execute(words, harness.os.path.dirname(program))
                self.verdict.equal(done.status, 0, "%s: %s" % (words, done.err[-500:]))
            else:
                source = "opari" if how in ("mpi", "gomp") else how
                harness.build(self.source(how), program, source, mpi=how == "mpi", flags=("-O2", "-g"), instrument=how != "gomp")
            with open(self.source(how)) as file:
                text = file.read()
            names = re.findall(r"case \('(\w+)'\)|void do_(\w+)\(void\)", text)
            self.built[how] = ([harness.command("ompp"), "--", program] if how == "gomp" else [program]), {a or b for a, b in names}
        return self.built[how]


def is_chosen(case, how, names):
    """--all: everywhere; else in the suite with its sources, with libgomp those that are for it, in Fortran those that Fortran has."""
    return (not names or case.name in names) and (ALL or case.only in ((how,) if how == "gomp" else (None, how))) and (not case.seen or how in case.seen)


def check_table(verdict):
    """Each property has a row in docs/advice.md, and each program there is a case."""
    with open(harness.os.path.join(harness.SOURCE, "src", "model", "ompp_property.def")) as file:
        names = set(re.findall(r'^OMPP_PROPERTY\(\w+, "(\w+)"', file.read(), re.M))
    with open(harness.os.path.join(harness.SOURCE, "docs", "advice.md")) as file:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in file if line.startswith("|")]
    table = [row for row in rows if len(row) == 6 and set(row[0]) != {"-"}][1:]
    told = ", ".join(row[0] for row in table)
    cases = {case.name for case in CASES + RANKS}
    for name in sorted(names):
        verdict.check(re.search(r"\b%s\b" % name, told), "docs/advice.md has no row for %s" % name)
    for row in table:
        for program in re.findall(r"`(\w+)`", row[4] + row[5]):
            verdict.check(program in cases, "docs/advice.md: %s: no program %s" % (row[0], program))
        verdict.check(all(cell for cell in row[1:]) or not row[0], "docs/advice.md: %s: empty cell" % row[0])


ALL = "--all" in sys.argv[1:]


def main():
    verdict, scratch = harness.Verdict("advice"), harness.Scratch("advice")
    check_table(verdict)
    names, programs = [a for a in sys.argv[1:] if a != "--all"], Programs(verdict, scratch)
    for ranks, cases in ((2, RANKS), (0, CASES)):
        for how in programs.sources(ranks):
            for case in cases:
                if not is_chosen(case, how, names):
                    continue
                try:
                    words, there = programs.words(how)
                    if case.name in there:
                        test(verdict, scratch, case, words, how, ranks)
                except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
                    verdict.check(False, "%s %s: %s" % (case.name, how, failure))
    verdict.finish(scratch)


main()
