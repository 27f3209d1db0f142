#!/usr/bin/env python3
"""
Ways of beginning and ending MPI, with each MPI that is here: thread levels, MPI_Finalize on another thread, ranks that come late or not
at all, MPI that is gone already, parts of the world, spawned processes, sessions, callbacks that call MPI. Output and status are those
of the plain program, nothing hangs, and there are the reports that should be, with the counts of all ranks.
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness

SOURCE = os.path.join(harness.HERE, "ends.c")
RANKS = 2
ROUNDS = 10


class Way:
    """reports: names of the text reports; allreduce: per rank of the first; settings: of the run."""

    def __init__(self, name, reports=("ends.2x1-0",), messages=0, allreduce=ROUNDS, **settings):
        self.name, self.reports, self.messages, self.allreduce = name, reports, messages, allreduce
        self.settings = settings


EACH = ("ends:0.1-0", "ends:1.1-0")
WAYS = (
    Way("plain"), Way("single"), Way("funneled"), Way("serialized"), Way("multiple"), Way("parts"),
    Way("thread", reports=("ends.2x2-0",)),
    Way("callbacks", allreduce=ROUNDS + 1), Way("apart"),
    Way("late", reports=EACH, messages=RANKS, OMPP_FINALIZE_TIMEOUT="0.3"),
    Way("hidden", reports=EACH, messages=RANKS),
    Way("spawn", reports=("ends.2x1-0", "ends.2x1-1")),
    Way("session", reports=EACH),
)


def launch(name, launcher, program, way, folder, **settings):
    os.makedirs(os.path.join(folder, "job"), exist_ok=True)
    options = ["--oversubscribe", "--allow-run-as-root"] if name == "openmpi" else []
    words = [launcher, *options, "-n", str(RANKS), program, way.name]
    if way.name == "spawn":
        settings.update(harness.ALONE)
    return harness.execute(words, folder, OMP_NUM_THREADS=1, OMPP_JOB_DIR=os.path.join(folder, "job"), **settings)


def check_reports(verdict, title, way, outcome):
    names = [os.path.basename(path)[:-len(".ompp.txt")] for path in outcome.reports("txt")]
    verdict.equal(sorted(names), sorted(way.reports), title + ": reports")
    for path in outcome.reports():
        profile = harness.ompp_profile.Profile(path)
        verdict.profile(profile, title)
        calls = profile.total("execC", profile.find("MPI", name="MPI_Allreduce"))
        wanted = {rank for rank, _ in profile.locations}
        verdict.equal({rank: n for (rank, _), n in calls.items()}, {rank: way.allreduce for rank in wanted}, title + ": MPI_Allreduce")


def check_rest(verdict, title, way, folder):
    """Whose profile is in a report of all ranks has left no file; the others' make one."""
    kept = os.listdir(os.path.join(folder, "job"))
    incomplete = way.name in ("late", "hidden")
    verdict.equal(len(kept), RANKS if incomplete else 0, title + ": files left: %s" % kept)
    if incomplete:
        check_merged(verdict, title, folder)


def check_merged(verdict, title, folder):
    to = os.path.join(folder, "merged")
    os.mkdir(to)
    done = harness.execute([harness.command("ompp-report"), "merge", "--to=" + to, "job"], folder)
    verdict.equal((done.status, len(glob.glob(to + "/*.xml"))), (0, 1), title + ": merge: " + done.err)
    for path in glob.glob(to + "/*.xml"):
        profile = harness.ompp_profile.Profile(path)
        verdict.profile(profile, title)
        calls = profile.total("execC", profile.find("MPI", name="MPI_Allreduce"))
        verdict.equal(calls, {(rank, 0): ROUNDS for rank in range(RANKS)}, title + ": MPI_Allreduce, merged")


def check_apart(verdict, title, outcome):
    """The wait of the rank that came first is not in its time."""
    ends = [1e-9 * (int(r["begin-epoch-ns"]) + int(r["duration-ns"])) for r in outcome.profile().ranks]
    verdict.check(ends[1] - ends[0] > 0.5, "%s: ranks end at %s s, and were 2 s apart" % (title, ends))


def printed_by(way, outcome):
    return sorted(re.findall(r"^%s.*$" % way.name, outcome.out, re.M))


def test(verdict, scratch, way, name, launcher, programs):
    title, folder = "%s (%s)" % (way.name, name), scratch.file(name, way.name, "x")[:-2]
    plain = verdict.unmeasured(title, lambda: launch(name, launcher, programs["plain"], way, folder + "-plain"),
                               lambda outcome: way.name == "spawn" or "sessions: none" in outcome.out or
                               outcome.status == 0 and printed_by(way, outcome))
    if not plain:
        return
    try:
        outcome = launch(name, launcher, programs["measured"], way, folder, **way.settings)
    except subprocess.TimeoutExpired:
        verdict.check(False, title + ": hangs")
        return
    if way.name == "spawn" and plain.status:
        print("note: %s does not spawn here, without measurement either" % name)
        return
    if "sessions: none" in plain.out:
        print("note: %s has no sessions" % name)
        return
    found, wanted = (outcome.status, printed_by(way, outcome)), (plain.status, printed_by(way, plain))
    verdict.equal(found, wanted, title + ": status and output: " + outcome.err[-500:])
    verdict.equal(len(outcome.messages()), way.messages, "%s: messages: %s" % (title, outcome.messages()))
    check_reports(verdict, title, way, outcome)
    check_rest(verdict, title, way, folder)
    if way.name == "apart":
        check_apart(verdict, title, outcome)


# By what jobs of Open MPI find each other, with the commands of version 4 or 5: a server, and what starts a job that knows it.
SERVERS = (("ompi-server", ["--no-daemonize", "-r"], "mpirun.openmpi", ["--oversubscribe", "--allow-run-as-root", "--ompi-server"]),
           ("prte", ["--allow-run-as-root", "--no-ready-msg", "--report-uri"], "prun", ["--allow-run-as-root", "--dvm-uri"]))


def start_server(name, launcher, folder, **settings):
    """(server or None, command to start a job with); skips to None when there is no server that is needed."""
    if name != "openmpi":
        return None, [launcher]
    for server, options, run, run_options in SERVERS:
        if not shutil.which(server) or not shutil.which(run):
            continue
        place = os.path.join(folder, "port-server")
        process = subprocess.Popen([server, *options, place], cwd=folder, env=harness.environment(**harness.ALONE, **settings),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        harness.wait_for(lambda: os.path.exists(place) or process.poll() is not None, "the place of " + server)
        return process, [run, *run_options, "file:" + place]
    return None, None


def both_jobs(name, launcher, program, folder, **settings):
    """Two jobs, started apart: (status, what each rank printed) of both; None when they do not find each other in time."""
    server, before = start_server(name, launcher, folder, **settings)
    try:
        return before and run_both([*before, "-n", str(RANKS), program], folder, **settings)
    finally:
        if server:
            server.terminate()
            server.wait()


def run_both(words, folder, **settings):
    jobs = [subprocess.Popen([*words, way, os.path.join(folder, "port")], cwd=folder, env=harness.environment(**harness.ALONE, **settings),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, start_new_session=True)
            for way in ("accept", "connect")]
    try:
        return [(out, job.returncode) for job, out in [(job, job.communicate(timeout=90)[0]) for job in jobs]]
    except subprocess.TimeoutExpired:
        return None
    finally:
        for job in jobs:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
                job.communicate()


def printed(out):
    return sorted(re.findall("^(?:accept|connect): .*$", out, re.M))


def test_connected(verdict, scratch, name, launcher, programs):
    """Jobs that meet by MPI_Comm_accept and MPI_Comm_connect have a report each, of their own ranks."""
    folders = [os.path.dirname(scratch.file(name, "connected-" + kind, "job", "x")) for kind in ("plain", "measured")]
    folders = [os.path.dirname(folder) for folder in folders]
    connect(verdict, name, launcher, programs, folders)


def connect(verdict, name, launcher, programs, folders):
    plain = both_jobs(name, launcher, programs["plain"], folders[0])
    if plain is None or any(status for _, status in plain):
        print("note: two jobs of %s do not connect here, without measurement either: %s" % (name, plain and plain[0][0][-300:]))
        return
    measured = both_jobs(name, launcher, programs["measured"], folders[1], OMPP_JOB_DIR=os.path.join(folders[1], "job"), OMP_NUM_THREADS=1)
    if not verdict.check(measured, "connected (%s): hangs" % name):
        return
    for (out, status), (wanted, good) in zip(measured, plain):
        verdict.equal((status, printed(out)), (good, printed(wanted)), "connected (%s): status and output: %s" % (name, out))
    reports = glob.glob(folders[1] + "/*.ompp.xml")
    verdict.equal(len(reports), 2, "connected (%s): reports" % name)
    for path in reports:
        profile = harness.ompp_profile.Profile(path)
        verdict.profile(profile, "connected (%s)" % name)
        calls = profile.total("execC", profile.find("MPI", name="MPI_Allreduce"))
        verdict.equal(calls, {(rank, 0): ROUNDS + 1 for rank in range(RANKS)}, "connected (%s): MPI_Allreduce" % name)
        verdict.check(not any("not measured:" in c.get("subject", "") for c in profile.coverage), "connected: %s" % profile.coverage)
    verdict.equal(os.listdir(os.path.join(folders[1], "job")), [], "connected (%s): files left" % name)


def test_gone(verdict, scratch, name, launcher, programs):
    """
    A rank is gone, and MPI does not end the others (MPICH can be told so): after the time for it, we have given up, and said so. What
    MPI_Finalize itself does then is not our affair: MPICH's waits for ever.
    """
    title, folder = "gone (%s)" % name, scratch.file(name, "gone", "x")[:-2]
    os.makedirs(os.path.join(folder, "job"))
    changes = {"OMPP_JOB_DIR": os.path.join(folder, "job"), "OMPP_FINALIZE_TIMEOUT": 1, "OMP_NUM_THREADS": 1}
    words = [launcher, "-disable-auto-cleanup", "-n", str(RANKS), programs["measured"], "gone"]
    with open(os.path.join(folder, "err"), "w") as err:
        process = subprocess.Popen(words, cwd=folder, env=harness.environment(**changes), stdout=err, stderr=err, start_new_session=True)
        end = time.time() + 30
        while "not all ranks" not in open(err.name).read() and time.time() < end:
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    verdict.check("not all ranks" in open(err.name).read(), title + ": nothing said")
    check_merged(verdict, title, folder)


def main():
    verdict, scratch = harness.Verdict("ends"), harness.Scratch("ends")
    flags = ("-O0", "-g", "-I" + os.path.join(harness.SOURCE, "include"))
    try:
        for name, launcher, programs in harness.builds_of_each_mpi(scratch, SOURCE, flags):
            for way in WAYS:
                if len(sys.argv) == 1 or way.name in sys.argv:
                    test(verdict, scratch, way, name, launcher, programs)
            if len(sys.argv) == 1 or "connected" in sys.argv:
                test_connected(verdict, scratch, name, launcher, programs)
            if name == "mpich" and (len(sys.argv) == 1 or "gone" in sys.argv):
                test_gone(verdict, scratch, name, launcher, programs)
    except harness.Failure as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
