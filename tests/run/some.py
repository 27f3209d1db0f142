#!/usr/bin/env python3
"""
Runs of which only some ranks are measured, with each MPI that is here: several programs in one line, a script that decides by rank, a
node on which nobody is measured. Nothing hangs, the program's output is the same, and those that are measured have one report, which says
how many are not. Nodes are made up: each has a directory of its own, and is told how many ranks it has.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import time

import harness

SOURCE = os.path.join(harness.HERE, "some.c")
ROUNDS = 10
SOON = 40  # s, for a run of a second or two whose ranks do not find each other
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"


def launchers():
    for name in ("openmpi", "mpich"):
        if shutil.which("mpirun." + name) and shutil.which("mpicc." + name):
            yield name, ["mpirun." + name] + (["--oversubscribe", "--allow-run-as-root"] if name == "openmpi" else []), "mpicc." + name
        else:
            print("note: not tested with %s" % name)


def build(folder, compiler):
    done = harness.execute([compiler, "-O0", "-g", SOURCE, "-o", "some"], folder)
    if done.status:
        raise harness.Failure("cannot build: " + done.err[-500:])
    shutil.copy(os.path.join(folder, "some"), os.path.join(folder, "other"))


def script(ranks_measured, ranks_per_node=None):
    """Words of a shell that measures some ranks."""
    node = "" if not ranks_per_node else (
        "export OMPP_JOB_DIR=$PWD/node$((%s / %d)) OMPI_COMM_WORLD_LOCAL_SIZE=%d MPI_LOCALNRANKS=%d; "
        % (RANK, ranks_per_node, ranks_per_node, ranks_per_node))
    return ["sh", "-c", node + "case %s in %s) exec '%s' -- ../some;; *) exec ../some;; esac"
            % (RANK, "|".join(map(str, ranks_measured)) or "none", harness.command("ompp"))]


def cases(size):
    """Name -> (words behind the launcher, ranks that are measured)."""
    ompp, every = [harness.command("ompp"), "--"], list(range(size))
    rest, odd = ["-n", str(size - 1)], [rank for rank in every if rank % 2]
    yield "all", ["-n", str(size), *ompp, "../some"], every
    yield "first-program", ["-n", "1", *ompp, "../some", ":", *rest, "../other"], [0]
    yield "second-program", ["-n", "1", "../some", ":", *rest, *ompp, "../other"], every[1:]
    yield "both-programs", ["-n", "1", *ompp, "../some", ":", *rest, *ompp, "../other"], every
    for name, measured in (("rank-0", [0]), ("odd", odd), ("all-but-0", every[1:]), ("nobody", [])):
        yield name, ["-n", str(size), *script(measured)], measured
    yield "nodes", ["-n", str(size), *script(every, size // 2)], every
    yield "one-of-nodes", ["-n", str(size), *script(every[:size // 2], size // 2)], every[:size // 2]
    yield "some-of-nodes", ["-n", str(size), *script(every[1:], size // 2)], every[1:]


def told(profile, size, measured):
    return [note["subject"] for note in profile.coverage if "not measured" in note.get("subject", "")] == (
        [] if measured == size else ["ranks of MPI_COMM_WORLD that are not measured, or not found: %d of %d" % (size - measured, size)])


def test(verdict, folder, title, words, size, measured):
    os.makedirs(os.path.join(folder, "job"))
    try:
        done = harness.execute(words, folder, OMP_NUM_THREADS=1, OMPP_JOB_DIR=os.path.join(folder, "job"))
    except subprocess.TimeoutExpired:
        verdict.check(False, title + ": hangs")
        return
    wanted = ["some: rank %d of %d: %d, %d messages, 0 left" % (rank, size, size * (size + 1) // 2, ROUNDS) for rank in range(size)]
    verdict.equal((done.status, sorted(re.findall("some:.*", done.out))), (0, wanted), title + ": status and output: " + done.err[-500:])
    verdict.equal(done.messages(), [], title + ": messages")
    if not verdict.equal(len(done.reports()), bool(measured), title + ": number of reports"):
        return
    for path in done.reports():
        profile = harness.ompp_profile.Profile(path)
        verdict.profile(profile, title)
        calls = profile.total("execC", profile.find("MPI", name="MPI_Allreduce"))
        verdict.equal({rank: n for (rank, _), n in calls.items()}, {rank: ROUNDS for rank in measured}, title + ": MPI_Allreduce")
        verdict.check(told(profile, size, len(measured)), "%s: Coverage: %s" % (title, profile.coverage))
    left = [path for path in glob.glob(folder + "/**/*", recursive=True, include_hidden=True) if "ompp-" in os.path.basename(path)]
    verdict.equal(left, [], title + ": files left")


def can_unshare():
    return subprocess.run(["unshare", "-m", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def container(folder, private):
    """Words of a rank that is alone in its job directory, as in a container of its own; private: in that for reports, too."""
    mount = "mount -t tmpfs ompp-test %s/job && " % folder
    outdir = "export OMPP_OUTDIR=%s/out%s; mkdir -p $OMPP_OUTDIR; " % (folder, RANK) if private else ""
    return ["unshare", "-m", "sh", "-c", "%s%sexec '%s' -- ../some" % (outdir, mount, harness.command("ompp"))]


def test_containers(verdict, folder, title, launcher, size):
    """Ranks of one node that do not see each other's job directory meet where reports go; if not there either, in time, and it is told."""
    for private in (False, True):
        name = title + (", nothing shared" if private else ", reports shared")
        where = os.path.join(folder, "containers-%d" % private)
        os.makedirs(os.path.join(where, "job"))
        begin = time.monotonic()
        try:
            done = harness.execute([*launcher, "-n", str(size), *container(where, private)], where, OMP_NUM_THREADS=1,
                                   OMPP_JOB_DIR=os.path.join(where, "job"))
        except subprocess.TimeoutExpired:
            verdict.check(False, name + ": hangs")
            continue
        verdict.check(time.monotonic() - begin < SOON, "%s: took %.1f s" % (name, time.monotonic() - begin))
        verdict.equal((done.status, len(re.findall("some:.*", done.out))), (0, size), name + ": status and output: " + done.err[-500:])
        reports = glob.glob(where + "/**/*.ompp.xml", recursive=True)
        verdict.equal(len(reports), size if private else 1, name + ": number of reports")
        for path in reports:
            profile = harness.ompp_profile.Profile(path)
            verdict.check(told(profile, size, 1 if private else size), "%s: Coverage: %s" % (name, profile.coverage))
        left = [path for path in glob.glob(where + "/**/*", recursive=True, include_hidden=True) if "ompp-meet" in path]
        verdict.equal(left, [], name + ": files left")


def main():
    verdict, scratch = harness.Verdict("some"), harness.Scratch("some")
    try:
        for name, launcher, compiler in launchers():
            build(os.path.dirname(scratch.file(name, "some")), compiler)
            several = harness.takes_programs(launcher[0])
            for size in (2, 4):
                for case, words, measured in cases(size):
                    if len(sys.argv) > 1 and case not in sys.argv or ":" in words and not several:
                        continue
                    folder = os.path.dirname(scratch.file(name, "%s-%d" % (case, size), "x"))
                    test(verdict, folder, "%s, %d ranks (%s)" % (case, size, name), launcher + words, size, measured)
            if can_unshare() and (len(sys.argv) == 1 or "containers" in sys.argv):
                test_containers(verdict, os.path.dirname(scratch.file(name, "x")), "containers (%s)" % name, launcher, 3)
            elif not can_unshare():
                print("note: not tested with containers: no name space of mounts may be made here")
    except harness.Failure as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
