#!/usr/bin/env python3
"""
Fault injection: a random rank of a hybrid program ends at a random moment in a random way (SIGKILL, SIGSEGV, abort, _exit, MPI_Abort,
out of memory; walltime: the launcher is told to end, then killed). What is left becomes a report in which every count is the one that
the program's own account has, or one more; the parts of each thread's time add up to the time of the last event. Nothing hangs, no
process is left, and a good end leaves no file.

By hand: faults.py [RUNS [SEED [WAY...]]]   (12 runs in make check). The seed is printed.
"""

import glob
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import harness

SOURCE = os.path.join(harness.HERE, "faults.c")
WAYS = ("kill", "segv", "abort", "_exit", "mpi_abort", "memory", "walltime", "good")
KINDS = ("step", "PARALLEL", "CRITICAL", "LOOP", "MPI_Allreduce", "MPI_Sendrecv")
INVISIBLE = {"gomp": ("step", "LOOP")}  # to who measures a program that nobody rebuilt
RANKS, THREADS = (2, 3), 2
FEW, LATEST_US = 12, 400000
CLOCK_DELAY = 3.0 # seconds
PATIENCE = 60  # seconds until a run counts as hanging
executed = 0 # constructs and calls in all accounts
MEMORY_GROUP = "/sys/fs/cgroup/memory/ompp-faults-%d" % os.getpid()


def make_memory_group():
    """A group of processes with little memory, where the system lets us; its list of members, or None."""
    try:
        os.mkdir(MEMORY_GROUP)
        with open(os.path.join(MEMORY_GROUP, "memory.limit_in_bytes"), "w") as limit:
            limit.write("64M")
        return os.path.join(MEMORY_GROUP, "cgroup.procs")
    except OSError:
        print("note: no memory group here: out of memory is an address space limit")
        return None


def builds(scratch):
    """[(MPI, event source, program, launcher)] for each MPI and each compiler that are here."""
    found = []
    for name in ("openmpi", "mpich"):
        launcher, compiler = "mpirun." + name, "mpicc." + name
        if not shutil.which(launcher) or not shutil.which(compiler):
            continue
        os.environ["MPICC"] = compiler
        for how in harness.sources() + harness.plain_sources():
            program, plain = scratch.file(name, how, "faults"), how == "gomp"
            try:
                harness.build(SOURCE, program, "opari" if plain else how, mpi=True, flags=("-O1", "-g", *["-DPLAIN"] * plain), instrument=not plain)
                if plain or "ompp-mpi" in subprocess.run(["ldd", program], stdout=subprocess.PIPE, universal_newlines=True).stdout:
                    found.append((name, how, program, launcher))
            except harness.Failure as failure:
                print("note: not tested with %s, %s: %s" % (name, how, str(failure)[:200]))
    return found or harness.skip("no MPI here")


def children_of(folder):
    """Processes of the run that live: those whose command line has the folder."""
    alive = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read()
            with open(path.replace("cmdline", "stat")) as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if folder.encode() in words and b"faults" in words and state not in "ZX" and int(path.split("/")[2]) != os.getpid():
            alive.append(int(path.split("/")[2]))
    return alive


def launch(case, folder, group):
    name, how, program, launcher = case["program"]
    before = [harness.command("ompp"), "--"] if how == "gomp" else []
    options = ["--oversubscribe", "--allow-run-as-root"] if name == "openmpi" else []
    rounds = 30 if case["way"] == "good" else 100000
    victim = -1 if case["way"] in ("good", "walltime") else case["victim"]
    words = [launcher, *options, "-n", str(case["ranks"]), *before, program, folder, str(rounds), str(victim), case["way"], str(case["after"])]
    changes = {"OMPP_JOB_DIR": os.path.join(folder, "job"), "OMP_NUM_THREADS": THREADS}
    if group:
        changes["FAULTS_CGROUP"] = group
    return subprocess.Popen(words, cwd=folder, env=harness.environment(**changes), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            universal_newlines=True, errors="replace", start_new_session=True)


def begun(folder, case):
    """Waits until all threads of all ranks have an account."""
    end = time.time() + PATIENCE
    while len(read_accounts(folder)) < case["ranks"] * THREADS and time.time() < end:
        time.sleep(0.05)


def wait(process, folder, case):
    """(status, stderr), or None when it hangs; as a batch system does it when the time is over."""
    try:
        if case["way"] == "walltime":
            begun(folder, case)
            time.sleep(0.1 + case["after"] / 1e6)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            process.kill()
        _, err = process.communicate(timeout=PATIENCE)
        return process.returncode, err
    except subprocess.TimeoutExpired:
        process.kill()
        return None


def read_accounts(folder):
    """{(rank, thread): {kind: count}}"""
    accounts = {}
    for path in glob.glob(os.path.join(folder, "account.*")):
        rank, thread = (int(n) for n in path.rsplit(".", 2)[1:])
        with open(path, "rb") as file:
            data = file.read()
        counts = struct.unpack("6I", data) if len(data) == 24 else (0,) * 6
        accounts[rank, thread] = dict(zip(KINDS, counts))
    return accounts


def regions_of(profile, kind):
    if kind == "step":
        return profile.find("USER REGION", name="step")
    return profile.find("MPI", name=kind) if kind.startswith("MPI_") else profile.find(kind)


def check_counts(verdict, title, profile, accounts, how):
    for kind in KINDS:
        if kind in INVISIBLE.get(how, ()):
            continue
        found = profile.total("execC", regions_of(profile, kind))
        for (rank, thread), account in accounts.items():
            if thread > 0 and kind not in ("CRITICAL", "LOOP"):
                continue
            count = found.get((rank, thread), 0)
            verdict.check(0 <= count - account[kind] <= 1, "%s: rank %d thread %d: %s %d times by its own account, %d in the report"
                          % (title, rank, thread, kind, account[kind], count))


def last_events(profile):
    """{rank: end of its first thread} and {rank: where the region "all", that is open to the end, ends by its own times}."""
    root = harness.ompp_profile.ElementTree.parse(profile.path).getroot()
    number = harness.ompp_profile.number
    ends = {number(e, "rank"): number(e, "end-ns") for e in root.iter("location") if number(e, "tid") == 0}
    begins, regions = {}, {r.id for r in profile.find("USER REGION", name="all")}
    for e in root.find("nodes"):
        if e.get("region") is not None and int(e.get("region")) in regions:
            begins[int(e.get("id"))] = number(e, "first-ns")
    sums = {}
    for node in profile.nodes:
        if node.id in begins:
            for rank, thread in node.phases:
                if thread == 0:
                    sums[rank] = profile.column("execT", node, (rank, 0))
    return ends, begins, sums


def check_times(verdict, title, profile, accounts):
    """Of one rank's report: begin of "all" and its time make the time of the last event."""
    ends, begins, sums = last_events(profile)
    ranks = {int(rank["rank"]) for rank in profile.ranks}
    verdict.check(sums or not any(sum(account.values()) for (rank, _), account in accounts.items() if rank in ranks),
                  title + ": nothing to be added up")
    for rank, time_ns in sums.items():
        begin = min(begins.values())
        verdict.check(begin + time_ns == ends[rank], "%s: rank %d: begins at %d, takes %d ns, last event at %d"
                      % (title, rank, begin, time_ns, ends[rank]))


def check_clock(verdict, title, profile, folder):
    """The last event is when the rank's threads last wrote into their accounts, by the clock of the file system; delays are those of the machine."""
    for rank in profile.ranks:
        number = int(rank["rank"])
        paths = glob.glob(os.path.join(folder, "account.%d.*" % number))
        if not paths:
            continue  # it died before it had one
        written = max(os.stat(path).st_mtime for path in paths)
        last = 1e-9 * (int(rank["begin-epoch-ns"]) + int(rank["duration-ns"]))
        verdict.check(abs(last - written) < CLOCK_DELAY, "%s: rank %d: last event %.3f s after the last entry in its accounts"
                      % (title, number, last - written))


def merge(folder, *words, to="."):
    return harness.execute([harness.command("ompp-report"), "merge", "--to=" + to, *words], folder)


def check_left(verdict, title, folder, case):
    accounts = read_accounts(folder)
    done = merge(folder, "job")
    profiles = [harness.ompp_profile.Profile(p) for p in glob.glob(os.path.join(folder, "*x*.ompp.xml"))]
    if not verdict.check(done.status == 0 and len(profiles) == 1, "%s: merge: %d, %d reports: %s"
                         % (title, done.status, len(profiles), done.err)):
        return
    profile = profiles[0]
    verdict.equal(len(profile.ranks), case["ranks"], title + ": ranks in the report")
    global executed
    executed += sum(sum(account.values()) for account in accounts.values())
    check_counts(verdict, title, profile, accounts, case["program"][1])
    check_clock(verdict, title, profile, folder)
    verdict.profile(profile, title)
    check = harness.execute([harness.command("ompp-report"), "check", profile.path], folder)
    verdict.equal(check.status, 0, title + ": ompp-report check: " + check.out + check.err)
    incomplete = [c for c in profile.coverage if c["kind"] == "incomplete"]
    verdict.equal(len(incomplete), case["ranks"], title + ": ranks whose last event is told")
    if "step" in INVISIBLE.get(case["program"][1], ()):
        return  # no region reaches to the last event
    for number, path in enumerate(sorted(glob.glob(os.path.join(folder, "job", "*")))):
        to = os.path.join(folder, "rank%d" % number)
        os.mkdir(to)
        os.rename(path, os.path.join(to, os.path.basename(path)))
        merge(to, ".")
        for one in glob.glob(os.path.join(to, "*.xml")):
            check_times(verdict, title, harness.ompp_profile.Profile(one), accounts)


def check_good(verdict, title, folder, case, status, err):
    verdict.equal(status, 0, title + ": status; " + err[-300:])
    verdict.equal(os.listdir(os.path.join(folder, "job")), [], title + ": files left")
    others = [name for name in os.listdir(folder) if name != "job" and not re.search(r"^(account|pid|ends|over)\.|\.ompp\.(txt|xml)$", name)]
    verdict.equal(others, [], title + ": files left beside the report")
    reports = glob.glob(os.path.join(folder, "*.ompp.xml"))
    if verdict.equal(len(reports), 1, title + ": reports"):
        check_counts(verdict, title, harness.ompp_profile.Profile(reports[0]), read_accounts(folder), case["program"][1])


def try_once(verdict, scratch, number, case, group):
    title = "run %d (%s, %s, %s, %d ranks, rank %d after %d us)" % (number, case["way"], *case["program"][:2], case["ranks"],
                                                                 case["victim"], case["after"])
    folder = scratch.file("run-%d" % number, "x")[:-2]
    os.makedirs(os.path.join(folder, "job"))
    ended = wait(launch(case, folder, group if case["way"] == "memory" else None), folder, case)
    if not verdict.check(ended, title + ": hangs"):
        return
    for _ in range(10 * PATIENCE):
        if not children_of(folder):
            break
        time.sleep(0.1)
    stray = children_of(folder)
    verdict.equal(stray, [], title + ": processes that are left")
    for pid in stray:
        os.kill(pid, signal.SIGKILL)
    before = len(verdict.failed)
    if case["way"] == "good":
        check_good(verdict, title, folder, case, *ended)
    else:
        # A launcher that is told to end may call that good.
        verdict.check(ended[0] != 0 or case["way"] == "walltime", title + ": a good status")
        check_left(verdict, title, folder, case)
    if len(verdict.failed) == before:
        shutil.rmtree(folder)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else FEW
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261121
    ways = sys.argv[3:] or WAYS
    verdict, scratch = harness.Verdict("faults"), harness.Scratch("faults")
    rng, group, counted = random.Random(seed), make_memory_group(), {}
    print("seed %d, %d runs" % (seed, runs))
    try:
        programs = builds(scratch)
        for number in range(runs):
            # All ways and programs come about equally often; which of them and when is left to chance.
            way = ways[number % len(ways)]
            case = {"way": way, "program": programs[sum(divmod(number, len(ways))) % len(programs)],
                    "ranks": rng.choice(RANKS), "after": rng.randrange(1000, LATEST_US)}
            case["victim"] = rng.randrange(case["ranks"])
            before = len(verdict.failed)
            try_once(verdict, scratch, number, case, group)
            key = (way, *case["program"][:2])
            good, bad = counted.get(key, (0, 0))
            failed = len(verdict.failed) > before
            counted[key] = (good + (not failed), bad + failed)
    finally:
        if group:
            os.rmdir(MEMORY_GROUP)
    for key, (good, bad) in sorted(counted.items()):
        print("%-10s %-8s %-6s %3d good, %d bad" % (*key, good, bad))
    print("%d executions of constructs and calls in the programs' accounts" % executed)
    verdict.check(executed > runs, "the programs have hardly done anything")
    verdict.finish(scratch)


if __name__ == "__main__":
    main()
