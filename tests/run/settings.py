#!/usr/bin/env python3
"""Variables that say where, how and in which format the report is written: files, their names, and what is said on stderr."""

import os
import re

import harness

THREADS = 2


class Run:
    """files: what must be in the folder afterwards (P stands for a process id); says: parts of the lines on stderr, in order."""

    def __init__(self, name, files, says=("report: ",), argument="nothing", times=1, **settings):
        self.name, self.files, self.says, self.argument, self.times = name, files, says, argument, times
        self.settings = {"OMPP_" + k: v for k, v in settings.items()}


def both(stem):
    return [stem + ".ompp.txt", stem + ".ompp.xml"]


RUNS = [
    Run("default", both("bad_omp.2-0")),
    Run("three runs", both("bad_omp.2-0") + both("bad_omp.2-1") + both("bad_omp.2-2"), times=3),
    Run("OMPP_QUIET", both("bad_omp.2-0"), says=(), QUIET="1"),
    Run("OMPP_APPNAME", both("other.2-0"), APPNAME="/some/where/other"),
    Run("OMPP_OUTDIR", ["sub/" + f for f in both("bad_omp.2-0")], OUTDIR="sub"),
    Run("OMPP_OUTDIR, the program goes elsewhere", ["sub/" + f for f in both("bad_omp.2-0")], argument="chdir", OUTDIR="sub"),
    Run("OMPP_OVERWRITE", both("bad_omp.2"), times=2, OVERWRITE="1"),
    Run("OMPP_OVERWRITE=0", both("bad_omp.2-0") + both("bad_omp.2-1"), times=2, OVERWRITE="0"),
    Run("OMPP_USEPID", both("bad_omp.2.P-0"), USEPID="1"),
    Run("OMPP_USEPID and OMPP_OVERWRITE", both("bad_omp.2"), USEPID="1", OVERWRITE="1"),
    Run("OMPP_REPORTFILE", ["my.report", "my.report.xml"], times=2, REPORTFILE="my.report"),
    Run("OMPP_OUTFORMAT=CSV", ["bad_omp.2-0.ompp.csv", "bad_omp.2-0.ompp.xml"], OUTFORMAT="CSV"),
    Run("OMPP_OUTFORMAT=csv,text", ["bad_omp.2-0.ompp.csv"] + both("bad_omp.2-0"), OUTFORMAT="csv,text"),
    Run("OMPP_OUTFORMAT=html", ["bad_omp.2-0.ompp.html", "bad_omp.2-0.ompp.xml"], OUTFORMAT="html"),
    Run("OMPP_OUTFORMAT=xml", ["bad_omp.2-0.ompp.xml"], OUTFORMAT="xml"),
    Run("OMPP_OUTFORMAT=CVS", both("bad_omp.2-0"), says=("set OMPP_OUTFORMAT to one or more, with commas, of text|plain|csv|html|xml: 'CVS' is not understood", "report: "), OUTFORMAT="CVS"),
    Run("OMPP_OUTFORMAT=cube", both("bad_omp.2-0"), says=("'cube' is not understood", "report: "), OUTFORMAT="cube"),
    Run("OMPP_LOCKHASH", both("bad_omp.2-0"), LOCKHASH="500"),
    Run("OMPP_TIME_DIGITS=12", both("bad_omp.2-0"), says=("set OMPP_TIME_DIGITS to a whole number, 0 or more (digits 0-9): '12' is out of range", "report: "), TIME_DIGITS="12"),
    Run("OMPP_MEMORY=1k", both("bad_omp.2-0"), says=("'1k' is out of range", "report: "), MEMORY="1k"),
]


def files_in(folder, pid):
    """Regular files below a folder; the process id in their names as P."""
    found = [os.path.relpath(os.path.join(top, f), folder) for top, _, files in os.walk(folder) for f in files if f != "x"]
    return sorted(re.sub(r"\.\d{2,}-", ".P-", f) if pid else f for f in found)


def check(verdict, scratch, program, run, number):
    folder = scratch.file("run-%d" % number, "sub", "x")[:-6]
    for _ in range(run.times):
        outcome = harness.run(program, folder, THREADS, args=[run.argument], **run.settings)
        verdict.equal(outcome.out.split()[0], run.argument, run.name + ": output of the program")
        lines = [line for line in outcome.err.splitlines() if line.startswith("ompp: ")]
        verdict.check(len(lines) == len(run.says) and all(part in line for part, line in zip(run.says, lines)),
                      "%s: said %s, wanted %s" % (run.name, lines, run.says))
    verdict.equal(files_in(folder, "USEPID" in run.name and "OVERWRITE" not in run.name), sorted(run.files), run.name + ": files")
    told = [line.split("report: ")[1] for line in lines if "report: " in line]
    verdict.check(all(os.path.exists(path) for path in told), "%s: no file %s" % (run.name, told))
    return folder


def main():
    verdict, scratch = harness.Verdict("settings"), harness.Scratch("settings")
    program = scratch.file("bin", "bad_omp")
    harness.build(os.path.join(harness.HERE, "bad_omp.c"), program, harness.sources()[0])
    for number, run in enumerate(RUNS):
        folder = check(verdict, scratch, program, run, number)
        if "TIME_DIGITS" in run.name:
            duration = re.search(r"Duration        : \d+\.(\d+) sec", open(os.path.join(folder, run.files[0])).read())
            verdict.equal(len(duration[1]), 9, run.name + ": digits")
        if run.name == "OMPP_OUTFORMAT=CSV":
            csv = open(os.path.join(folder, run.files[0])).read()
            verdict.check(csv.startswith("##BEG header separator=,\nStart Date,"), run.name + ": begins with " + csv[:40])
            verdict.check("\nThread Count,%d\n" % THREADS in csv, run.name + ": threads")
    verdict.finish(scratch)


main()
