#!/usr/bin/env python3
"""
One process of a program is killed from outside at a random moment of its life: before and in MPI_Init, while it works, while its report is
made and written. What is left becomes one whole report, in which no count is above what the program did, or the report was written by then;
of a process that has not begun to be measured one line says so. No file under a final name is empty or half, nothing hangs.

By hand: kills.py [RUNS [SEED [PHASE...]]]   (30 runs in make check, 200 to be sure). The seed is printed.
"""

import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import faults
import harness

FEW, ROUNDS = 30, 30
SIGNALS = ("SIGKILL", "SIGSEGV", "SIGTERM", "SIGABRT")
PHASES = ("start", "work", "end")
SETTINGS = ({}, {}, {"OMPP_CAUSAL": "virtual"}, {"OMPP_CAUSAL": "delay"}, {"OMPP_DATA": "account"}, {"OMPP_CHECKPOINT": "0.05"})
RANKS = (1, 2, 4)
THREADS = faults.THREADS
# Open MPI's handler of SIGABRT and SIGSEGV asks for memory. A signal that comes inside malloc makes it wait for ever, also without ompp.
NO_HANDLER = {"OMPI_MCA_opal_signal": ""}
PATIENCE = 60  # seconds until a run counts as hanging


def serial_builds(scratch):
    """[("none", event source, program, None)]"""
    found = []
    for how in harness.sources() + harness.plain_sources():
        program, plain = scratch.file("none", how, "faults"), how == "gomp"
        harness.build(faults.SOURCE, program, "opari" if plain else how, flags=("-O1", "-g", "-DSERIAL", *["-DPLAIN"] * plain), instrument=not plain)
        found.append(("none", how, program, None))
    return found


def launch(case, folder, rounds):
    name, how, program, launcher = case["program"]
    words = [*([harness.command("ompp"), "--"] if how == "gomp" else []), program, folder, str(rounds), "-1", "none", "0"]
    if launcher:
        words = [launcher, *(["--oversubscribe", "--allow-run-as-root"] if name == "openmpi" else []), "-n", str(case["ranks"]), *words]
    changes = {"OMPP_JOB_DIR": os.path.join(folder, "job"), "OMP_NUM_THREADS": THREADS, **(NO_HANDLER if case.get("signal") in (signal.SIGABRT, signal.SIGSEGV) else {}), **case["settings"]}
    return subprocess.Popen(words, cwd=folder, env=harness.environment(**changes), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            universal_newlines=True, errors="replace", start_new_session=True)


def wait_for(process, there):
    """Until it holds or the process has ended; busily, for moments are to be short."""
    end = time.time() + PATIENCE
    while not there() and process.poll() is None and time.time() < end:
        time.sleep(0.0002)
    return there()


def marked(folder, what, rank):
    return lambda: os.path.exists(os.path.join(folder, "%s.%d" % (what, rank)))


def has_begun(folder, case):
    return lambda: len(faults.read_accounts(folder)) >= case["ranks"] * THREADS


def calibrate(folder, case):
    """Seconds from the begin of the process to main(), from there to the first account, and from its last work to its report."""
    os.makedirs(os.path.join(folder, "job"))
    t = [time.monotonic()]
    process = launch(case, folder, ROUNDS)
    def has_report():
        return glob.glob(folder + "/*.ompp.xml")

    for there in (marked(folder, "pid", 0), has_begun(folder, case), marked(folder, "ends", 0), has_report):
        wait_for(process, there)
        t.append(time.monotonic())
    _, err = process.communicate(timeout=PATIENCE)
    if process.returncode or not has_report():
        raise harness.Failure("%s: status %d: %s" % (case, process.returncode, err[-500:]))
    return {"begin": t[1] - t[0], "start": t[2] - t[1], "end": t[4] - t[3]}


def pid_of(folder, rank):
    with open(os.path.join(folder, "pid.%d" % rank)) as file:
        return int(file.read())


def kill_at(process, folder, case):
    """At the moment that is chosen in the phase. A process without launcher may be killed before its main(), too."""
    victim, share = case["victim"], case["moment"]
    if case["phase"] == "start" and not case["program"][3] and case["early"]:
        time.sleep(share * case["times"]["begin"])
        os.kill(process.pid, case["signal"])
        return
    wait_for(process, marked(folder, "pid", victim))
    if case["phase"] == "work":
        wait_for(process, has_begun(folder, case))
    if case["phase"] == "end":
        wait_for(process, marked(folder, "ends", victim))
    time.sleep(share * {"start": 1.2 * case["times"]["start"], "work": 0.3, "end": 1.2 * case["times"]["end"]}[case["phase"]])
    try:
        os.kill(pid_of(folder, victim), case["signal"])
    except (ProcessLookupError, FileNotFoundError):
        return


def is_whole(path):
    with open(path, errors="replace") as file:
        text = file.read()
    return text.endswith(">\n") if path.endswith(".xml") else "ompp Coverage" in text and text.endswith("\n")


def check_report(verdict, title, path, case, accounts, slack):
    check = harness.execute([harness.command("ompp-report"), "check", path], os.path.dirname(path))
    verdict.equal(check.status, 0, title + ": ompp-report check: " + check.out + check.err)
    profile = harness.ompp_profile.Profile(path)
    if slack:
        faults.check_counts(verdict, title, profile, accounts, case["program"][1])
        return profile
    for kind in faults.KINDS:
        if kind in faults.INVISIBLE.get(case["program"][1], ()) or (kind.startswith("MPI") and not case["program"][3]):
            continue
        found = profile.total("execC", faults.regions_of(profile, kind))
        for (rank, thread), account in accounts.items():
            if thread == 0 or kind in ("CRITICAL", "LOOP"):
                verdict.equal(found.get((rank, thread), 0), account[kind], "%s: rank %d thread %d: %s" % (title, rank, thread, kind))
    return profile


def is_incomplete(path):
    return any(line["kind"] == "incomplete" for line in harness.ompp_profile.Profile(path).coverage)


def check_left(verdict, title, folder, case, err):
    """Returns what there was: a report of the program, one of what it left, or a line."""
    for path in glob.glob(folder + "/*.ompp.*"):
        verdict.check(os.path.getsize(path) > 0, "%s: 0 bytes: %s" % (title, path))
        if path.endswith(("txt", "xml")):
            verdict.check(is_whole(path), "%s: half: %s" % (title, path))
    accounts = faults.read_accounts(folder)
    if not case["program"][3]:
        accounts = {key: {kind: 0 if kind.startswith("MPI") else count for kind, count in account.items()} for key, account in accounts.items()}
    worked = sum(sum(account.values()) for account in accounts.values())
    written = glob.glob(folder + "/*x*-0.ompp.xml") if case["program"][3] else glob.glob(folder + "/*-0.ompp.xml")
    complete = [path for path in written if not is_incomplete(path)]
    for path in written:
        check_report(verdict, title + ", as written", path, case, accounts, path not in complete)
    done = faults.merge(folder, "job", to="merged")
    made = glob.glob(folder + "/merged/*.ompp.xml")
    if done.status == 0:
        if verdict.equal(len(made), 1, "%s: reports of what was left: %s%s" % (title, done.out, done.err)):
            ranks = {int(rank["rank"]) for rank in harness.ompp_profile.Profile(made[0]).ranks}
            if complete:  # the file of a rank may have gone by then
                accounts = {key: account for key, account in accounts.items() if key[0] in ranks}
            profile = check_report(verdict, title + ", merged", made[0], case, accounts, True)
            verdict.profile(profile, title)
            verdict.check(len(ranks) == case["ranks"] or not worked or complete, "%s: %d ranks in the report" % (title, len(ranks)))
            return "merged" + (", written before" if complete else "")
    lines = done.err.splitlines()
    verdict.equal((done.status, len(lines), made), (1, 1, []), "%s: nothing was left: %s" % (title, done.err))
    verdict.check(complete or not worked, "%s: no report: %s%s" % (title, done.err, err[-300:]))
    return "written" if complete else "line: " + lines[0][:100] if lines else "nothing"


def end_of(process, folder):
    """Waits until no process of the program is there; what was said on stderr. Open MPI's launcher may wait for ever for processes that
    died in MPI_Init, also without ompp: it is told to end."""
    for _ in range(2 * PATIENCE):
        try:
            return process.communicate(timeout=0.5)[1]
        except subprocess.TimeoutExpired:
            if not [pid for pid in faults.children_of(folder) if pid != process.pid]:
                try:
                    return process.communicate(timeout=PATIENCE / 10)[1]
                except subprocess.TimeoutExpired:
                    print("note: the launcher does not end although all processes of the program have")
                    break
    process.kill()
    return process.communicate()[1]


def try_once(verdict, scratch, number, case):
    title = "run %d (%s, %s of %s, %s, %d ranks, rank %d, %s at %.3f of it%s)" % (
        number, case["signal"].name, case["phase"], *case["program"][:2], case["ranks"], case["victim"], case["settings"], case["moment"],
        ", early" if case["early"] else "")
    folder = scratch.file("run-%d" % number, "x")[:-2]
    for name in ("job", "merged"):
        os.makedirs(os.path.join(folder, name))
    process = launch(case, folder, 100000 if case["phase"] == "work" else ROUNDS)
    kill_at(process, folder, case)
    err = end_of(process, folder)
    for _ in range(10 * PATIENCE):  # some are about to end
        if not faults.children_of(folder):
            break
        time.sleep(0.1)
    verdict.equal(faults.children_of(folder), [], title + ": hangs")
    before = len(verdict.failed)
    result = check_left(verdict, title, folder, case, err)
    if len(verdict.failed) == before:
        shutil.rmtree(folder)
    return result


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else FEW
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    phases = sys.argv[3:] or PHASES
    verdict, scratch, rng = harness.Verdict("kills"), harness.Scratch("kills"), random.Random(seed)
    print("seed %d, %d runs" % (seed, runs))
    times, results = {}, {}
    programs = (faults.builds(scratch) if shutil.which("mpirun.openmpi") or shutil.which("mpirun.mpich") else []) + serial_builds(scratch)
    for number in range(runs):
        program = programs[number % len(programs)]
        case = {"program": program, "phase": phases[number // len(programs) % len(phases)], "settings": rng.choice(SETTINGS),
                "ranks": rng.choice(RANKS) if program[3] else 1, "signal": signal.Signals[rng.choice(SIGNALS)], "moment": rng.random(),
                "early": rng.random() < 0.5}
        case["victim"] = rng.randrange(case["ranks"])
        key = (*program[:2], case["ranks"], *case["settings"].items())
        try:
            if key not in times:
                times[key] = calibrate(scratch.file("calibrate-%d" % number, "x")[:-2], case)
            case["times"] = times[key]
            result = try_once(verdict, scratch, number, case)
        except (harness.Failure, subprocess.TimeoutExpired) as failure:
            verdict.check(False, "run %d: %s" % (number, failure))
            result = "failed"
        results[case["phase"], result] = results.get((case["phase"], result), 0) + 1
    for (phase, result), n in sorted(results.items()):
        print("%-6s %3d %s" % (phase, n, result))
    verdict.finish(scratch)


main()
