#!/usr/bin/env python3
"""
Programs that lock all their memory: mlockall says what it says without, addresses that are only reserved are not backed, and counts of
hooks are the same; with hooks, with page faults counted beside them, and with page faults alone, behind ompp. With rights to lock any
amount, and without, under a limit that is enough for the plain program.
"""

import ctypes
import os
import resource
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import harness  # noqa: E402
import memory  # noqa: E402

SOURCE = os.path.join(memory.HERE, "locked.c")
PR_CAPBSET_DROP, CAP_IPC_LOCK = 24, 14


def limited(bytes_):
    """Of the child: no right to lock more than this. Only root can give up the right for what it executes."""
    def change():
        if os.geteuid() == 0 and ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0) != 0:
            os._exit(99)
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (bytes_, bytes_))
    return change


def run(words, folder, how, change, **settings):
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run([*words, how], cwd=folder, env=harness.environment(OMP_NUM_THREADS=4, OMPP_DATA="early", **settings),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.LIMIT, universal_newlines=True, preexec_fn=change)
    return harness.Outcome(done.returncode, done.stdout, done.stderr, folder)


def check(verdict, title, found, wanted, hooks):
    verdict.equal((found.status, found.out), (wanted.status, wanted.out), "%s: %s" % (title, found.err[-300:]))
    if not verdict.check(len(found.reports()) == 1, "%s: no report: %s" % (title, found.err[-300:])):
        return
    profile = found.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    if hooks:
        verdict.equal(memory.counts(profile, "early")[memory.LOADS], 4 * 4096, title + ": loads")


def main():
    verdict, scratch = harness.Verdict("locked"), harness.Scratch("locked")
    for kind, compiler in memory.compilers("gcc", "clang"):
        plain, hooked = scratch.file(kind, "plain"), scratch.file(kind, "hooked")
        harness.execute([compiler, "-fopenmp", "-g", "-O1", SOURCE, "-o", plain], scratch.path)
        memory.build(compiler, SOURCE, hooked, "-O1")
        ways = {"hooks": ([hooked], True, {}), "hooks and page faults": ([hooked], True, {"OMPP_DATA_BACKEND": "hooks,page-faults"}),
                "page faults": ([harness.command("ompp"), "--", plain], False, {"OMPP_DATA_BACKEND": "page-faults"})}
        # Of limits, 1 GiB is more than the program has and less than what is reserved; with 0 nothing may be locked.
        hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
        limits = [("none", None)] if os.geteuid() == 0 or hard == resource.RLIM_INFINITY else []
        limits += [("1 GiB", limited(1 << 30))] if hard == resource.RLIM_INFINITY or hard >= 1 << 30 else []
        for limit, change in limits + [("0", limited(0))]:
            for how in ("none", "current", "future", "both", "fault", "long", "cancel"):
                folder = scratch.file(kind, "plain-" + how + limit[0], "x")[:-2]
                wanted = verdict.unmeasured("%s, %s, limit: %s" % (kind, how, limit), lambda: run([plain], folder, how, change))
                for way, (words, hooks, settings) in ways.items() if wanted else ():
                    title = "%s, %s, %s, limit: %s" % (kind, way, how, limit)
                    check(verdict, title, run(words, scratch.file(title.replace(" ", "-"), "x")[:-2], how, change, **settings), wanted, hooks)
    verdict.finish(scratch)


main()
