#!/usr/bin/env python3
"""
Programs with rights that their caller lacks (setuid, setgid): nothing of the environment counts, nothing is opened, written or
executed for the caller, and the program runs as without us. Every variable that could lead somewhere is set. Needs root, which can
make such programs and be another user.
"""

import os
import subprocess
import sys

import harness

NOBODY = 65534
HERE = os.path.dirname(os.path.abspath(__file__))


def run(program, folder, environment):
    return subprocess.run([program], cwd=folder, env=environment, user=NOBODY, group=NOBODY, extra_groups=[],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=harness.LIMIT)


def variants():
    """How programs are built: what they call of us."""
    for how in harness.sources():
        yield how, how, [], []
        yield how + " functions", how, [], ["-finstrument-functions"]
        yield how + " memory", how, ["--memory"], []


def build(program, how, options, flags):
    words = [harness.command("kinst-ompp"), "--with=" + how, *options, harness.COMPILERS[how], "-fopenmp", "-pthread", "-g", *flags,
             os.path.join(HERE, "secure.c"), "-o", program, "-ldl"]
    done = harness.execute(words, os.path.dirname(program))
    if done.status:
        raise harness.Failure("cannot build: " + done.err)


def files(folder):
    return sorted(name for _, _, names in os.walk(folder) for name in names)


def is_alive(name):
    """Whether the process of this profile still runs: a test beside this one."""
    return os.path.exists("/proc/" + name.split("-")[2]) if name.count("-") > 2 else False


def main():
    if os.geteuid() != 0:
        harness.skip("only root can make setuid programs for others")
    verdict = harness.Verdict("secure")
    scratch = harness.Scratch("secure")
    top = scratch.path
    os.chmod(top, 0o755)
    if os.statvfs(top).f_flag & os.ST_NOSUID:
        harness.skip("%s does not allow setuid programs" % top)
    trap = os.path.join(top, "trap.so")
    open_to_all = os.path.join(top, "open")
    os.mkdir(open_to_all)
    os.chmod(open_to_all, 0o777)
    code = '__attribute__((constructor)) static void f(void) { FILE *o = fopen("%s/loaded", "w"); if (o) fclose(o); }' % open_to_all
    subprocess.run([harness.COMPILERS["opari"], "-shared", "-fPIC", "-xc", "-", "-o", trap], check=True, text=True,
                   input="#include <stdio.h>\n" + code + "\n")
    environment = {**os.environ, "OMPP_REPORT_LIB": trap, "OMPP_OUTDIR": open_to_all, "OMPP_JOB_DIR": open_to_all,
                   "OMPP_REPORTFILE": os.path.join(open_to_all, "report"), "OMPP_CHILDREN": "1", "OMPP_DUMP_INTERVAL": "0.01",
                   "OMPP_CHECKPOINT": "0.01", "OMPP_CAUSAL": "virtual", "OMPP_DATA": "sum", "OMPP_CTR1": "perf::PAGE-FAULTS",
                   "OMPP_VERBOSE": "2", "_OMPP_COMMAND": "/bin/true", "_OMPP_RESTORE": "LD_PRELOAD", "OMPP_MISSPELT": "1"}
    for build_title, how, options, flags in variants():
        program = os.path.join(top, build_title.replace(" ", "-"))
        build(program, how, options, flags)
        for what, mode, secure in (("plain", 0o755, 0), ("setuid", 0o4755, 1), ("setgid", 0o2755, 1)):
            os.chmod(program, mode)
            before, shared = files(top), set(os.listdir("/dev/shm"))
            done = run(program, open_to_all, environment)
            made = [name for name in files(top) if name not in before]
            title = "%s, %s: " % (build_title, what)
            verdict.equal((done.returncode, done.stdout), (7, "%d 18 3 %s\n" % (secure, open_to_all)), title + "status and output")
            if secure:
                verdict.equal(done.stderr, "", title + "messages")
                verdict.equal(made, [], title + "files")
                left = [name for name in set(os.listdir("/dev/shm")) - shared if name.startswith("ompp") and not is_alive(name)]
                verdict.equal(left, [], title + "files in /dev/shm")
            else:
                verdict.check(made, title + "the environment counts where the user is the caller: there are files")
            for name in made:
                os.remove(os.path.join(open_to_all, name))
    verdict.finish(scratch)


sys.exit(main())
