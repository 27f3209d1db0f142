#!/usr/bin/env python3
"""The faults built into examples/heat are found where they are, in their size."""

import os
import shutil

import harness
import ompp_profile
import tolerance

RUNS = ((2, 2), (2, 4))


def line_of(source, text, after=0):
    """First line of the source that contains the text."""
    return next(n for n, line in enumerate(open(source), 1) if text in line and n > after)


def classes(profile):
    """Overheads of every thread by the rules of the report, from the tables: {class: {(type, line): ns}}."""
    result = {"Imbal": {}, "Synch": {}}
    for region in profile.regions:
        if region.type in ompp_profile.PARALLEL_TYPES + ("LOOP",):
            result["Imbal"][region.type, region.begin] = sum(profile.total("exitBarT", [region]).values())
        if region.type == "CRITICAL":
            result["Synch"][region.type, region.begin] = sum(profile.total("enterT", [region]).values())
        if region.type in ("BARRIER", "ATOMIC", "FLUSH"):
            result["Synch"][region.type, region.begin] = sum(profile.total("execT", [region]).values())
    return result


def diagnose(profile, source, truth, title):
    """What is wrong with the diagnosis, and how many checks there were."""
    loop, critical = line_of(source, "schedule(static, 1)"), line_of(source, "omp critical")
    allreduce, found, bad = line_of(source, "MPI_Allreduce("), classes(profile), []

    def amount(what, measured_ms, true_ms):
        if abs(measured_ms - true_ms) > tolerance.DIAGNOSIS_SHARE * true_ms:
            bad.append(tolerance.said("%s: %s %.3f ms, built in %.3f" % (title, what, measured_ms, true_ms), measured_ms, true_ms))

    for name, key, true_ms in (("Imbal", ("PARALLEL LOOP", loop), truth["imbal_sum_ms"]),
                               ("Synch", ("CRITICAL", critical), truth["synch_sum_ms"])):
        part, whole = found[name].get(key, 0), sum(found[name].values())
        if part < tolerance.DIAGNOSIS_PART * whole or not whole:
            bad.append("%s: %s line %d carries %.1f %% of %s: %s" % (title, key[0], key[1], 100 * part / max(whole, 1), name,
                                                                    found[name]))
        amount(name, part / 1e6, true_ms)
    waits = profile.total("execT", profile.find("MPI", line=allreduce, name="MPI_Allreduce"))
    for rank in range(int(truth["ranks"]) - 1):
        amount("wait for the late rank on rank %d" % rank, waits.get((rank, 0), 0) / 1e6, truth["late_mpi_ms_on_other_ranks"])
    late = waits.get((int(truth["late_rank"]), 0), 0) / 1e6
    if late > tolerance.DIAGNOSIS_SHARE * truth["late_mpi_ms_on_other_ranks"] + tolerance.TIME_MS:
        bad.append("%s: the late rank itself waits %.3f ms" % (title, late))
    return bad, 6


def counts(verdict, profile, source, truth, title):
    execC = lambda kind, line: sum(profile.total("execC", profile.find(kind, line=line)).values())
    verdict.equal(execC("CRITICAL", line_of(source, "omp critical")), truth["critical_entries"], title + ": critical entries")
    verdict.equal(execC("PARALLEL LOOP", line_of(source, "schedule(static, 1)")), truth["loop_executions"], title + ": loops")
    verdict.equal(execC("MPI", line_of(source, "MPI_Allreduce(")), truth["allreduce_calls"], title + ": MPI_Allreduce")
    sent = profile.total("outV", profile.find("MPI", name="MPI_Isend"))
    verdict.equal(sum(sent.values()), truth["message_bytes"], title + ": bytes sent")


def test(verdict, scratch, how):
    folder = scratch.file(how, "heat.c")[:-len("/heat.c")]
    for name in ("heat.c", "Makefile"):
        shutil.copy(os.path.join(harness.SOURCE, "examples", "heat", name), folder)
    source, program = os.path.join(folder, "heat.c"), os.path.join(folder, "heat")
    kinst = "%s %s" % (harness.command("kinst-ompp"), os.environ.get("MPICC", "mpicc"))
    done = harness.execute(["make", "CC=" + kinst], folder, OMPI_CC=harness.COMPILERS[how], MPICH_CC=harness.COMPILERS[how])
    if done.status:
        raise harness.Failure("make: " + done.err[-1000:])
    for ranks, threads in RUNS:
        title = "heat %s %dx%d" % (how, ranks, threads)
        lines = harness.execute([program, "--truth", str(ranks), str(threads)], folder).out.split()
        truth = {k: float(v) for k, v in (line.split("=") for line in lines)}
        counter = iter(range(100))

        def attempt():
            where = scratch.file("%s-%dx%d-%d" % (how, ranks, threads, next(counter)), "x")[:-2]
            outcome = harness.run(program, where, threads, ranks, HEAT_WORK="sleep")
            verdict.equal((outcome.status, outcome.out), (0, "heat: 10 steps, residual 1.959808537e-01\n"), title + ": result")
            verdict.equal(outcome.messages(), [], title + ": messages")
            profile = outcome.profile()
            verdict.profile(profile, title)
            counts(verdict, profile, source, truth, title)
            return diagnose(profile, source, truth, title)

        verdict.timed(attempt)


def main():
    verdict, scratch = harness.Verdict("heat"), harness.Scratch("heat")
    for how in harness.sources():
        try:
            test(verdict, scratch, how)
        except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
            verdict.check(False, "heat %s: %s" % (how, failure))
    verdict.finish(scratch)


main()
