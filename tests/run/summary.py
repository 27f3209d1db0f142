#!/usr/bin/env python3
"""
The summary: in the report and, as OMPP_SUMMARY says, on stderr; at most 15 lines of 80 columns; its parts add up; efficiencies of a program
that is built to have known ones; on stderr by itself on a terminal alone.
"""

import glob
import os
import pty
import re
import shutil
import subprocess

import harness

SOURCE = os.path.join(harness.HERE, "summary.c")


def check(verdict, title, text):
    lines = text.splitlines()
    verdict.check(len(lines) <= 15, "%s: %d lines" % (title, len(lines)))
    verdict.equal([line for line in lines if len(line) > 80], [], title + ": lines of more than 80 columns")
    parts = re.findall(r"^ +(\d+\.\d+) sec +(\d+\.\d+) %  (work|measuring|OpenMP|MPI|idle)", text, re.M)
    verdict.check(abs(sum(float(share) for _, share, _ in parts) - 100) < 0.3, "%s: parts: %s" % (title, parts))
    whole = float(re.search(r"(\d+\.\d+) sec of thread time", text)[1])
    verdict.check(abs(sum(float(sec) for sec, _, _ in parts) - whole) < 0.03, "%s: seconds: %s of %s" % (title, parts, whole))
    found = re.search(r"Parallel efficiency (\S+) = load balance (\S+) x communication efficiency (\S+)", text)
    if verdict.check(found, title + ": efficiencies: " + text):
        parallel, balance, communication = (float(f) for f in found.groups())
        verdict.check(abs(parallel - balance * communication) < 0.015, "%s: %s" % (title, found[0]))
        if "Caution: threads waited" in text:
            print("note: %s: other programs took the processors" % title)
            return
        # 0.1 + 0.3 + 0.1 s of work in 2 x 0.4 s; the first thread works all of the time
        verdict.check(abs(parallel - 0.625) < 0.1 and communication > 0.85, "%s: %s" % (title, found[0]))
    verdict.check("Imbalance" in text, title + ": the loss: " + text)


def on_terminal(words, folder, **changes):
    """What a program prints on stderr when that is a terminal."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(words, cwd=folder, env=harness.environment(**changes), stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    out = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            piece = b""
        if not piece:
            break
        out += piece
    done.wait()
    os.close(ours)
    return out.decode().replace("\r\n", "\n")


def stored(verdict):
    """The parts of each stored report add up to its thread time."""
    for path in sorted(glob.glob(os.path.join(harness.SOURCE, "tests", "golden", "*.txt"))):
        text = open(path, encoding="utf-8").read()
        parts = re.findall(r"^ +(\d+\.\d+) sec +(\d+\.\d) %  (?:work|measuring|OpenMP|MPI|idle)\b", text, re.M)
        if parts:
            verdict.check(abs(sum(float(share) for _, share in parts) - 100) < 0.3, "%s: parts %s" % (os.path.basename(path), parts))


def serial_part(verdict, scratch):
    """The advice on what one thread works alone names the loop to parallelize, by samples."""
    source = os.path.join(harness.HERE, "serial.c")
    line = [n for n, text in enumerate(open(source), 1) if "/* here */" in text][0]
    for how in harness.sources():
        program = scratch.file(how + "-serial", "serial")
        harness.build(source, program, how, flags=("-O2", "-g"))
        text = open(harness.run(program, os.path.dirname(program), 2).reports("txt")[0]).read()
        if "samples stand for" not in text:
            print("note: no samples here: the place of the serial part is not known")
            return
        said = re.search(r"Most of its work is in a loop of sort_cells at serial.c \((\d+)\)", " ".join(text.split()))
        verdict.check(said and abs(int(said[1]) - line) <= 1, "%s: serial part: %s" % (how, re.findall("Most of its work.*", text)))
        text = open(harness.run(program, scratch.file(how + "-library", "x")[:-2], 2, args=("library",)).reports("txt")[0]).read()
        verdict.check(re.search(r"^Hottest function: \w*snprintf\w*, called by (renumber|main)\b", text, re.M),
                      "%s: a call of the C library: %s" % (how, re.findall("Hottest.*", text)))
        verdict.check("Most of its work is in renumber" in text or "Most of its work is in a loop of renumber" in text,
                      "%s: serial part in the C library: %s" % (how, re.findall("Most of its work.*", text)))


def long_names(verdict, scratch):
    """Words of the advice are whole, the place at its end, too: at most the name of the function is shorter."""
    how, file = harness.sources()[0], "file_" + 10 * "long_name_" + "%s.c"
    for name in ("sort_few", "sort_" + 10 * "many_cells_"):
        source, program = scratch.file(name, file % name[:8]), scratch.file(name, "program")
        shutil.copy(os.path.join(harness.HERE, "serial.c"), source)
        harness.build(source, program, how, flags=("-O2", "-g", "-Dsort_cells=" + name))
        report = harness.run(program, os.path.dirname(program), 2).reports()[0]
        with open(report) as xml:
            calm = re.sub(r"(?m)^ +<line kind=\"(waited|starved|shared|trapped|clock)\".*\n", "", xml.read())  # of others on this machine
        with open(report, "w") as xml:
            xml.write(calm)
        text = harness.execute([harness.command("ompp-report"), "show", report], ".").out
        first = re.search(r"^First: (.*\n(?: {8}.*\n)*)", text, re.M)[1].split()
        if "samples stand for" in text:
            verdict.check(re.search(r"%s \(\d+\)\.$" % re.escape(os.path.basename(source)), " ".join(first)), "the place is not whole: %s" % first)
            verdict.check(all(word == name or word.endswith("...") and name.startswith(word[:-3]) for word in first if "sort_" in word and "file" not in word),
                          "the function: %s" % first)
        verdict.equal([word for word in first if len(word) == 1 and word != "a"], [], "words are divided: %s" % first)


def main():
    verdict, scratch = harness.Verdict("summary"), harness.Scratch("summary")
    stored(verdict)
    serial_part(verdict, scratch)
    long_names(verdict, scratch)
    for how in harness.sources():
        program = scratch.file(how, "summary")
        harness.build(SOURCE, program, how)
        folder = os.path.dirname(program)
        outcome = harness.run(program, folder, 2, OMPP_SUMMARY="on")
        verdict.equal(outcome.out, "done\n", how + ": output")
        check(verdict, how + ", stderr", outcome.err[outcome.err.index("\n") + 1:])
        text = open(outcome.reports("txt")[0]).read()
        section = re.search(r"-- +ompp Summary +-+\n-+\n(.*?)\n\n", text, re.S)[1]
        check(verdict, how + ", report", section)
        quiet = harness.run(program, scratch.file(how, "quiet", "x")[:-2], 2)
        verdict.check("sec of thread time" not in quiet.err, how + ": on a pipe: " + quiet.err)
        for setting, wanted in (({}, True), ({"OMPP_SUMMARY": "off"}, False), ({"OMPP_QUIET": "1"}, False)):
            shown = "sec of thread time" in on_terminal([program], folder, OMP_NUM_THREADS=2, **setting)
            verdict.equal(shown, wanted, "%s: on a terminal, %s" % (how, setting))
    verdict.finish(scratch)


main()
