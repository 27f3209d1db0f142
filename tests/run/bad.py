#!/usr/bin/env python3
"""
Bad cases: a wrong setting, no room, a program that does not end as it should. Each: the program's result, exit status and output
are those of the unmeasured program, and there is as many lines from us on stderr as the case deserves, for the whole run.
"""

import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import harness

THREADS, RANKS = 2, 2
LIMIT_BYTES = 4096 # of a file, when no small file system can be mounted


class Case:
    """lines: messages that must come; report: whether there must be one in the folder of the run; says: words in the first message."""

    def __init__(self, name, argument="nothing", mpi=False, lines=1, report=True, says=(), flags=("-O0", "-g"), limit=0, **settings):
        self.name, self.argument, self.mpi, self.lines, self.report = name, argument, mpi, lines, report
        self.says, self.flags, self.limit, self.settings = says, flags, limit, settings


def full_file_system(scratch):
    """A mounted file system without room, or None where we may not mount."""
    folder = scratch.file("full", "x")[:-2]
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "ompp-test", folder], stderr=subprocess.DEVNULL).returncode:
        return None
    try:
        with open(os.path.join(folder, "filler"), "wb") as out:
            out.write(b"x" * (1 << 20))
    except OSError:
        pass
    return folder


def read_only_file_system(scratch):
    """The same without the right to write, also for root."""
    folder = scratch.file("read-only", "x")[:-2]
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "ompp-test", folder], stderr=subprocess.DEVNULL)
    return folder if done.returncode == 0 else None


def cases(scratch, full, read_only):
    a_file = scratch.file("not-a-folder")
    open(a_file, "w").close()
    a_script = scratch.file("a-script")
    with open(a_script, "w") as file:
        file.write("#!/bin/sh\n")
    result = [
        Case("nothing wrong", lines=0),
        Case("nothing wrong, MPI", mpi=True, lines=0),
        Case("report folder missing", says=("set OMPP_OUTDIR to a directory that you can write to: cannot write the report /nonexistent/folder/bad_omp.2-0.ompp.txt (No such file",), OMPP_OUTDIR="/nonexistent/folder"),
        Case("report folder missing, MPI", mpi=True, OMPP_OUTDIR="/nonexistent/folder"),
        Case("report folder is a file", says=("(Not a directory)",), OMPP_OUTDIR=a_file),
        Case("report file in a folder that is missing", report=None, says=("set OMPP_REPORTFILE to a file that you can write to: ", "/nonexistent/name (No such file"),
             OMPP_REPORTFILE="/nonexistent/name"),
        Case("report file is a folder", says=("(Is a directory)",), OMPP_REPORTFILE="."),
        Case("report file is a program", report=None, says=("a-script (another file is there); it is ",), OMPP_REPORTFILE=a_script),
        Case("arena folder missing", says=("set OMPP_JOB_DIR to a directory that you can write to: ", "memory only (/nonexistent/folder/ompp-", "No such file"),
             OMPP_JOB_DIR="/nonexistent/folder"),
        Case("arena folder missing, MPI", mpi=True, says=("memory only (/nonexistent/folder/ompp-",), OMPP_JOB_DIR="/nonexistent/folder"),
        Case("unknown variable", says=("OMPP_NO_SUCH",), OMPP_NO_SUCH="1"),
        Case("unknown variable, MPI", mpi=True, says=("OMPP_NO_SUCH",), OMPP_NO_SUCH="1"),
        Case("bad value", says=("OMPP_TIME_DIGITS",), OMPP_TIME_DIGITS="many"),
        Case("bad value, quiet", lines=0, OMPP_TIME_DIGITS="many", OMPP_QUIET="1"),
        Case("file size limit", lines=(1, 2), report=None, limit=LIMIT_BYTES,
             says=("set a larger ulimit -f: ", "memory only (", "larger than ulimit -f allows")),
        Case("rank exits without finalize", "exit", mpi=True, lines=(0, 2), report=None),
        Case("rank calls MPI_Abort", "abort", mpi=True, lines=(0, 2), report=None),
        Case("rank dies by a signal", "kill", mpi=True, lines=(0, 1), report=None),
        Case("no debug information", lines=(0, 1), flags=("-O0",)),
        Case("chdir", "chdir", lines=0),
        Case("chdir, MPI", "chdir", mpi=True, lines=0),
        Case("fork", "fork", lines=0),
        Case("fork and exec", "exec", lines=0, report=None),
        Case("threads that end", "threads", lines=0),
        Case("a barrier that is cancelled", "cancel", lines=0, OMP_CANCELLATION="true"),
    ]
    if full:
        result += [Case("disk full", says=("where there is free space: ", full + "/bad_omp.2-0.ompp.txt (No space left"), OMPP_OUTDIR=full),
                   Case("arena on a full file system", says=(full + "/ompp-", "No space left"), OMPP_JOB_DIR=full),
                   Case("disk full, MPI", mpi=True, OMPP_OUTDIR=full),
                   Case("arena on a full file system, MPI", mpi=True, OMPP_JOB_DIR=full)]
    if read_only:
        result += [Case("read-only report folder", says=(read_only + "/bad_omp.2-0.ompp.txt (Read-only", "OMPP_OUTDIR"), OMPP_OUTDIR=read_only),
                   Case("read-only arena folder", says=(read_only + "/ompp-", "Read-only", "OMPP_JOB_DIR"), OMPP_JOB_DIR=read_only)]
    if not full or not read_only:
        print("note: cannot mount a small file system here: only the file size limit was tried")
    return result


def start(case, program, folder):
    os.makedirs(folder, exist_ok=True)
    settings = {"OMPP_JOB_DIR": folder + "-job", **case.settings} # what is left by those that die is not to stay on this machine
    words = [program, case.argument]
    if case.limit: # the shell sets the limit, so that the program gets the default action of SIGXFSZ
        words = ["sh", "-c", 'ulimit -f %d; exec "$0" "$@"' % (case.limit // 512)] + words
    return harness.run(words[0], folder, THREADS, RANKS if case.mpi else 0, words[1:], **settings)


def works(case, outcome):
    """Whether the program, measured by nobody, does what its source says."""
    ends_badly = case.mpi and case.argument in ("exit", "abort", "kill")
    status = outcome.status if ends_badly else 0 if case.mpi else 5
    return outcome.status == status and re.search("^%s [0-9]+$" % case.argument, outcome.out, re.M)


def check(verdict, case, how, measured, plain):
    title = "%s (%s)" % (case.name, how)
    low, high = case.lines if isinstance(case.lines, tuple) else (case.lines, case.lines)
    verdict.equal((measured.status, measured.out), (plain.status, plain.out), title + ": status and output")
    lines = measured.messages()
    verdict.check(low <= len(lines) <= high, "%s: %d lines on stderr, wanted %d-%d: %s" % (title, len(lines), low, high, lines))
    for words in case.says if lines else ():
        verdict.check(words in lines[0], "%s: message does not say %s: %s" % (title, words, lines[0]))
    if case.report is not None:
        verdict.equal(len(measured.reports("xml")), int(case.report), title + ": XML reports")
    for path in measured.reports("xml"):
        try:
            verdict.profile(harness.ompp_profile.Profile(path), title)
        except ElementTree.ParseError as error:
            verdict.check(False, "%s: broken file %s: %s" % (title, path, error))


def test(verdict, scratch, how, mounted):
    programs = {}
    for number, case in enumerate(cases(scratch, *mounted)):
        for instrument in (True, False):
            key = (case.mpi, case.flags, instrument)
            if key not in programs:
                name = "bad_mpi" if case.mpi else "bad_omp"
                programs[key] = scratch.file("%s-%d" % (how, len(programs)), name)
                harness.build(os.path.join(harness.HERE, name + ".c"), programs[key], how, case.mpi, case.flags, instrument)
        folder = scratch.file("%s-run-%d" % (how, number), "x")[:-2]
        plain = verdict.unmeasured("%s (%s)" % (case.name, how),
                                   lambda: start(case, programs[case.mpi, case.flags, False], folder + "-plain"),
                                   lambda outcome: works(case, outcome))
        if not plain:
            continue
        try:
            measured = start(case, programs[case.mpi, case.flags, True], folder)
        except subprocess.TimeoutExpired:
            verdict.check(False, "%s (%s): hangs" % (case.name, how))
            continue
        check(verdict, case, how, measured, plain)


def main():
    verdict, scratch = harness.Verdict("bad"), harness.Scratch("bad")
    mounted = full_file_system(scratch), read_only_file_system(scratch)
    try:
        for how in harness.sources():
            try:
                test(verdict, scratch, how, mounted)
            except harness.Failure as failure:
                verdict.check(False, "%s: %s" % (how, failure))
    finally:
        for folder in filter(None, mounted):
            subprocess.run(["umount", folder])
    verdict.finish(scratch)


main()
