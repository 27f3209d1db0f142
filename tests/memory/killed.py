#!/usr/bin/env python3
"""A process that is killed leaves all the loads and stores that its threads have made, also those in the regions that were open: each
count is the one of the program's own account, or one more. By hand: killed.py [RUNS [SEED]]."""

import os
import random
import signal
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

THREADS, MISSING = 2, "last changed its region"
KINDS = (("often", memory.LOADS, 0), ("to", memory.STORES, 1), ("to", memory.BLOCK_STORES, 1), ("stays", memory.STORES, 2))


def kill(program, folder, after, *args, **changes):
    """Runs it and kills it so many seconds after its threads have begun; its accounts by thread."""
    os.makedirs(os.path.join(folder, "job"))
    account = os.path.join(folder, "account")
    process = subprocess.Popen([program, account, *args], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=harness.environment(OMPP_JOB_DIR=os.path.join(folder, "job"), OMP_NUM_THREADS=THREADS, **changes))
    end = time.time() + harness.LIMIT
    while time.time() < end and process.poll() is None and sum(sum(a) for a in accounts_of(account)) == 0:
        time.sleep(0.005)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return accounts_of(account)


def accounts_of(path):
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        data = b""
    return [struct.unpack("3Q", data[24 * t:24 * t + 24]) for t in range(len(data) // 24)]


def merged(folder):
    """The report of what is left."""
    done = harness.execute([harness.command("ompp-report"), "merge", "--to=" + folder, os.path.join(folder, "job")], folder)
    if done.status != 0:
        raise harness.Failure("ompp-report merge: " + done.err)
    profile = harness.ompp_profile.Profile(next(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".xml")))
    profile.root = ElementTree.parse(profile.path).getroot()
    return profile


def check(verdict, title, profile, accounts):
    for structure, value, kind in KINDS:
        found = memory.counts(profile, structure, by_thread=True)
        for thread, account in enumerate(accounts):
            count = found.get(thread, [0] * 8)[value]
            verdict.check(0 <= count - account[kind] <= 1, "%s: %s, value %d, thread %d: %d by its own account, %d in the report"
                          % (title, structure, value, thread, account[kind], count))
    told = [c for c in profile.coverage if MISSING in c.get("subject", "")]
    verdict.equal(told, [], title + ": counts that are said to be missing")


def not_there(verdict, scratch, title, program, *args, **changes):
    """Where counts of the regions that were open are not in what is left, Coverage says it and names the regions."""
    folder = scratch.file(title.replace(", ", "-").replace(" ", "-"))
    kill(program, folder, 0.1, *args, **changes)
    profile = merged(folder)
    told = [c.get("reason") for c in profile.coverage if MISSING in c.get("subject", "")]
    refused = [c for c in profile.coverage if c["kind"] == "refused"]
    verdict.check(refused or len(told) == 1 and ("PARALLEL" in told[0] or "step" in told[0]), "%s: counts that are missing: %s" % (title, told))


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print("seed %d" % seed)
    choose, scratch, verdict = random.Random(seed), harness.Scratch("killed"), harness.Verdict("killed")
    for name, compiler in memory.compilers("gcc", "clang"):
        program = scratch.file("killed-" + name)
        memory.build(compiler, os.path.join(memory.HERE, "killed.c"), program, "-O1")
        for number in range(runs):
            title, folder = "%s, run %d" % (name, number), scratch.file("run-%s-%d" % (name, number))
            accounts = kill(program, folder, choose.uniform(0, 0.02 if number % 2 else 0.6))
            profile = merged(folder)
            verdict.profile(profile, title)
            check(verdict, title, profile, accounts)
        not_there(verdict, scratch, name + ", little memory", program, "many", OMPP_MEMORY="300k")
        not_there(verdict, scratch, name + ", counter", program, OMPP_CTR1="perf::PAGE-FAULTS")
    verdict.finish(scratch)


main()
