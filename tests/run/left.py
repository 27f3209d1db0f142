#!/usr/bin/env python3
"""
Runs that do not end well: what the ranks leave is joined by ompp-report merge and collect into one report over all of them, with the
counts of the program. A good end leaves nothing. One report per rank on request (OMPP_MPI_REPORT).
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

RANKS, THREADS, STEP = 3, 2, 10
SOURCE = os.path.join(harness.HERE, "left.c")
WAYS = ("kill", "segv", "abort", "_exit", "exit", "mpi_abort", "early", "unnoticed")
LATER = 0.3  # seconds that the others go on when rank 1 is "unnoticed"


def report(*words, folder):
    return harness.execute([harness.command("ompp-report"), *words], folder)


def left(folder):
    return sorted(glob.glob(os.path.join(folder, "job", "*")))


def run(program, folder, way, **settings):
    os.makedirs(os.path.join(folder, "job"))
    return harness.run(program, folder, THREADS, RANKS, (way,), OMPP_JOB_DIR=os.path.join(folder, "job"), **settings)


def merged(verdict, folder, title, *words, says="$"):
    """The report that merge makes of words, or None. says: pattern of what it says of them, else nothing."""
    to = os.path.join(folder, "merged-%d" % len(glob.glob(os.path.join(folder, "merged-*"))))
    os.mkdir(to)
    done = report("merge", "--to=" + to, *words, folder=folder)
    verdict.check(done.status == 0 and re.match(says, done.err), "%s: ompp-report merge: %d %s" % (title, done.status, done.err))
    paths = glob.glob(os.path.join(to, "*.xml"))
    if not verdict.equal(len(paths), 1, title + ": reports: %s" % paths):
        return None
    profile = harness.ompp_profile.Profile(paths[0])
    verdict.profile(profile, title)
    return profile


def check_counts(verdict, profile, title, early):
    """Every rank did STEP steps, and may be in the next; none when one went before MPI was there."""
    steps = profile.total("execC", profile.find("USER REGION", name="step"))
    for rank in range(RANKS):
        found = steps.get((rank, 0), 0)
        verdict.check(found == 0 if early else STEP <= found <= STEP + 1, "%s: rank %d: %d steps in the report" % (title, rank, found))
    verdict.equal(len(profile.ranks), RANKS, title + ": ranks in the report")
    verdict.equal({r["end"] for r in profile.ranks}, {"incomplete"}, title + ": ends")
    told = [c for c in profile.coverage if c["kind"] == "incomplete" and "last event" in c.get("reason", "")]
    verdict.equal(sorted(c["subject"] for c in told), [str(r) for r in range(RANKS)], title + ": time of the last event")


def test_way(verdict, scratch, program, way):
    folder = scratch.file(way, "x")[:-2]
    outcome = run(program, folder, way)
    verdict.check(outcome.status != 0, way + ": the program ended well")
    verdict.equal(len(left(folder)), RANKS, way + ": files left")
    profile = merged(verdict, folder, way, "job")
    if profile:
        check_counts(verdict, profile, way, way == "early")
        text = open(profile.path.replace(".xml", ".txt")).read()
        verdict.equal(re.findall("^(?:User|System) Time +: (.*)", text, re.M), ["not known"] * 2, way + ": CPU time")
        silent = any("the process died" in c.get("reason", "") for c in profile.coverage)
        notes = [c.get("subject", "") for c in profile.coverage if c["kind"] == "note"]
        verdict.equal(notes.count("what ended the processes is not known"), int(silent), "%s: by what: %s" % (way, notes))
        order = [re.findall(r"rank (\d+)", n) for n in notes if "was the first whose events ended" in n]
        early = [(c["subject"], int(c["count"]) / 1000) for c in profile.coverage if c["kind"] == "ended-early"]
        if way == "unnoticed":
            verdict.check([rank for rank, _ in early] == ["1"] and early[0][1] >= LATER - 0.1, "%s: ended before the others: %s" % (way, early))
        caution = re.search(r"^-+ +ompp Caution +-+\n-+\n(.*?)\n\n", text, re.M | re.S)
        verdict.equal("rank 1 ended" in (caution[1] if caution else ""), "1" in dict(early), way + ": the caution")
        verdict.equal([sorted(o) for o in order], [[str(r) for r in range(min(RANKS, 4))]], "%s: which was the first: %s" % (way, notes))
    return folder


def test_collect(verdict, folder):
    """Two nodes: one has one file, the other the rest; each is collected, what they hold is joined."""
    nodes = [os.path.join(folder, "node%d" % n) for n in range(2)]
    for number, path in enumerate(left(folder)):
        os.makedirs(nodes[number > 0], exist_ok=True)
        os.rename(path, os.path.join(nodes[number > 0], os.path.basename(path)))
    alone = merged(verdict, folder, "one node", nodes[0], says=".*: the report has 1 of %d ranks\n$" % RANKS)
    if alone:
        missing = [c["subject"] for c in alone.coverage if "nothing of it" in c.get("reason", "")]
        verdict.check(missing, "one node: ranks that are missing are named: %s" % alone.coverage)
    for node in nodes:
        done = report("collect", "--remove", "--to=" + os.path.join(folder, "all"), node, folder=folder)
        verdict.equal((done.status, done.err, os.listdir(node)), (0, "", []), "collect")
    profile = merged(verdict, folder, "two nodes", "all")
    if profile:
        check_counts(verdict, profile, "two nodes", False)


def test_checkpoint(verdict, scratch, program):
    """All files of a node vanish: the copies in the output directory have what was done some tenths of a second before."""
    folder = scratch.file("vanish", "x")[:-2]
    run(program, folder, "vanish", OMPP_CHECKPOINT="0.2")
    for path in left(folder):
        os.remove(path)
    copies = glob.glob(os.path.join(folder, "left:*.checkpoint-*.ompp.bin"))
    verdict.equal(len(copies), RANKS, "vanished: copies: %s" % os.listdir(folder))
    profile = merged(verdict, folder, "vanished", ".")
    if profile:
        steps = profile.total("execC", profile.find("USER REGION", name="step"))
        verdict.equal(steps, {(rank, 0): STEP for rank in range(RANKS)}, "vanished: steps")
        told = [c for c in profile.coverage if "OMPP_CHECKPOINT" in c.get("reason", "")]
        verdict.equal(len(told), RANKS, "vanished: ranks that are known from copies")
    folder = scratch.file("stays", "x")[:-2]
    outcome = run(program, folder, "good", OMPP_CHECKPOINT="0.1")
    verdict.equal((outcome.status, outcome.messages(), glob.glob(os.path.join(folder, "*.bin*"))), (0, [], []), "copies after a good end")


def test_stale(verdict, scratch, program):
    """What two runs have left in one directory is not mixed up; a file stands for its run."""
    folder = scratch.file("stale", "x")[:-2]
    os.makedirs(os.path.join(folder, "job"))
    for _ in range(2):
        harness.run(program, folder, THREADS, RANKS, ("kill",), OMPP_JOB_DIR=os.path.join(folder, "job"))
    verdict.equal(len(left(folder)), 2 * RANKS, "two runs: files")
    done = report("merge", "job", folder=folder)
    reports = glob.glob(os.path.join(folder, "*.xml"))
    verdict.equal((done.status, len(reports)), (0, 2), "two runs: reports")
    for path in reports:
        check_counts(verdict, harness.ompp_profile.Profile(path), "two runs", False)
    profile = merged(verdict, folder, "one of two runs", left(folder)[0])
    if profile:
        check_counts(verdict, profile, "one of two runs", False)
    run(program, os.path.join(folder, "good"), "good")
    done = report("merge", "--remove", "job", folder=folder)
    verdict.equal((done.status, left(folder)), (0, []), "removed when it is in a report")
    done = report("merge", "job", folder=folder)
    verdict.check(done.status == 1 and len(done.err.splitlines()) == 1, "nothing to merge: %s" % done.err)


def check_collected(verdict, folder, settings, runs):
    """collect takes the runs that merge takes: the newest, all, or that of a file."""
    for title, words, wanted in (("newest", (), runs[2]), ("all", ("--all",), sum(runs, [])), ("file", runs[0][:1], runs[0])):
        to = os.path.join(folder, "collected-" + title)
        done = harness.execute([harness.command("ompp-report"), "collect", "--to=" + to, *words], folder, **settings)
        mine = {os.path.basename(path) for path in sum(runs, [])}
        found = {name for name in mine for copy in os.listdir(to) if copy.startswith(name + ".")}
        missing = {os.path.basename(path) for path in wanted} ^ (found & mine)
        verdict.check(done.status == 0 and not missing, "collect, %s: %s differ: %s" % (title, missing, done.err))
        verdict.equal("newest of" in done.err, title == "newest", "collect, %s: what is said: %s" % (title, done.err))


def test_newest(verdict, scratch, program):
    """Without names only the newest run makes a report, and only its files are removed; --list writes nothing; --all is all."""
    folder = scratch.file("newest", "x")[:-2]
    job = os.path.join(folder, "job")
    os.makedirs(job)
    before, runs = [], []
    for _ in range(3):
        harness.run(program, folder, THREADS, RANKS, ("kill",), OMPP_JOB_DIR=job)
        runs.append(sorted(set(left(folder)) - set(before)))
        before = left(folder)
    settings = dict(OMPP_JOB_DIR=job, TMPDIR=job)

    def merge(*words):
        to = os.path.join(folder, "to-%d" % len(glob.glob(os.path.join(folder, "to-*"))))
        os.mkdir(to)
        done = harness.execute([harness.command("ompp-report"), "merge", "--to=" + to, *words], folder, **settings)
        return done, glob.glob(os.path.join(to, "*.xml"))

    done, reports = merge("--list")
    mine = [line for line in done.out.splitlines() if job in line]
    verdict.equal((done.status, done.err, len(mine), reports), (0, "", 3, []), "--list: " + done.out)
    for line, files in zip(mine, runs):
        verdict.check(re.match(r"[-0-9]+ [:0-9]+  left, %d ranks; the process died; " % RANKS, line), "--list: " + line)
        verdict.check(any(line.endswith("; " + path) for path in files), "--list: file and order: " + line)
    verdict.equal(left(folder), before, "--list: files")
    check_collected(verdict, folder, settings, runs)
    done, reports = merge("--remove")
    verdict.equal((done.status, reports, left(folder)), (1, [], before), "--remove of several, none named: " + done.err)
    verdict.check("name the file" in done.err and all(line in done.out for line in mine), "--remove of several: " + done.out + done.err)
    done, reports = merge()
    verdict.equal((done.status, len(reports), len(done.err.splitlines())), (0, 1, 1), "newest: " + done.err)
    verdict.check(re.search(r"newest of \d+ runs: .* left, %d ranks; --list .*--all" % RANKS, done.err), "newest: " + done.err)
    done, reports = merge("--remove", runs[2][0])
    verdict.equal(left(folder), sorted(runs[0] + runs[1]), "what is removed is the one that was named: " + done.err)
    done, reports = merge("--list", runs[0][0])
    verdict.equal((done.status, len(done.out.splitlines())), (0, 1), "--list of a file: " + done.out)
    done, reports = merge("--all")
    verdict.check(done.status == 0 and len(reports) >= 2 and done.err == "", "--all: %s %s" % (reports, done.err))
    verdict.equal(left(folder), sorted(runs[0] + runs[1]), "--all without --remove: files")


def killed(folder, program):
    """A run that was killed, in a directory of its own there."""
    os.makedirs(os.path.join(folder, "job"))
    harness.run(program, folder, THREADS, RANKS, ("kill",), OMPP_JOB_DIR=os.path.join(folder, "job"))
    files = left(folder)
    wait_for_end([int(os.path.basename(file).split("-")[2]) for file in files])
    return files


def wait_for_end(processes):
    """mpirun does not wait for ranks that it kills."""
    for _ in range(200):
        if not any(is_there(process) for process in processes):
            return
        time.sleep(0.05)


def is_there(process):
    try:
        with open("/proc/%d/stat" % process) as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def make_foreign(path):
    """As another version's: its number stands behind the name of the format."""
    with open(path, "r+b") as file:
        file.seek(24)
        file.write(b"\x99\x09\0\0")


def test_foreign(verdict, scratch, program):
    """Files of another version are listed with what to do about them, and go when they are named."""
    folder = scratch.file("foreign", "x")[:-2]
    files = killed(folder, program)
    make_foreign(files[0])
    done = report("merge", "--list", "job", folder=folder)
    lines = done.out.splitlines()
    verdict.equal((done.status, done.err, len(lines)), (0, "", 2), "foreign: --list: " + done.out)
    verdict.check("(%d of them found)" % (RANKS - 1) in lines[-1 - ("another version" in lines[-1])], "foreign: --list: " + done.out)
    verdict.check(any(re.match(r"[-0-9]+ [:0-9]+  written by another version of ompp: .*--remove.*; " + re.escape(files[0]), line)
                      for line in lines), "foreign: --list: " + done.out)
    for command in ("show", "csv", "check", "coz"):
        done = report(command, files[1], folder=folder)
        verdict.check(done.status == 1 and "use convert: " + files[1] in done.err, "foreign: %s of what a run left: %s" % (command, done.err))
    for words in (["merge", files[0]], ["convert", files[0]]):
        done = report(*words, folder=folder)
        verdict.check(done.status == 1 and "another version" in done.err, "foreign: %s: %s" % (words[0], done.err))
    done = report("merge", "--remove", files[0], folder=folder)
    verdict.equal((done.status, done.err, left(folder)), (0, "", files[1:]), "foreign: --remove")
    for path in files[1:]:
        make_foreign(path)
    done = report("merge", "job", folder=folder)
    verdict.check(done.status == 1 and "of this version" in done.err and "--list" in done.err, "foreign: nothing else: " + done.err)
    done = report("merge", "--list", "job", folder=folder)
    verdict.equal((done.status, done.out.count("another version")), (0, RANKS - 1), "foreign: --list of nothing else: " + done.err)


def test_named_place(verdict, scratch, program):
    """Who names a directory means that one: nothing is taken from where runs put things otherwise."""
    folder = scratch.file("named", "x")[:-2]
    files, empty = killed(folder, program), os.path.join(folder, "empty")
    os.mkdir(empty)
    settings = dict(OMPP_JOB_DIR=empty, TMPDIR=os.path.join(folder, "job"))
    for words in (("merge", "--list"), ("merge", "--remove"), ("collect", "--remove", "--to=.")):
        done = harness.execute([harness.command("ompp-report"), *words], folder, **settings)
        title = "%s with an empty OMPP_JOB_DIR" % " ".join(words)
        verdict.equal((done.status, done.err), (1, "ompp-report: OMPP_JOB_DIR=%s: nothing there that a run has left behind\n" % empty), title)
        verdict.equal((done.out, left(folder)), ("", files), title)
    done = report("merge", "--remove", empty, folder=folder)
    verdict.equal((done.status, done.err), (1, "ompp-report: %s: nothing there that a run has left behind\n" % empty), "an empty directory")
    os.rmdir(empty)
    done = harness.execute([harness.command("ompp-report"), "merge", "--list"], folder, **settings)
    verdict.equal((done.status, done.err), (1, "ompp-report: OMPP_JOB_DIR=%s: No such file or directory\n" % empty), "no OMPP_JOB_DIR")
    done = harness.execute([harness.command("ompp-report"), "merge", "--list"], folder, OMPP_JOB_DIR=os.path.join(folder, "job"))
    verdict.equal((done.status, len(done.out.splitlines())), (0, 1), "OMPP_JOB_DIR: " + done.out + done.err)


def check_stays(verdict, folder, title, why, before=(), words=("job",)):
    """Its report is written, but its files stay, and a line says why. before: what the command is started by; words: what is named."""
    files, to = left(folder), os.path.join(folder, "to-" + title.replace(" ", "-"))
    os.mkdir(to)
    done = harness.execute([*before, harness.command("ompp-report"), "merge", "--remove", "--to=" + to, *words], folder)
    verdict.equal((done.status, len(glob.glob(os.path.join(to, "*.xml")))), (1, 1), "%s: merge --remove: %s" % (title, done.err))
    verdict.check(re.search("not removed: .*" + why, done.err), "%s: what is said: %s" % (title, done.err))
    verdict.equal(left(folder), files, title + ": files")


def with_two_living(verdict, folder, title, program, look, before=()):
    """Calls look() while one rank waits and the other one is in MPI_Finalize; the run ends as if nobody had looked."""
    os.makedirs(os.path.join(folder, "job"))
    words = [*before, harness.mpirun(), *harness.launcher_options(harness.mpirun()), "-n", "2", program, "wait"]
    settings = harness.environment(OMP_NUM_THREADS=THREADS, OMPP_JOB_DIR=os.path.join(folder, "job"))
    process = subprocess.Popen(words, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    try:
        harness.wait_for(lambda: "; its measurement is over" in report("merge", "--list", "job", folder=folder).out, "a rank in MPI_Finalize")
        look()
    finally:
        open(os.path.join(folder, "go"), "w").close()
        out, _ = process.communicate(timeout=harness.LIMIT)
    verdict.equal((process.returncode, left(folder)), (0, []), title + ": the end of the run: " + out)


def check_not_collected(verdict, folder, title, before=()):
    done = harness.execute([*before, harness.command("ompp-report"), "collect", "--remove", "--to=copies", "job"], folder)
    verdict.equal((done.status, len(left(folder))), (1, 2), "%s: collect --remove: %s" % (title, done.err))


def test_living(verdict, scratch, program):
    folder = scratch.file("living", "x")[:-2]

    def look():
        check_stays(verdict, folder, "living", "a process of this run is still there")
        check_not_collected(verdict, folder, "living")

    with_two_living(verdict, folder, "living", program, look)


CONTAINER = ["unshare", *([] if os.geteuid() == 0 else ["-Ur"]), "--pid", "--fork", "--mount-proc"]
ALL_PROCESSES = 0xEFFFFFFC  # the PID namespace that sees all others


def begin_container(folder):
    """
    A container, and the words that run a command in it, in the folder. It is there before another one goes: the number of that one's namespace, which the
    system gives again, is not this one's.
    """
    holder = subprocess.Popen([*CONTAINER, "sleep", str(harness.LIMIT)], stderr=subprocess.DEVNULL)
    children = "/proc/%d/task/%d/children" % (holder.pid, holder.pid)
    harness.wait_for(lambda: open(children).read().split(), "a container")
    inside = open(children).read().split()[0]
    return holder, inside, ["nsenter", "--target", inside, "--pid", "--mount", "--wd=" + folder,
                            *([] if os.geteuid() == 0 else ["--user", "--preserve-credentials"])]


def test_containers(verdict, scratch, program):
    """Processes with ids of another namespace, on a machine of the same name, are not gone because those ids are nobody's here."""
    if not shutil.which(CONTAINER[0]) or harness.execute([*CONTAINER, "true"], scratch.path).status:
        print("note: no PID namespaces here: containers are not tested")
        return
    folder = scratch.file("container", "x")[:-2]

    def look():
        verdict.check(all(re.search("/ompp-[0-9]+-[0-9]+-[0-9a-f]+-[0-9a-f]+$", path) for path in left(folder)), "names: %s" % left(folder))
        check_stays(verdict, folder, "living in a container", "a process of this run is still there")
        check_stays(verdict, folder, "seen from another one", "PID namespace", CONTAINER)
        check_not_collected(verdict, folder, "living in a container")
        check_not_collected(verdict, folder, "seen from another one", CONTAINER)

    with_two_living(verdict, folder, "container", program, look, CONTAINER)
    folder = scratch.file("gone", "x")[:-2]
    os.makedirs(os.path.join(folder, "job"))
    holder, inside, enter = begin_container(folder)
    harness.execute([*CONTAINER, harness.mpirun(), *harness.launcher_options(harness.mpirun()), "-n", str(RANKS), program, "kill"], folder,
                    OMP_NUM_THREADS=THREADS, OMPP_JOB_DIR=os.path.join(folder, "job"))
    verdict.equal(len(left(folder)), RANKS, "a container that is gone: files left")
    check_stays(verdict, folder, "gone, seen from another one", "PID namespace", enter)
    os.kill(int(inside), signal.SIGKILL)
    holder.wait()
    if os.stat("/proc/self/ns/pid").st_ino != ALL_PROCESSES:
        print("note: this is a container: what has gone in others is not seen")
        return
    done = report("merge", "--remove", "job", folder=folder)
    verdict.equal((done.status, left(folder)), (0, []), "a container that is gone: " + done.err)


def test_others(verdict, scratch, program):
    """What is another user's, or of another machine, is not removed."""
    folder = scratch.file("elsewhere", "x")[:-2]
    host = os.uname().nodename.encode()
    for path in killed(folder, program):
        with open(path, "r+b") as file:
            data = file.read()
            file.seek(0)
            file.write(data.replace(host, host[:-1] + b"~"))
    check_stays(verdict, folder, "elsewhere", "its node")
    if os.geteuid() != 0:
        print("note: not tested with files of another user")
        return
    folder = scratch.file("others", "x")[:-2]
    for path in killed(folder, program):
        os.chown(path, 65534, 65534)
    check_stays(verdict, folder, "others", "another user's", words=left(folder))
    done = report("merge", "job", folder=folder)
    verdict.equal((done.status, glob.glob(os.path.join(folder, "*.xml"))), (1, []), "others, found and not named: " + done.err)
    verdict.check("name a file to read it: %d found there are another user's" % RANKS in done.err, "others, found: what is said: " + done.err)
    done = harness.execute([harness.command("ompp-report"), "merge", "--list"], folder, OMPP_JOB_DIR=os.path.join(folder, "job"))
    verdict.equal((done.status, done.out), (1, ""), "others: --list: " + done.err)


def test_reports_of_ranks(verdict, scratch, program):
    wanted = {"merged": 1, "ranks": RANKS, "both": RANKS + 1}
    for what, number in wanted.items():
        folder = scratch.file("reports-" + what, "x")[:-2]
        outcome = run(program, folder, "good", OMPP_MPI_REPORT=what)
        verdict.equal((outcome.status, outcome.messages()), (0, []), what + ": status and messages")
        names = [os.path.basename(path) for path in outcome.reports("txt")]
        alone = ["left:%d.%d-0.ompp.txt" % (rank, THREADS) for rank in range(RANKS)]
        verdict.equal(names, ([] if what == "ranks" else ["left.%dx%d-0.ompp.txt" % (RANKS, THREADS)])
                      + ([] if what == "merged" else alone), what + ": names")
        verdict.equal(left(folder), [], what + ": files left")
        for path in outcome.reports():
            profile = harness.ompp_profile.Profile(path)
            verdict.profile(profile, what)
            rank = re.search(r":(\d+)\.", os.path.basename(path))
            steps = profile.total("execC", profile.find("USER REGION", name="step"))
            verdict.equal(steps, {(int(rank[1]), 0): 2 * STEP} if rank else {(r, 0): 2 * STEP for r in range(RANKS)}, what + ": steps")
            verdict.equal({r["end"] for r in profile.ranks}, {"final"}, what + ": ends")
            if rank:
                text = open(path[:-3] + "txt").read()
                verdict.check(re.search(r"^MPI my rank +: %s$" % rank[1], text, re.M), what + ": MPI my rank")


def main():
    verdict, scratch = harness.Verdict("left"), harness.Scratch("left")
    harness.mpirun()
    try:
        program = scratch.file("left")
        harness.build(SOURCE, program, harness.sources()[0], mpi=True)
        folders = [test_way(verdict, scratch, program, way) for way in sys.argv[1:] or WAYS]
        if not sys.argv[1:]:
            test_collect(verdict, folders[0])
            test_checkpoint(verdict, scratch, program)
            test_stale(verdict, scratch, program)
            test_newest(verdict, scratch, program)
            test_foreign(verdict, scratch, program)
            test_named_place(verdict, scratch, program)
            test_living(verdict, scratch, program)
            test_containers(verdict, scratch, program)
            test_others(verdict, scratch, program)
            test_reports_of_ranks(verdict, scratch, program)
    except harness.Failure as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
